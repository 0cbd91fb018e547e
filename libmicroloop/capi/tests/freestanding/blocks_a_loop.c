/* Proves that libmicroloop needs nothing below it: no C library, no operating system's allocator, clock or threads.
 * Exits 0 only if the fifth identical call is blocked for loop.repeat, and if the library says what it cannot do. */
#define MICROLOOP_FREESTANDING
#include "host.h"
#include "microloop.h"

static const char POLICY[] = "{\"version\": 1, \"loops\": {\"repeat\": {\"warn\": 3, \"block\": 5}}, "
                             "\"tools\": [{\"match\": \"search\", \"rules\": [{\"id\": \"no-drop\", \"path\": \"q\", "
                             "\"deny\": {\"regex\": \"(?i)drop\\\\s+table\"}}]}]}";
static const char WITH_SCHEMA[] = "{\"version\": 1, \"tools\": [{\"match\": \"*\", \"arguments\": {\"type\": \"object\"}}]}";
static const char TOOL[] = "{\"name\": \"search\"}";
static const char TOOL_WITH_SCHEMA[] = "{\"name\": \"search\", \"schema\": {\"type\": \"object\"}}";

static void say(const char *text) {
    print(text, strlen(text));
}

static void must(int holds, const char *what) {
    if (holds) {
        return;
    }
    uint8_t error[256];
    int64_t len = microloop_last_error(error, sizeof error);
    say("failed: ");
    say(what);
    say("\nlast error: ");
    print((const char *)error, len < 0 ? 0 : len > (int64_t)sizeof error ? sizeof error : (size_t)len);
    say("\n");
    leave(1);
}

static int64_t check(uint64_t session, uint32_t tool, const char *args) {
    return microloop_check(session, tool, (const uint8_t *)args, strlen(args), NULL);
}

static void no_schemas(void) {
    uint64_t policy = 0;
    uint32_t tool = 0;
    must(microloop_policy_new((const uint8_t *)WITH_SCHEMA, sizeof WITH_SCHEMA - 1, &policy) == MICROLOOP_NO_SCHEMA_SUPPORT,
         "a policy with a JSON Schema is refused");
    must(microloop_policy_new((const uint8_t *)POLICY, sizeof POLICY - 1, &policy) == MICROLOOP_OK, "the policy is read");
    must(microloop_policy_tool(policy, (const uint8_t *)TOOL_WITH_SCHEMA, sizeof TOOL_WITH_SCHEMA - 1, &tool) ==
             MICROLOOP_NO_SCHEMA_SUPPORT,
         "a tool with a JSON Schema is refused");
    must(microloop_policy_free(policy) == MICROLOOP_OK, "the policy is freed");
}

static void a_loop(uint64_t session, uint32_t tool) {
    for (int n = 1; n <= 5; n++) {
        int64_t verdict = check(session, tool, n % 2 ? "{\"q\": \"x\", \"n\": 1.0}" : "{\"n\":1,\"q\":\"\\u0078\"}");
        int wanted = n < 3 ? MICROLOOP_ACTION_ALLOW : n < 5 ? MICROLOOP_ACTION_WARN : MICROLOOP_ACTION_BLOCK;
        must(verdict >= 0 && MICROLOOP_ACTION(verdict) == wanted, "each call gets the action that the policy says");
        if (n == 5) {
            uint8_t text[512];
            int64_t len = microloop_verdict(session, (uint64_t)MICROLOOP_STEP(verdict), text, sizeof text);
            must(len > 0, "the verdict can be fetched");
            print((const char *)text, len > (int64_t)sizeof text ? sizeof text : (size_t)len);
            say("\n");
        } else {
            must(microloop_record(session, (uint64_t)MICROLOOP_STEP(verdict), MICROLOOP_OUTCOME_TEXT,
                                  (const uint8_t *)"none", 4) >= 0,
                 "the outcome is recorded");
        }
    }
}

static void guards(void) {
    uint64_t policy = 0;
    uint64_t session = 0;
    uint32_t tool = 0;
    must(microloop_policy_new((const uint8_t *)POLICY, sizeof POLICY - 1, &policy) == MICROLOOP_OK, "the policy is read");
    must(microloop_policy_tool(policy, (const uint8_t *)TOOL, sizeof TOOL - 1, &tool) == MICROLOOP_OK, "the tool is declared");
    must(microloop_session_new(policy, NULL, 0, &session) == MICROLOOP_OK, "the session is made");
    must(microloop_session_time(session, 1000) == MICROLOOP_OK, "the time is set");
    must(MICROLOOP_ACTION(check(session, tool, "{\"q\": \"DROP  TABLE users\"}")) == MICROLOOP_ACTION_BLOCK, "a rule blocks");
    must(MICROLOOP_ACTION(check(session, tool, "{")) == MICROLOOP_ACTION_BLOCK, "what is no JSON is blocked");
    a_loop(session, tool);
    must(microloop_session_free(session) == MICROLOOP_OK, "the session is freed");
    must(microloop_session_free(session) == MICROLOOP_STALE_HANDLE, "a session is freed only once");
    must(microloop_policy_free(policy) == MICROLOOP_OK, "the policy is freed");
}

/* The linker's entry. The stack is aligned here, as a caller would have left it. */
#if defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
__attribute__((noreturn, used)) void _start(void) {
    must(microloop_abi_check(MICROLOOP_ABI_VERSION) == MICROLOOP_OK, "the ABI is the header's");
    no_schemas();
    guards();
    size_t before = blocks_in_use();
    guards();
    must(blocks_in_use() == before, "a second round leaves no memory behind");
    say("freestanding: 1 passed, 0 failed\n");
    leave(0);
}
