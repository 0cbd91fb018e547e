/* Values of JavaScript as C sees them. Whoever is told false returns at once: the exception is there. */
#ifndef MICROLOOP_NODE_VALUES_H
#define MICROLOOP_NODE_VALUES_H

#include <stdbool.h>
#include <stdlib.h>

#include <node_api.h>

enum { MOST_ARGUMENTS = 5 };

/* Number.MAX_SAFE_INTEGER */
static const double MOST_EXACT = 9007199254740991.0;

typedef struct {
    char *data; /* the reader's own, to be freed; NULL at first */
    size_t len;
} text;

#define BYTES(text) (const uint8_t *)(text).data, (text).len

/* Whether Node-API did what was asked. What it does not do is the caller's mistake: a number where a text belongs. */
static inline bool ok(napi_env env, napi_status status) {
    const napi_extended_error_info *info = NULL;
    bool thrown = false;
    if (status == napi_ok) {
        return true;
    }
    napi_get_last_error_info(env, &info);
    const char *message = info->error_message;
    napi_is_exception_pending(env, &thrown);
    if (!thrown) {
        napi_throw_type_error(env, NULL, message);
    }
    return false;
}

/* Arguments that are missing are undefined. */
static inline bool read_arguments(napi_env env, napi_callback_info info, napi_value given[MOST_ARGUMENTS]) {
    size_t count = MOST_ARGUMENTS;
    return ok(env, napi_get_cb_info(env, info, &count, given, NULL, NULL));
}

static inline bool read_text(napi_env env, napi_value value, text *out) {
    if (!ok(env, napi_get_value_string_utf8(env, value, NULL, 0, &out->len))) {
        return false;
    }
    out->data = malloc(out->len + 1);
    if (out->data == NULL) {
        napi_throw_error(env, NULL, "out of memory");
        return false;
    }
    return ok(env, napi_get_value_string_utf8(env, value, out->data, out->len + 1, &out->len));
}

/* A step, a time, an amount: a whole number from 0 on, as far as JavaScript counts exactly. */
static inline bool read_count(napi_env env, napi_value value, uint64_t *out) {
    double number;
    if (!ok(env, napi_get_value_double(env, value, &number))) {
        return false;
    }
    if (!(number >= 0 && number <= MOST_EXACT) || number != (double)(uint64_t)number) {
        napi_throw_range_error(env, NULL, "a whole number from 0 to Number.MAX_SAFE_INTEGER was expected");
        return false;
    }
    *out = (uint64_t)number;
    return true;
}

static inline napi_value number(napi_env env, int64_t value) {
    napi_value made;
    return ok(env, napi_create_int64(env, value, &made)) ? made : NULL;
}

#endif
