/* Everything that a host can get wrong, and everything that a model can send: a clear status or verdict, nothing lost,
 * nothing allowed by accident, and not one bad byte under valgrind. */
#include "harness.h"

static const char *POLICY = "{\"version\": 1, \"loops\": {\"repeat\": {\"warn\": 3, \"block\": 5}}}";
static const char *TOOL = "{\"name\": \"search\"}";

#define SECRET "hunter2"

typedef struct {
    uint64_t policy;
    uint64_t session;
    uint32_t tool;
} fixture;

static fixture set_up(void) {
    fixture f;
    f.policy = new_policy(POLICY);
    f.tool = new_tool(f.policy, TOOL);
    f.session = new_session(f.policy);
    return f;
}

static void tear_down(fixture f) {
    GIVES(MICROLOOP_OK, microloop_session_free(f.session));
    GIVES(MICROLOOP_OK, microloop_policy_free(f.policy));
}

static void versions(void) {
    GIVES(MICROLOOP_ABI_VERSION, microloop_abi_version());
    GIVES(MICROLOOP_OK, microloop_abi_check(MICROLOOP_ABI_VERSION));
    FAILS(MICROLOOP_ABI_MISMATCH, "an older ABI", microloop_abi_check(MICROLOOP_ABI_VERSION - 1));
    FAILS(MICROLOOP_ABI_MISMATCH, "a newer ABI", microloop_abi_check(MICROLOOP_ABI_VERSION + 1));
    CHECK(strchr(microloop_version(), '.') != NULL);
    GIVES(0, microloop_noop(0, 0, NULL, 0, NULL));
}

static void null_pointers(void) {
    fixture f = set_up();
    uint64_t handle = 7;
    uint32_t tool = 7;
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_policy_new(NULL, 5, &handle));
    GIVES(0, (int64_t)handle);
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_policy_new(bytes(POLICY), strlen(POLICY), NULL));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_policy_tool(f.policy, NULL, 5, &tool));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_policy_tool(f.policy, bytes(TOOL), strlen(TOOL), NULL));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_session_new(f.policy, NULL, 5, &handle));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_session_new(f.policy, NULL, 0, NULL));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_check(f.session, f.tool, NULL, 5, NULL));
    FAILS(MICROLOOP_NULL_POINTER, "the tool's name is NULL",
          microloop_check_named(f.session, NULL, 5, bytes("{}"), 2, NULL));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_check_named(f.session, bytes("a"), 1, NULL, 5, NULL));
    microloop_context context = {NULL, 3, NULL, 0};
    FAILS(MICROLOOP_NULL_POINTER, "call_id", microloop_check(f.session, f.tool, bytes("{}"), 2, &context));
    context = (microloop_context){NULL, 0, NULL, 3};
    FAILS(MICROLOOP_NULL_POINTER, "batch", microloop_check(f.session, f.tool, bytes("{}"), 2, &context));
    int64_t verdict = check(f.session, f.tool, "{}");
    CHECK(verdict >= 0);
    FAILS(MICROLOOP_NULL_POINTER, "is NULL",
          microloop_record(f.session, (uint64_t)MICROLOOP_STEP(verdict), MICROLOOP_OUTCOME_TEXT, NULL, 5));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_turn(f.session, MICROLOOP_SPEAKER_ASSISTANT, NULL, 5));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_session_state(f.session, NULL, 5));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_session_save(f.session, NULL, 5));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_session_load(f.policy, NULL, 5, &handle));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_session_load(f.policy, NULL, 0, NULL));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_canonical(NULL, 5, NULL, 0));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_canonical(bytes("{}"), 2, NULL, 5));
    FAILS(MICROLOOP_NULL_POINTER, "is NULL", microloop_regex_check(NULL, 5));
    GIVES(MICROLOOP_NULL_POINTER, microloop_last_error(NULL, 5));
    CHECK(strstr(last_error(), "the pattern is NULL") != NULL);
    CHECK(microloop_last_error(NULL, 0) > 0);
    tear_down(f);
}

