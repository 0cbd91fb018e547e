/* Runs the traces that the Rust API and Python run too, here through the C ABI. Reads what render_traces.py wrote. */
#include "harness.h"

enum { FIELDS = 10, TOOLS = 64 };

typedef struct {
    char *name;
    char *key[TOOLS];
    uint32_t tool[TOOLS];
    int tools;
    uint64_t policy;
    uint64_t session;
    int calls;
    int noticed; /* the first call with anything but allow, from 1; 0: none */
    int stopped; /* the first call with block or halt */
    int failed;
} trace;

static const char *const ACTIONS[] = {"allow", "warn", "transform", "ask", "block", "halt"};

static void unescape(char *field) {
    char *to = field;
    for (char *from = field; *from != '\0'; from++) {
        if (*from == '\\') {
            from++;
            *to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from == 'r' ? '\r' : *from;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static int split(char *line, char *fields[FIELDS]) {
    int count = 0;
    char *rest = line;
    while (rest != NULL && count < FIELDS) {
        char *tab = strchr(rest, '\t');
        fields[count++] = rest;
        if (tab != NULL) {
            *tab++ = '\0';
        }
        rest = tab;
    }
    for (int n = 0; n < count; n++) {
        unescape(fields[n]);
    }
    for (int n = count; n < FIELDS; n++) {
        fields[n] = rest = line + strlen(line);
    }
    return count;
}

static char *copy(const char *text) {
    char *made = malloc(strlen(text) + 1);
    CHECK(made != NULL);
    return strcpy(made, text);
}

static void begin(trace *t, char *const *fields) {
    char options[256] = "{}";
    *t = (trace){.name = copy(fields[1])};
    t->policy = new_policy(fields[2]);
    if (*fields[3] != '\0') {
        snprintf(options, sizeof options, "{\"role\": \"%s\"}", fields[3]);
    }
    GIVES(MICROLOOP_OK, microloop_session_new(t->policy, bytes(options), strlen(options), &t->session));
}

static void declare(trace *t, char *const *fields) {
    CHECK(t->tools < TOOLS);
    t->key[t->tools] = copy(fields[1]);
    t->tool[t->tools++] = new_tool(t->policy, fields[2]);
}

static uint32_t tool_of(const trace *t, const char *name) {
    for (int n = 0; n < t->tools; n++) {
        if (strcmp(t->key[n], name) == 0) {
            return t->tool[n];
        }
    }
    FAIL("%s: no tool %s", t->name, name);
}

/* Whether the list, with commas between, has the word. An empty list expects nothing. */
static int expected(const char *list, const char *word) {
    size_t len = strlen(word);
    for (const char *at = list; at != NULL && *at != '\0'; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0')) {
            return 1;
        }
    }
    return *list == '\0';
}

static void wrong(trace *t, const char *what, const char *wanted, const char *seen) {
    fprintf(stderr, "%s: call %d: %s is %s, not %s\n", t->name, t->calls, what, seen, wanted);
    t->failed = 1;
}

static const char *judged(trace *t, int64_t verdict, const char *expect) {
    CHECK(verdict >= 0);
    const char *action = ACTIONS[MICROLOOP_ACTION(verdict)];
    if (!expected(expect, action)) {
        wrong(t, "the action", expect, action);
    }
    return action;
}

static void reasoned(trace *t, int64_t verdict, const char *reason) {
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\"reason\":\"%s\"", reason);
    if (*reason != '\0' && strstr(verdict_text(t->session, verdict), wanted) == NULL) {
        wrong(t, "the verdict", reason, verdict_text(t->session, verdict));
    }
}

static void call(trace *t, char *const *f) {
    t->calls++;
    if (*f[5] != '\0') {
        GIVES(MICROLOOP_OK, microloop_session_time(t->session, strtoull(f[5], NULL, 10)));
    }
    microloop_context context = {bytes(f[3]), strlen(f[3]), bytes(f[4]), strlen(f[4])};
    int64_t verdict = microloop_check(t->session, tool_of(t, f[1]), bytes(f[2]), strlen(f[2]), &context);
    judged(t, verdict, f[6]);
    reasoned(t, verdict, f[7]);
    int64_t action = MICROLOOP_ACTION(verdict);
    if (action != MICROLOOP_ACTION_ALLOW && t->noticed == 0) {
        t->noticed = t->calls;
    }
    if (action >= MICROLOOP_ACTION_BLOCK) {
        t->stopped = t->stopped == 0 ? t->calls : t->stopped;
        return;
    }
    GIVES(MICROLOOP_OK, microloop_record(t->session, (uint64_t)MICROLOOP_STEP(verdict), (uint32_t)atoi(f[8]),
                                         bytes(f[9]), strlen(f[9])));
}

static void turn(trace *t, uint32_t speaker, const char *text, const char *expect) {
    judged(t, microloop_turn(t->session, speaker, bytes(text), strlen(text)), expect);
}

static void end(trace *t, char *const *f) {
    if (*f[1] != '\0' && (t->noticed == 0 || t->noticed > atoi(f[1]))) {
        wrong(t, "the first notice", f[1], t->noticed == 0 ? "missing" : "late");
    }
    if (*f[2] != '\0' && (t->stopped == 0 || t->stopped > atoi(f[2]))) {
        wrong(t, "the stop", f[2], t->stopped == 0 ? "missing" : "late");
    }
    if ((strcmp(f[3], "stop") == 0 && t->stopped) || (strcmp(f[3], "notice") == 0 && t->noticed)) {
        wrong(t, "a verdict", "never", f[3]);
    }
    GIVES(MICROLOOP_OK, microloop_session_free(t->session));
    GIVES(MICROLOOP_OK, microloop_policy_free(t->policy));
    for (int n = 0; n < t->tools; n++) {
        free(t->key[n]);
    }
    free(t->name);
}

static int run(FILE *file) {
    int passed = 0, failed = 0;
    trace t = {0};
    char *line = NULL;
    size_t room = 0;
    for (ssize_t len; (len = getline(&line, &room, file)) > 0;) {
        char *f[FIELDS];
        line[len - 1] = line[len - 1] == '\n' ? '\0' : line[len - 1];
        split(line, f);
        if (strcmp(f[0], "trace") == 0) {
            begin(&t, f);
        } else if (strcmp(f[0], "tool") == 0) {
            declare(&t, f);
        } else if (strcmp(f[0], "call") == 0) {
            call(&t, f);
        } else if (strcmp(f[0], "user") == 0) {
            turn(&t, MICROLOOP_SPEAKER_USER, f[1], "");
        } else if (strcmp(f[0], "assistant") == 0) {
            turn(&t, MICROLOOP_SPEAKER_ASSISTANT, f[1], f[2]);
        } else {
            end(&t, f);
            passed += !t.failed;
            failed += t.failed;
        }
    }
    free(line);
    printf("traces: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: traces traces.tsv (made by render_traces.py)\n");
        return 2;
    }
    int status = run(file);
    fclose(file);
    return status;
}
