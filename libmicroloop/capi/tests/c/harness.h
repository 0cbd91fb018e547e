/* What every C test needs: checks that say where they failed and what the library said. */
#ifndef MICROLOOP_TEST_HARNESS_H
#define MICROLOOP_TEST_HARNESS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microloop.h"

static inline const char *last_error(void) {
    static _Thread_local char text[1024];
    int64_t len = microloop_last_error((uint8_t *)text, sizeof text - 1);
    if (len < 0) {
        return "(no message)";
    }
    text[(size_t)len < sizeof text - 1 ? (size_t)len : sizeof text - 1] = '\0';
    return text;
}

#define FAIL(...)                                             \
    do {                                                      \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);       \
        fprintf(stderr, __VA_ARGS__);                         \
        fprintf(stderr, "\n  last error: %s\n", last_error()); \
        exit(1);                                              \
    } while (0)

#define CHECK(condition)                   \
    do {                                   \
        if (!(condition)) {                \
            FAIL("not true: " #condition); \
        }                                  \
    } while (0)

/* The call returns this number. */
#define GIVES(wanted, call)                                                      \
    do {                                                                         \
        int64_t seen_ = (call);                                                  \
        if (seen_ != (int64_t)(wanted)) {                                        \
            FAIL(#call " gave %" PRId64 ", not " #wanted, seen_);                \
        }                                                                        \
    } while (0)

/* The call fails with this status, and the message has this text in it. */
#define FAILS(wanted, text, call)                                                \
    do {                                                                         \
        GIVES(wanted, call);                                                     \
        if (strstr(last_error(), text) == NULL) {                                \
            FAIL(#call ": the message lacks \"%s\"", text);                      \
        }                                                                        \
    } while (0)

static inline const uint8_t *bytes(const char *text) {
    return (const uint8_t *)text;
}

static inline uint64_t new_policy(const char *json) {
    uint64_t policy = 0;
    GIVES(MICROLOOP_OK, microloop_policy_new(bytes(json), strlen(json), &policy));
    CHECK(policy != 0);
    return policy;
}

static inline uint32_t new_tool(uint64_t policy, const char *declaration) {
    uint32_t tool = 0;
    GIVES(MICROLOOP_OK, microloop_policy_tool(policy, bytes(declaration), strlen(declaration), &tool));
    return tool;
}

static inline uint64_t new_session(uint64_t policy) {
    uint64_t session = 0;
    GIVES(MICROLOOP_OK, microloop_session_new(policy, NULL, 0, &session));
    CHECK(session != 0);
    return session;
}

static inline int64_t check(uint64_t session, uint32_t tool, const char *args) {
    return microloop_check(session, tool, bytes(args), strlen(args), NULL);
}

static inline int64_t record(uint64_t session, int64_t verdict, const char *outcome) {
    return microloop_record(session, (uint64_t)MICROLOOP_STEP(verdict), MICROLOOP_OUTCOME_TEXT, bytes(outcome),
                            strlen(outcome));
}

/* The verdict of a step as text; valid until the next call. */
static inline const char *verdict_text(uint64_t session, int64_t verdict) {
    static _Thread_local char text[8192];
    int64_t len = microloop_verdict(session, (uint64_t)MICROLOOP_STEP(verdict), (uint8_t *)text, sizeof text - 1);
    if (len < 0 || (size_t)len >= sizeof text) {
        FAIL("microloop_verdict gave %" PRId64, len);
    }
    text[len] = '\0';
    return text;
}

#endif