static void misaligned_pointers_and_absurd_lengths(void) {
    fixture f = set_up();
    uint64_t room[2];
    uint64_t *crooked = (uint64_t *)(void *)((char *)room + 1);
    FAILS(MICROLOOP_INVALID_ARGUMENT, "misaligned", microloop_policy_new(bytes(POLICY), strlen(POLICY), crooked));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "misaligned", microloop_session_new(f.policy, NULL, 0, crooked));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "misaligned",
          microloop_check(f.session, f.tool, bytes("{}"), 2, (const microloop_context *)(const void *)crooked));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "negative", microloop_check(f.session, f.tool, bytes("{}"), (size_t)-1, NULL));
    tear_down(f);
}

static void every_call_refuses(uint64_t session, const char *why) {
    uint8_t buf[64];
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_check(session, 0, bytes("{}"), 2, NULL));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_check_named(session, bytes("a"), 1, bytes("{}"), 2, NULL));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_record(session, 1, MICROLOOP_OUTCOME_TEXT, bytes("x"), 1));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_cancel(session, 1));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_turn(session, MICROLOOP_SPEAKER_USER, bytes("x"), 1));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_spend(session, 1, 1));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_verdict(session, 1, buf, sizeof buf));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_session_state(session, buf, sizeof buf));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_session_save(session, buf, sizeof buf));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_refuse(session, 1));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_observe(session, 0, bytes("{}"), 2, 0, bytes("x"), 1));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_record_measured(session, 1, 0, bytes("x"), 1, NULL, 0));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_progress(session, 0, buf, sizeof buf));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_session_time(session, 5));
    FAILS(MICROLOOP_STALE_HANDLE, why, microloop_session_free(session));
}

static void stale_handles(void) {
    fixture f = set_up();
    uint64_t handle = 7;
    uint64_t freed = new_session(f.policy);
    GIVES(MICROLOOP_OK, microloop_session_free(freed));
    every_call_refuses(freed, "was freed before");
    every_call_refuses(0, "is 0");
    every_call_refuses(f.policy, "a policy handle");
    every_call_refuses(UINT64_MAX, "never given out");
    uint64_t again = new_session(f.policy);
    CHECK(again != freed);
    every_call_refuses(freed, "was freed before");
    GIVES(MICROLOOP_OK, microloop_session_free(again));
    FAILS(MICROLOOP_STALE_HANDLE, "a session handle", microloop_policy_free(f.session));
    FAILS(MICROLOOP_STALE_HANDLE, "is 0", microloop_session_new(0, NULL, 0, &handle));
    FAILS(MICROLOOP_STALE_HANDLE, "is 0", microloop_session_load(0, NULL, 0, &handle));
    FAILS(MICROLOOP_STALE_HANDLE, "is 0", microloop_policy_tool(0, bytes(TOOL), strlen(TOOL), &f.tool));
    tear_down(f);
    FAILS(MICROLOOP_STALE_HANDLE, "was freed before", microloop_policy_free(f.policy));
    FAILS(MICROLOOP_STALE_HANDLE, "was freed before", microloop_session_free(f.session));
    FAILS(MICROLOOP_STALE_HANDLE, "was freed before", microloop_session_new(f.policy, NULL, 0, &handle));
}

