/* The little that the freestanding test has instead of a C library. */
#ifndef FREESTANDING_HOST_H
#define FREESTANDING_HOST_H

#include <stddef.h>

void print(const char *text, size_t len);
_Noreturn void leave(int code);
size_t blocks_in_use(void);
size_t strlen(const char *text);

#endif
