/* Handles of the library as JavaScript has them: externals that free what they stand for, when they are collected or when
 * their thread of JavaScript ends. */
#ifndef MICROLOOP_NODE_HANDLES_H
#define MICROLOOP_NODE_HANDLES_H

#include "values.h"

typedef int32_t (*free_function)(uint64_t handle);

typedef struct {
    uint64_t handle;
    free_function free;
} owned;

static inline void collected(napi_env env, void *data, void *hint) {
    (void)env;
    (void)hint;
    owned *it = data;
    it->free(it->handle); /* one that was closed before is stale, and freeing it again does nothing */
    free(it);
}

static inline napi_value own(napi_env env, uint64_t handle, free_function function) {
    napi_value external;
    owned *it = malloc(sizeof *it);
    if (it == NULL) {
        function(handle);
        napi_throw_error(env, NULL, "out of memory");
        return NULL;
    }
    *it = (owned){handle, function};
    if (!ok(env, napi_create_external(env, it, collected, NULL, &external))) {
        collected(env, it, NULL);
        return NULL;
    }
    return external;
}

static inline const owned *read_owned(napi_env env, napi_value value) {
    void *data;
    return ok(env, napi_get_value_external(env, value, &data)) ? data : NULL;
}

static inline bool read_handle(napi_env env, napi_value value, uint64_t *handle) {
    const owned *it = read_owned(env, value);
    *handle = it == NULL ? 0 : it->handle;
    return it != NULL;
}

#endif