/* What is saved in one process goes on in another; anything else is refused. */
static void saved_sessions(void) {
    fixture f = set_up();
    for (int n = 0; n < 4; n++) {
        int64_t verdict = check(f.session, f.tool, "{\"password\": \"" SECRET "\"}");
        GIVES(MICROLOOP_OK, record(f.session, verdict, "no"));
    }
    uint8_t saved[4096];
    int64_t len = microloop_session_save(f.session, saved, sizeof saved);
    CHECK(len > 0 && (size_t)len < sizeof saved);
    for (int64_t at = 0; at + (int64_t)strlen(SECRET) <= len; at++) {
        CHECK(memcmp(saved + at, SECRET, strlen(SECRET)) != 0);
    }

    uint64_t elsewhere = new_policy(POLICY);
    (void)new_tool(elsewhere, "{\"name\": \"another\"}");
    uint64_t session = 0;
    GIVES(MICROLOOP_OK, microloop_session_load(elsewhere, saved, (size_t)len, &session));
    uint32_t tool = new_tool(elsewhere, TOOL);
    GIVES(MICROLOOP_ACTION_BLOCK, MICROLOOP_ACTION(check(session, tool, "{\"password\": \"" SECRET "\"}")));
    GIVES(MICROLOOP_OK, microloop_session_free(session));

    FAILS(MICROLOOP_INVALID_SNAPSHOT, "damaged", microloop_session_load(elsewhere, saved, (size_t)len - 1, &session));
    GIVES(0, (int64_t)session);
    saved[len / 2] ^= 1;
    FAILS(MICROLOOP_INVALID_SNAPSHOT, "damaged", microloop_session_load(elsewhere, saved, (size_t)len, &session));
    FAILS(MICROLOOP_INVALID_SNAPSHOT, "begin", microloop_session_load(elsewhere, bytes("hello"), 5, &session));
    FAILS(MICROLOOP_INVALID_SNAPSHOT, "begin", microloop_session_load(elsewhere, NULL, 0, &session));
    saved[len / 2] ^= 1;
    uint64_t other = new_policy("{\"version\": 1}");
    FAILS(MICROLOOP_OTHER_POLICY, "another policy", microloop_session_load(other, saved, (size_t)len, &session));
    GIVES(MICROLOOP_OK, microloop_policy_free(other));
    GIVES(MICROLOOP_OK, microloop_policy_free(elsewhere));
    tear_down(f);
}

/* Sessions outlive the handle of the policy that they were made with. */
static void a_policy_freed_early(void) {
    fixture f = set_up();
    GIVES(MICROLOOP_OK, microloop_policy_free(f.policy));
    GIVES(MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION(check(f.session, f.tool, "{}")));
    GIVES(MICROLOOP_OK, microloop_session_free(f.session));
}

static int32_t policy_status(const char *json, size_t len) {
    uint64_t policy = 7;
    int32_t status = microloop_policy_new(bytes(json), len, &policy);
    CHECK(status == MICROLOOP_OK || policy == 0);
    return status;
}

#define POLICY_FAILS(wanted, text, json) FAILS(wanted, text, policy_status(json, strlen(json)))

static void bad_policies(void) {
    FAILS(MICROLOOP_NOT_JSON, "", policy_status("", 0));
    FAILS(MICROLOOP_NOT_UTF8, "UTF-8", policy_status("{\"version\": 1, \"name\": \"\xff\"}", 26));
    POLICY_FAILS(MICROLOOP_NOT_JSON, "", "{\"version\": 1");
    POLICY_FAILS(MICROLOOP_INVALID_POLICY, "lops", "{\"version\": 1, \"lops\": {}}");
    POLICY_FAILS(MICROLOOP_INVALID_POLICY, "version", "{\"version\": 99}");
    POLICY_FAILS(MICROLOOP_INVALID_POLICY, "extends", "{\"version\": 1, \"extends\": \"balanced\"}");
    POLICY_FAILS(MICROLOOP_UNSUPPORTED_REGEX, "look",
                 "{\"version\": 1, \"tools\": [{\"match\": \"*\", \"rules\": [{\"id\": \"r\", \"path\": \"a\", "
                 "\"deny\": {\"regex\": \"(?=a)b\"}}]}]}");
    POLICY_FAILS(MICROLOOP_INVALID_SCHEMA, "example.com",
                 "{\"version\": 1, \"tools\": [{\"match\": \"*\", \"arguments\": {\"$ref\": \"https://example.com/x\"}}]}");
}

static int32_t tool_status(uint64_t policy, const char *declaration) {
    uint32_t tool = 0;
    return microloop_policy_tool(policy, bytes(declaration), strlen(declaration), &tool);
}

