/* One session used by many threads stays correct; many sessions do not disturb each other; a handle that is freed under
 * somebody's hands is reported and nothing worse. */
#include <pthread.h>
#include <stdatomic.h>

#include "harness.h"

enum { THREADS = 8, CALLS = 200 };

static const char *POLICY = "{\"version\": 1, \"loops\": {\"repeat\": {\"warn\": 3, \"block\": 5}}}";

typedef struct {
    uint64_t policy;
    uint64_t session;
    uint32_t tool;
    int number;
    atomic_uchar *seen;
} job;

static void in_threads(void *(*work)(void *), job *jobs) {
    pthread_t threads[THREADS];
    for (int n = 0; n < THREADS; n++) {
        CHECK(pthread_create(&threads[n], NULL, work, &jobs[n]) == 0);
    }
    for (int n = 0; n < THREADS; n++) {
        CHECK(pthread_join(threads[n], NULL) == 0);
    }
}

static void *call_and_mark(void *argument) {
    job *mine = argument;
    for (int n = 0; n < CALLS; n++) {
        char args[64];
        snprintf(args, sizeof args, "{\"thread\": %d, \"call\": %d}", mine->number, n);
        int64_t verdict = check(mine->session, mine->tool, args);
        GIVES(MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION(verdict));
        int64_t step = MICROLOOP_STEP(verdict);
        CHECK(step >= 1 && step <= THREADS * CALLS);
        CHECK(atomic_exchange(&mine->seen[step - 1], 1) == 0);
        CHECK(record(mine->session, verdict, args) >= 0);
    }
    return NULL;
}

static void one_session(void) {
    uint64_t policy = new_policy(POLICY);
    uint32_t tool = new_tool(policy, "{\"name\": \"search\"}");
    uint64_t session = new_session(policy);
    static atomic_uchar seen[THREADS * CALLS];
    job jobs[THREADS];
    for (int n = 0; n < THREADS; n++) {
        jobs[n] = (job){policy, session, tool, n, seen};
    }
    in_threads(call_and_mark, jobs);
    char state[512];
    int64_t len = microloop_session_state(session, (uint8_t *)state, sizeof state - 1);
    CHECK(len > 0 && (size_t)len < sizeof state);
    state[len] = '\0';
    char wanted[32];
    snprintf(wanted, sizeof wanted, "\"steps\":%d,", THREADS * CALLS);
    if (strstr(state, wanted) == NULL) {
        FAIL("the state lacks %s: %s", wanted, state);
    }
    GIVES(MICROLOOP_OK, microloop_session_free(session));
    GIVES(MICROLOOP_OK, microloop_policy_free(policy));
}

static void *loop_until_blocked(void *argument) {
    job *mine = argument;
    for (int round = 0; round < CALLS / 10; round++) {
        uint64_t session = new_session(mine->policy);
        char name[64];
        snprintf(name, sizeof name, "{\"name\": \"tool_%d_%d\"}", mine->number, round);
        uint32_t tool = new_tool(mine->policy, name);
        for (int n = 1; n <= 5; n++) {
            int64_t verdict = check(session, tool, "{\"q\": 1}");
            int64_t wanted = n < 3 ? MICROLOOP_ACTION_ALLOW : n < 5 ? MICROLOOP_ACTION_WARN : MICROLOOP_ACTION_BLOCK;
            GIVES(wanted, MICROLOOP_ACTION(verdict));
            GIVES(n, MICROLOOP_STEP(verdict));
            if (n < 5) {
                CHECK(record(session, verdict, "same") >= 0);
            }
        }
        GIVES(MICROLOOP_OK, microloop_session_free(session));
    }
    return NULL;
}

static void many_sessions(void) {
    uint64_t policy = new_policy(POLICY);
    job jobs[THREADS];
    for (int n = 0; n < THREADS; n++) {
        jobs[n] = (job){policy, 0, 0, n, NULL};
    }
    in_threads(loop_until_blocked, jobs);
    GIVES(MICROLOOP_OK, microloop_policy_free(policy));
}

static _Atomic uint64_t shared_session;

static void *race_for_the_handle(void *argument) {
    job *mine = argument;
    for (int n = 0; n < CALLS; n++) {
        uint64_t session = atomic_load(&shared_session);
        if (mine->number == 0) {
            atomic_store(&shared_session, new_session(mine->policy));
            GIVES(MICROLOOP_OK, microloop_session_free(session));
        } else {
            int64_t verdict = check(session, mine->tool, "{}");
            CHECK(verdict >= 0 || verdict == MICROLOOP_STALE_HANDLE);
        }
    }
    return NULL;
}

static void freed_under_our_hands(void) {
    uint64_t policy = new_policy(POLICY);
    uint32_t tool = new_tool(policy, "{\"name\": \"search\"}");
    atomic_store(&shared_session, new_session(policy));
    job jobs[THREADS];
    for (int n = 0; n < THREADS; n++) {
        jobs[n] = (job){policy, 0, tool, n, NULL};
    }
    in_threads(race_for_the_handle, jobs);
    GIVES(MICROLOOP_OK, microloop_session_free(atomic_load(&shared_session)));
    GIVES(MICROLOOP_OK, microloop_policy_free(policy));
}

static void *fail_alone(void *argument) {
    job *mine = argument;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "the unknown key \"k%d\"", mine->number);
    for (int n = 0; n < CALLS; n++) {
        char options[64];
        uint64_t session;
        snprintf(options, sizeof options, "{\"k%d\": 1}", mine->number);
        FAILS(MICROLOOP_INVALID_ARGUMENT, wanted,
              microloop_session_new(mine->policy, bytes(options), strlen(options), &session));
    }
    return NULL;
}

static void every_thread_has_its_own_last_error(void) {
    uint64_t policy = new_policy(POLICY);
    job jobs[THREADS];
    for (int n = 0; n < THREADS; n++) {
        jobs[n] = (job){policy, 0, 0, n, NULL};
    }
    in_threads(fail_alone, jobs);
    GIVES(MICROLOOP_OK, microloop_policy_free(policy));
}

int main(void) {
    one_session();
    many_sessions();
    freed_under_our_hands();
    every_thread_has_its_own_last_error();
    puts("threads: 4 passed, 0 failed");
    return 0;
}
