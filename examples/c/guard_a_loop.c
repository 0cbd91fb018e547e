/* A guarded agent in C: a policy from a file, a tool, and a model that cannot let go of one query.
 *
 *     make -C examples/c && examples/c/guard_a_loop policy.json
 *
 * The policy is JSON; `microloop policy show balanced --json` makes it of a named one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "microloop.h"

/* Ends the program with the library's own words if a status says that something went wrong. */
static int64_t must(int64_t status, const char *what) {
    if (status < 0) {
        char message[512];
        int64_t len = microloop_last_error((uint8_t *)message, sizeof message);
        int shown = (int)(len < 0 ? 0 : len > (int64_t)sizeof message ? (int64_t)sizeof message : len);
        fprintf(stderr, "%s: %.*s (status %" PRId64 ")\n", what, shown, message, status);
        exit(1);
    }
    return status;
}

static char *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    if (file == NULL || text == NULL) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    *len = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

/* The tool itself: a database that has no such table, whoever asks. */
static const char *query_database(void) {
    return "Error: no such table: costumers";
}

static void show_verdict(uint64_t session, int64_t verdict) {
    char text[2048];
    int64_t len = must(microloop_verdict(session, (uint64_t)MICROLOOP_STEP(verdict), (uint8_t *)text, sizeof text), "verdict");
    printf("%.*s\n", (int)(len > (int64_t)sizeof text ? (int64_t)sizeof text : len), text);
}

/* One call of the agent: judged before it runs, reported after it has run. Returns whether the agent may go on. */
static int call(uint64_t session, uint32_t tool, const char *args) {
    int64_t verdict = must(microloop_check(session, tool, (const uint8_t *)args, strlen(args), NULL), "check");
    int action = MICROLOOP_ACTION(verdict);
    printf("step %" PRId64 ": action %d\n", MICROLOOP_STEP(verdict), action);
    if (MICROLOOP_NOTED(verdict)) {
        show_verdict(session, verdict); /* "feedback" in it is for the model, in place of the result or beside it */
    }
    if (action >= MICROLOOP_ACTION_BLOCK) {
        return action != MICROLOOP_ACTION_HALT;
    }
    const char *error = query_database();
    must(microloop_record(session, (uint64_t)MICROLOOP_STEP(verdict), MICROLOOP_OUTCOME_ERROR, (const uint8_t *)error,
                          strlen(error)),
         "record");
    return 1;
}

int main(int argc, char **argv) {
    static const char TOOL[] =
        "{\"name\": \"query_database\", \"schema\": {\"type\": \"object\", \"required\": [\"sql\"], "
        "\"properties\": {\"sql\": {\"type\": \"string\"}}}}";
    if (argc != 2) {
        fprintf(stderr, "usage: guard_a_loop policy.json\n");
        return 2;
    }
    must(microloop_abi_check(MICROLOOP_ABI_VERSION), "this program and libmicroloop");

    uint64_t policy, session;
    uint32_t tool;
    size_t len;
    char *json = read_file(argv[1], &len);
    must(microloop_policy_new((const uint8_t *)json, len, &policy), argv[1]);
    must(microloop_policy_tool(policy, (const uint8_t *)TOOL, sizeof TOOL - 1, &tool), "tool");
    must(microloop_session_new(policy, NULL, 0, &session), "session");

    int going = call(session, tool, "{\"query\": \"select * from costumers\"}"); /* against the schema */
    for (int n = 0; n < 8 && going; n++) {
        going = call(session, tool, "{\"sql\": \"select * from costumers\"}");
    }

    microloop_session_free(session);
    microloop_policy_free(policy);
    free(json);
    return 0;
}