static void tools(void) {
    fixture f = set_up();
    FAILS(MICROLOOP_INVALID_ARGUMENT, "empty", tool_status(f.policy, "{\"name\": \"\"}"));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "name", tool_status(f.policy, "{}"));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "name", tool_status(f.policy, "{\"name\": 7}"));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "shcema", tool_status(f.policy, "{\"name\": \"a\", \"shcema\": {}}"));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "object", tool_status(f.policy, "[\"a\"]"));
    FAILS(MICROLOOP_NOT_JSON, "", tool_status(f.policy, "name"));
    FAILS(MICROLOOP_NOT_UTF8, "UTF-8", tool_status(f.policy, "{\"name\": \"\xc3\"}"));
    FAILS(MICROLOOP_INVALID_SCHEMA, "type", tool_status(f.policy, "{\"name\": \"a\", \"schema\": {\"type\": \"txt\"}}"));
    FAILS(MICROLOOP_INVALID_SCHEMA, "object", tool_status(f.policy, "{\"name\": \"a\", \"schema\": 7}"));
    FAILS(MICROLOOP_INVALID_SCHEMA, "https://example.com/s.json",
          tool_status(f.policy, "{\"name\": \"a\", \"schema\": {\"$ref\": \"https://example.com/s.json\"}}"));
    FAILS(MICROLOOP_UNSUPPORTED_REGEX, "look-around",
          tool_status(f.policy, "{\"name\": \"a\", \"schema\": {\"pattern\": \"(?!a)b.\"}}"));
    FAILS(MICROLOOP_UNKNOWN_TOOL, "microloop_policy_tool", check(f.session, 99, "{}"));
    CHECK(new_tool(f.policy, "{ \"name\" : \"se\\u0061rch\" }") == f.tool);
    CHECK(new_tool(f.policy, "{\"name\": \"other\"}") != f.tool);
    for (int n = 0; n < 4094; n++) {
        char declaration[64];
        snprintf(declaration, sizeof declaration, "{\"name\": \"tool_%d\"}", n);
        new_tool(f.policy, declaration);
    }
    FAILS(MICROLOOP_LIMIT, "4096", tool_status(f.policy, "{\"name\": \"one too many\"}"));
    CHECK(new_tool(f.policy, TOOL) == f.tool);
    GIVES(MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION(check(f.session, 4095, "{}")));
    tear_down(f);
}

static int64_t check_named(uint64_t session, const char *name, const char *args) {
    return microloop_check_named(session, bytes(name), strlen(name), bytes(args), strlen(args), NULL);
}

/* A model can make up names without end: each call is judged, and no place is taken from a tool that is declared. */
static void tools_that_nobody_declared(void) {
    fixture f = set_up();
    FAILS(MICROLOOP_INVALID_ARGUMENT, "name is empty", check_named(f.session, "", "{}"));
    FAILS(MICROLOOP_NOT_UTF8, "UTF-8", check_named(f.session, "\xc3", "{}"));
    for (int n = 0; n < 5000; n++) {
        char name[64];
        snprintf(name, sizeof name, "made_up_%d", n);
        int64_t verdict = check_named(f.session, name, "{\"q\": 1}");
        GIVES(MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION(verdict));
        GIVES(MICROLOOP_OK, record(f.session, verdict, name));
    }
    for (int n = 0; n < 5; n++) {
        int64_t verdict = check_named(f.session, "made_up", "{\"q\": 1}");
        GIVES(n < 2 ? MICROLOOP_ACTION_ALLOW : n < 4 ? MICROLOOP_ACTION_WARN : MICROLOOP_ACTION_BLOCK,
              MICROLOOP_ACTION(verdict));
        if (n < 4) {
            GIVES(MICROLOOP_OK, record(f.session, verdict, "there is no such tool"));
        }
    }
    GIVES(1, new_tool(f.policy, "{\"name\": \"the second that is declared\"}"));
    tear_down(f);
}

static int32_t session_status(uint64_t policy, const char *options) {
    uint64_t session = 7;
    int32_t status = microloop_session_new(policy, bytes(options), strlen(options), &session);
    if (status == MICROLOOP_OK) {
        GIVES(MICROLOOP_OK, microloop_session_free(session));
    } else {
        CHECK(session == 0);
    }
    return status;
}

