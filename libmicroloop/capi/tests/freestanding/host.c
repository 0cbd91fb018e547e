/* What libmicroloop asks of a host without an operating system: memory, and what to do about a panic. Also the four
 * functions that any C compiler expects of a freestanding program. Linux on x86-64 or aarch64, by raw system calls. */
#include "host.h"

#include <stdint.h>

static long system_call(long number, long a, long b, long c) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#else
#error "say how this machine makes a system call"
#endif
}

#if defined(__x86_64__)
enum { SYS_WRITE = 1, SYS_EXIT = 60 };
#else
enum { SYS_WRITE = 64, SYS_EXIT = 93 };
#endif

void print(const char *text, size_t len) {
    system_call(SYS_WRITE, 1, (long)text, (long)len);
}

_Noreturn void leave(int code) {
    for (;;) {
        system_call(SYS_EXIT, code, 0, 0);
    }
}

/* An arena with a free list for each power of two: enough for a library that frees what it takes. */
enum { ARENA = 8 * 1024 * 1024, CLASSES = 24 };

static _Alignas(4096) unsigned char arena[ARENA];
static size_t used;
static size_t living;
static void *spare[CLASSES];

static unsigned class_of(size_t size, size_t align) {
    unsigned class = 4; /* 16 bytes: room for the list, and aligned for everything usual */
    while (((size_t)1 << class) < size || ((size_t)1 << class) < align) {
        class++;
    }
    return class;
}

uint8_t *microloop_host_alloc(size_t size, size_t align) {
    unsigned class = class_of(size, align);
    if (class >= CLASSES) {
        return NULL;
    }
    size_t block = (size_t)1 << class;
    void *memory = spare[class];
    if (memory != NULL) {
        spare[class] = *(void **)memory;
    } else {
        size_t start = (used + block - 1) & ~(block - 1 < 4095 ? block - 1 : 4095);
        if (align > 4096 || start + block > ARENA) {
            return NULL;
        }
        memory = arena + start;
        used = start + block;
    }
    living++;
    return memory;
}

void microloop_host_free(uint8_t *memory, size_t size, size_t align) {
    unsigned class = class_of(size, align);
    *(void **)(void *)memory = spare[class];
    spare[class] = memory;
    living--;
}

_Noreturn void microloop_host_panic(void) {
    static const char TEXT[] = "microloop panicked\n";
    print(TEXT, sizeof TEXT - 1);
    leave(3);
}

size_t blocks_in_use(void) {
    return living;
}

void *memcpy(void *restrict to, const void *restrict from, size_t len) {
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t n = 0; n < len; n++) {
        t[n] = f[n];
    }
    return to;
}

void *memmove(void *to, const void *from, size_t len) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f) {
        return memcpy(to, from, len);
    }
    for (size_t n = len; n > 0; n--) {
        t[n - 1] = f[n - 1];
    }
    return to;
}

void *memset(void *to, int byte, size_t len) {
    unsigned char *t = to;
    for (size_t n = 0; n < len; n++) {
        t[n] = (unsigned char)byte;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t len) {
    const unsigned char *x = a;
    const unsigned char *y = b;
    for (size_t n = 0; n < len; n++) {
        if (x[n] != y[n]) {
            return x[n] - y[n];
        }
    }
    return 0;
}

/* Compilers call it where only equality matters. */
int bcmp(const void *a, const void *b, size_t len) {
    return memcmp(a, b, len);
}

size_t strlen(const char *text) {
    size_t len = 0;
    while (text[len] != '\0') {
        len++;
    }
    return len;
}