static void session_options(void) {
    fixture f = set_up();
    char options[64];
    FAILS(MICROLOOP_NOT_JSON, "", session_status(f.policy, "{"));
    FAILS(MICROLOOP_NOT_UTF8, "UTF-8", session_status(f.policy, "{\"role\": \"\xff\"}"));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "rolle", session_status(f.policy, "{\"rolle\": \"x\"}"));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "role", session_status(f.policy, "{\"role\": 7}"));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "parent", session_status(f.policy, "{\"parent\": \"x\"}"));
    FAILS(MICROLOOP_STALE_HANDLE, "is 0", session_status(f.policy, "{\"parent\": 0}"));
    GIVES(MICROLOOP_OK, session_status(f.policy, "{}"));
    GIVES(MICROLOOP_OK, session_status(f.policy, "{\"role\": null, \"parent\": null}"));
    GIVES(MICROLOOP_OK, session_status(f.policy, "{\"role\": \"reader\"}"));
    snprintf(options, sizeof options, "{\"parent\": %" PRIu64 "}", f.session);
    GIVES(MICROLOOP_OK, session_status(f.policy, options));
    tear_down(f);
}

static void is_blocked(fixture f, const char *args, size_t len, const char *reason) {
    int64_t verdict = microloop_check(f.session, f.tool, bytes(args), len, NULL);
    if (verdict < 0 || MICROLOOP_ACTION(verdict) < MICROLOOP_ACTION_BLOCK || !MICROLOOP_NOTED(verdict)) {
        FAIL("%.60s: verdict %" PRId64 ", which is no block", args, verdict);
    }
    if (strstr(verdict_text(f.session, verdict), reason) == NULL) {
        FAIL("%.60s: the verdict lacks %s: %s", args, reason, verdict_text(f.session, verdict));
    }
    if (strstr(verdict_text(f.session, verdict), SECRET) != NULL) {
        FAIL("%.60s: the verdict echoes the arguments: %s", args, verdict_text(f.session, verdict));
    }
}

static void bad_arguments(void) {
    static const char *const MALFORMED[] = {
        "",
        "{",
        "search for " SECRET,
        "{\"password\": \"" SECRET "\", }",
        "{\"a\": NaN}",
        "{\"a\": Infinity}",
        "{\"a\": \"\\ud800\"}",
        "{\"a\": \"\\udc00\\ud800\"}",
        "{\"" SECRET "\": 1, \"" SECRET "\": 2}",
        "{\"a\": 1, \"\\u0061\": 2}",
        "{\"a\": 18446744073709551616}",
        "{\"a\": -9223372036854775809}",
        "{\"a\": \"\xff\xfe\"}",
        "{\"a\": \"\xed\xa0\x80\"}",
        "{\"a\": 01}",
        "{'a': 1}",
        "{} {}",
        "\xef\xbb\xbf{}",
    };
    for (size_t n = 0; n < sizeof MALFORMED / sizeof *MALFORMED; n++) {
        fixture f = set_up();
        is_blocked(f, MALFORMED[n], strlen(MALFORMED[n]), "\"args.malformed\"");
        GIVES(MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION(check(f.session, f.tool, "{\"a\": 1}")));
        tear_down(f);
    }
    fixture f = set_up();
    is_blocked(f, "{\"a\": \"x\0y\"}", 12, "\"args.malformed\"");
    GIVES(2 << 8 | 1 << 7 | MICROLOOP_ACTION_BLOCK, microloop_check(f.session, f.tool, NULL, 0, NULL));
    tear_down(f);
}

static char *repeated(const char *part, size_t times) {
    size_t len = strlen(part);
    char *text = malloc(len * times + 1);
    CHECK(text != NULL);
    for (size_t n = 0; n < times; n++) {
        memcpy(text + n * len, part, len);
    }
    text[len * times] = '\0';
    return text;
}

static void huge_arguments(void) {
    fixture f = set_up();
    size_t len = 10 * 1024 * 1024;
    char *huge = repeated("x", len);
    memcpy(huge, "{\"a\": \"", 7);
    memcpy(huge + len - 2, "\"}", 2);
    is_blocked(f, huge, len, "\"args.size\"");
    char *deep = repeated("[", 10000);
    is_blocked(f, deep, 10000, "\"args.malformed\"");
    char *closed = repeated("[]", 10000);
    memset(closed, '[', 10000);
    memset(closed + 10000, ']', 10000);
    is_blocked(f, closed, 20000, "\"args.malformed\"");
    GIVES(MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION(check(f.session, f.tool, "{}")));
    free(huge);
    free(deep);
    free(closed);
    tear_down(f);
}

static void a_schema_is_enforced_without_an_echo(void) {
    fixture f = set_up();
    f.tool = new_tool(f.policy,
                      "{\"name\": \"login\", \"schema\": {\"type\": \"object\", \"required\": [\"user\"], \"properties\": "
                      "{\"user\": {\"type\": \"string\", \"maxLength\": 4}}, \"additionalProperties\": false}}");
    is_blocked(f, "{\"user\": \"" SECRET "\"}", strlen("{\"user\": \"" SECRET "\"}"), "\"args.schema\"");
    is_blocked(f, "{\"user\": \"a\", \"" SECRET "\": 1}", strlen("{\"user\": \"a\", \"" SECRET "\": 1}"), "required");
    is_blocked(f, "{}", 2, "Expected arguments: {\\\"user\\\": string of length <= 4 (required)}");
    GIVES(MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION(check(f.session, f.tool, "{\"user\": \"root\"}")));
    tear_down(f);
}

static void unknown_steps_and_kinds(void) {
    fixture f = set_up();
    uint8_t buf[64];
    int64_t verdict = check(f.session, f.tool, "{}");
    FAILS(MICROLOOP_UNKNOWN_STEP, "", microloop_record(f.session, 99, MICROLOOP_OUTCOME_TEXT, bytes("x"), 1));
    FAILS(MICROLOOP_UNKNOWN_STEP, "", microloop_record(f.session, UINT64_MAX, MICROLOOP_OUTCOME_TEXT, bytes("x"), 1));
    FAILS(MICROLOOP_UNKNOWN_STEP, "", microloop_cancel(f.session, 99));
    FAILS(MICROLOOP_UNKNOWN_STEP, "", microloop_verdict(f.session, 99, buf, sizeof buf));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "kind", microloop_record(f.session, 1, 9, bytes("x"), 1));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "speaker", microloop_turn(f.session, 9, bytes("x"), 1));
    CHECK(record(f.session, verdict, "fine") >= 0);
    FAILS(MICROLOOP_UNKNOWN_STEP, "", record(f.session, verdict, "twice"));
    tear_down(f);
}

static void small_buffers(void) {
    fixture f = set_up();
    int64_t verdict = check(f.session, f.tool, "nonsense");
    uint64_t step = (uint64_t)MICROLOOP_STEP(verdict);
    int64_t needed = microloop_verdict(f.session, step, NULL, 0);
    CHECK(needed > 20);
    uint8_t *exact = malloc((size_t)needed); /* valgrind sees one byte too many */
    CHECK(exact != NULL);
    memset(exact, 0xAA, (size_t)needed);
    GIVES(needed, microloop_verdict(f.session, step, exact, 10));
    CHECK(exact[9] != 0xAA && exact[10] == 0xAA);
    GIVES(needed, microloop_verdict(f.session, step, exact, (size_t)needed));
    CHECK(exact[needed - 1] == '}');
    free(exact);
    uint8_t *state = malloc(3);
    CHECK(state != NULL);
    CHECK(microloop_session_state(f.session, state, 3) > 3);
    GIVES(14, microloop_canonical(bytes("{\"b\":1.0,\"a\":[]}"), 16, state, 3));
    CHECK(memcmp(state, "{\"a", 3) == 0);
    free(state);
    tear_down(f);
}

static void canonical_and_patterns(void) {
    FAILS(MICROLOOP_NOT_JSON, "", microloop_canonical(bytes("{"), 1, NULL, 0));
    FAILS(MICROLOOP_NOT_UTF8, "UTF-8", microloop_canonical(bytes("\"\xff\""), 3, NULL, 0));
    GIVES(MICROLOOP_OK, microloop_regex_check(bytes("^a+$"), 4));
    FAILS(MICROLOOP_UNSUPPORTED_REGEX, "", microloop_regex_check(bytes("(?<=a)b"), 7));
    FAILS(MICROLOOP_UNSUPPORTED_REGEX, "", microloop_regex_check(bytes("(a)\\1"), 5));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "", microloop_regex_check(bytes("(a"), 2));
    FAILS(MICROLOOP_NOT_UTF8, "UTF-8", microloop_regex_check(bytes("\xff"), 1));
}

static void a_loop_is_blocked(void) {
    static const int WANTED[] = {MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION_ALLOW, MICROLOOP_ACTION_WARN,
                                 MICROLOOP_ACTION_WARN, MICROLOOP_ACTION_BLOCK};
    static const char *const SPELLINGS[] = {"{\"q\": 1, \"r\": 2}", "{\"r\":2,\"q\":1.0}", "{\"\\u0071\": 1, \"r\": 2e0}",
                                            "{\"q\": 1, \"r\": 2}", " { \"q\" : 1 , \"r\" : 2 } "};
    fixture f = set_up();
    for (int n = 0; n < 5; n++) {
        int64_t verdict = check(f.session, f.tool, SPELLINGS[n]);
        GIVES(WANTED[n], MICROLOOP_ACTION(verdict));
        GIVES(n + 1, MICROLOOP_STEP(verdict));
        GIVES(n >= 2, MICROLOOP_NOTED(verdict));
        if (n < 4) {
            CHECK(record(f.session, verdict, "nothing found") >= 0);
        } else {
            CHECK(strstr(verdict_text(f.session, verdict), "\"loop.repeat\"") != NULL);
        }
    }
    tear_down(f);
}

static void spending_never_wraps_around(void) {
    uint64_t policy = new_policy("{\"version\": 1, \"budgets\": {\"usd\": 1000000000}}");
    uint64_t session = new_session(policy);
    GIVES(MICROLOOP_ACTION_ALLOW, microloop_spend(session, UINT64_MAX, 0));
    GIVES(MICROLOOP_ACTION_ALLOW, microloop_spend(session, UINT64_MAX, 1));
    int64_t verdict = microloop_spend(session, 0, UINT64_MAX);
    GIVES(MICROLOOP_ACTION_HALT, MICROLOOP_ACTION(verdict));
    CHECK(strstr(verdict_text(session, verdict), "\"budget.usd\"") != NULL);
    GIVES(MICROLOOP_ACTION_HALT, MICROLOOP_ACTION(microloop_spend(session, 1, 1)));
    GIVES(MICROLOOP_OK, microloop_session_free(session));
    GIVES(MICROLOOP_OK, microloop_policy_free(policy));
}

static int64_t observe(uint64_t session, uint32_t tool, const char *action, const char *outcome, double failures) {
    char told[128];
    snprintf(told, sizeof told, "{\"metrics\": {\"failures\": %g}, \"metadata\": {\"verifier\": \"tests\"}}", failures);
    return microloop_observe_measured(session, tool, bytes(action), strlen(action), MICROLOOP_OUTCOME_TEXT, bytes(outcome),
                                      strlen(outcome), bytes(told), strlen(told));
}

static void a_run_is_observed(void) {
    uint64_t policy = new_policy("{\"version\": 1, \"mode\": \"observe\", \"loops\": {\"repeat\": {\"warn\": 3, \"block\": 5}},"
                                 " \"progress\": {\"regressing\": \"stop\"}}");
    uint32_t tool = new_tool(policy, TOOL);
    uint64_t session = new_session(policy);
    static const int WANTED[] = {MICROLOOP_RUN_HEALTHY, MICROLOOP_RUN_HEALTHY, MICROLOOP_RUN_WARNING,
                                 MICROLOOP_RUN_WARNING, MICROLOOP_RUN_STALLED};
    for (int n = 0; n < 5; n++) {
        int64_t seen = microloop_observe(session, tool, bytes("{cut off"), 8, MICROLOOP_OUTCOME_TEXT, bytes("same"), 4);
        GIVES(n + 1, MICROLOOP_STEP(seen));
        GIVES(WANTED[n], MICROLOOP_RUN_STATUS(seen));
    }
    int64_t better = (observe(session, tool, "1", "a", 3.0), observe(session, tool, "2", "b", 1.0));
    GIVES(1, MICROLOOP_VERIFIED(better));
    GIVES(0, MICROLOOP_UNREAD(better));
    GIVES(MICROLOOP_RUN_WARNING, MICROLOOP_RUN_STATUS(observe(session, tool, "3", "c", 2.0)));
    int64_t worse = observe(session, tool, "4", "d", 2.0);
    GIVES(MICROLOOP_RUN_REGRESSING, MICROLOOP_RUN_STATUS(worse));
    GIVES(2, MICROLOOP_INTERVENTION(worse));
    int64_t odd = microloop_observe_measured(session, tool, bytes("5"), 1, MICROLOOP_OUTCOME_TEXT, bytes("e"), 1,
                                             bytes("{\"metrics\": 7}"), 14);
    GIVES(1, MICROLOOP_UNREAD(odd));
    char report[2048];
    int64_t len = microloop_progress(session, (uint64_t)MICROLOOP_STEP(worse), (uint8_t *)report, sizeof report - 1);
    CHECK(len > 0 && (size_t)len < sizeof report);
    report[len] = '\0';
    CHECK(strstr(report, "\"verifier.worse\"") != NULL);
    FAILS(MICROLOOP_UNKNOWN_STEP, "nothing to tell", microloop_progress(session, 1, NULL, 0));
    GIVES(MICROLOOP_OK, microloop_session_free(session));
    GIVES(MICROLOOP_OK, microloop_policy_free(policy));
}

static void what_cannot_be_observed(void) {
    fixture f = set_up();
    FAILS(MICROLOOP_INVALID_ARGUMENT, "observe mode",
          microloop_observe(f.session, f.tool, bytes("1"), 1, MICROLOOP_OUTCOME_TEXT, bytes("x"), 1));
    FAILS(MICROLOOP_NULL_POINTER, "arguments", microloop_observe(f.session, f.tool, NULL, 1, 0, NULL, 0));
    FAILS(MICROLOOP_NULL_POINTER, "outcome", microloop_observe(f.session, f.tool, NULL, 0, 0, NULL, 1));
    FAILS(MICROLOOP_INVALID_ARGUMENT, "kind", microloop_observe(f.session, f.tool, NULL, 0, 9, NULL, 0));
    int64_t verdict = check(f.session, f.tool, "{}");
    uint64_t step = (uint64_t)MICROLOOP_STEP(verdict);
    FAILS(MICROLOOP_NULL_POINTER, "told", microloop_record_measured(f.session, step, 0, NULL, 0, NULL, 1));
    FAILS(MICROLOOP_NOT_JSON, "told", microloop_record_measured(f.session, step, 0, NULL, 0, bytes("{\"a\""), 4));
    GIVES(MICROLOOP_OK, microloop_record_measured(f.session, step, MICROLOOP_OUTCOME_ERROR, NULL, 0, bytes("[7]"), 3));
    FAILS(MICROLOOP_UNKNOWN_STEP, "", microloop_record_measured(f.session, step, 0, NULL, 0, NULL, 0));
    tear_down(f);
}

int main(void) {
    versions();
    null_pointers();
    misaligned_pointers_and_absurd_lengths();
    stale_handles();
    saved_sessions();
    a_policy_freed_early();
    bad_policies();
    tools();
    tools_that_nobody_declared();
    session_options();
    bad_arguments();
    huge_arguments();
    a_schema_is_enforced_without_an_echo();
    unknown_steps_and_kinds();
    small_buffers();
    canonical_and_patterns();
    a_loop_is_blocked();
    spending_never_wraps_around();
    a_run_is_observed();
    what_cannot_be_observed();
    puts("abuse: 18 passed, 0 failed");
    return 0;
}
