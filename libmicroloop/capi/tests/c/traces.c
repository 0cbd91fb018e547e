/* Runs the traces that the Rust API and Python run too, here through the C ABI. Reads what render_traces.py wrote. */
#include "harness.h"

enum { FIELDS = 11, TOOLS = 64 };

typedef struct {
    char *name;
    char *key[TOOLS];
    uint32_t tool[TOOLS];
    int tools;
    uint64_t policy;
    uint64_t session;
    int64_t steps; /* the highest step so far */
    int calls;
    int spoke;   /* some verdict was not allow */
    int refused; /* some verdict was block or halt */
    int noticed; /* the first call, from 1, whose verdict is not allow; 0: none */
    int stopped; /* the same for block and halt */
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

static void split(char *line, char *fields[FIELDS]) {
    char *rest = line;
    for (int n = 0; n < FIELDS; n++) {
        fields[n] = rest;
        char *tab = strchr(rest, '\t');
        if (tab != NULL) {
            *tab = '\0';
            rest = tab + 1;
        } else {
            rest += strlen(rest);
        }
    }
    for (int n = 0; n < FIELDS; n++) {
        unescape(fields[n]);
    }
}

static char *copy(const char *text) {
    char *made = malloc(strlen(text) + 1);
    CHECK(made != NULL);
    return strcpy(made, text);
}

static void begin(trace *t, char *const *f) {
    char options[256] = "{}";
    *t = (trace){.name = copy(f[1])};
    t->policy = new_policy(f[2]);
    if (*f[3] != '\0') {
        snprintf(options, sizeof options, "{\"role\": \"%s\"}", f[3]);
    }
    GIVES(MICROLOOP_OK, microloop_session_new(t->policy, bytes(options), strlen(options), &t->session));
    GIVES(MICROLOOP_OK, microloop_session_time(t->session, 0));
}

static void declare(trace *t, char *const *f) {
    CHECK(t->tools < TOOLS);
    t->key[t->tools] = copy(f[1]);
    t->tool[t->tools++] = new_tool(t->policy, f[2]);
}

static uint32_t tool_of(const trace *t, const char *name) {
    for (int n = 0; n < t->tools; n++) {
        if (strcmp(t->key[n], name) == 0) {
            return t->tool[n];
        }
    }
    FAIL("%s: no tool %s", t->name, name);
}

static void wrong(trace *t, const char *what, const char *wanted, const char *seen) {
    fprintf(stderr, "%s: call %d: %s is %s, not %s\n", t->name, t->calls, what, seen, wanted);
    t->failed = 1;
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

/* Compares a verdict with the action and the reason that a step expects. */
static int judge(trace *t, int64_t verdict, const char *action, const char *reason) {
    CHECK(verdict >= 0);
    const char *seen = ACTIONS[MICROLOOP_ACTION(verdict)];
    if (!expected(action, seen)) {
        wrong(t, "the action", action, seen);
    }
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\"reason\":\"%s\"", reason);
    const char *whole = MICROLOOP_NOTED(verdict) ? verdict_text(t->session, verdict) : "\"reason\":\"none\"";
    if (*reason != '\0' && strstr(whole, wanted) == NULL) {
        wrong(t, "the verdict", reason, whole);
    }
    t->spoke = t->spoke || MICROLOOP_ACTION(verdict) != MICROLOOP_ACTION_ALLOW;
    t->refused = t->refused || MICROLOOP_ACTION(verdict) >= MICROLOOP_ACTION_BLOCK;
    return MICROLOOP_ACTION(verdict);
}

/* Compares where the run stands with what a step expects, if it expects something. */
static void stands(trace *t, const char *status) {
    char report[4096], wanted[64];
    if (*status == '\0') {
        return;
    }
    int64_t len = microloop_progress(t->session, 0, (uint8_t *)report, sizeof report - 1);
    CHECK(len > 0 && (size_t)len < sizeof report);
    report[len] = '\0';
    snprintf(wanted, sizeof wanted, "\"status\":\"%s\"", status);
    if (strstr(report, wanted) == NULL) {
        wrong(t, "the run", status, report);
    }
}

static void set_time(trace *t, const char *at) {
    if (*at != '\0') {
        GIVES(MICROLOOP_OK, microloop_session_time(t->session, strtoull(at, NULL, 10)));
    }
}

static void call(trace *t, char *const *f) {
    t->calls++;
    microloop_context context = {bytes(f[6]), strlen(f[6]), bytes(f[7]), strlen(f[7])};
    int64_t verdict = microloop_check(t->session, tool_of(t, f[2]), bytes(f[3]), strlen(f[3]), &context);
    int action = judge(t, verdict, f[4], f[5]);
    t->noticed = t->noticed == 0 && action != MICROLOOP_ACTION_ALLOW ? t->calls : t->noticed;
    t->stopped = t->stopped == 0 && action >= MICROLOOP_ACTION_BLOCK ? t->calls : t->stopped;
    /* A call id that was seen before is answered with the earlier step, whose outcome is known. */
    if (action < MICROLOOP_ACTION_BLOCK && MICROLOOP_STEP(verdict) > t->steps) {
        GIVES(MICROLOOP_OK, microloop_record(t->session, (uint64_t)MICROLOOP_STEP(verdict), (uint32_t)atoi(f[8]),
                                             bytes(f[9]), strlen(f[9])));
    }
    stands(t, f[10]);
    t->steps = MICROLOOP_STEP(verdict) > t->steps ? MICROLOOP_STEP(verdict) : t->steps;
}

static void assistant(trace *t, char *const *f) {
    int64_t verdict = microloop_turn(t->session, MICROLOOP_SPEAKER_ASSISTANT, bytes(f[2]), strlen(f[2]));
    judge(t, verdict, f[3], f[4]);
    stands(t, f[5]);
    t->steps = MICROLOOP_STEP(verdict) > t->steps ? MICROLOOP_STEP(verdict) : t->steps;
}

static void spend(trace *t, char *const *f) {
    int64_t verdict = microloop_spend(t->session, strtoull(f[2], NULL, 10), strtoull(f[5], NULL, 10));
    judge(t, verdict, f[3], f[4]);
    t->steps = MICROLOOP_STEP(verdict) > t->steps ? MICROLOOP_STEP(verdict) : t->steps;
}

static void user(trace *t, char *const *f) {
    CHECK(microloop_turn(t->session, MICROLOOP_SPEAKER_USER, bytes(f[2]), strlen(f[2])) >= 0);
}

static void in_time(trace *t, const char *what, const char *by, int first) {
    if (*by != '\0' && (first == 0 || first > atoi(by))) {
        wrong(t, what, by, first == 0 ? "missing" : "late");
    }
}

static void end(trace *t, char *const *f) {
    in_time(t, "the first notice", f[1], t->noticed);
    in_time(t, "the stop", f[2], t->stopped);
    if ((strcmp(f[3], "stop") == 0 && t->refused) || (strcmp(f[3], "notice") == 0 && t->spoke)) {
        wrong(t, "what the guard does", "without it", f[3]);
    }
    GIVES(MICROLOOP_OK, microloop_session_free(t->session));
    GIVES(MICROLOOP_OK, microloop_policy_free(t->policy));
    for (int n = 0; n < t->tools; n++) {
        free(t->key[n]);
    }
    free(t->name);
}

typedef void happening(trace *, char *const *);

static happening *kind_of(const char *name) {
    static const struct {
        const char *name;
        happening *play;
    } KINDS[] = {{"call", call}, {"user", user}, {"assistant", assistant}, {"spend", spend}};
    for (size_t n = 0; n < sizeof KINDS / sizeof *KINDS; n++) {
        if (strcmp(KINDS[n].name, name) == 0) {
            return KINDS[n].play;
        }
    }
    FAIL("no step is a %s", name);
}

/* One line: the trace's name, a tool, a step, or the end. Says whether the trace is over. */
static int play(trace *t, char *const *f) {
    if (strcmp(f[0], "trace") == 0) {
        begin(t, f);
    } else if (strcmp(f[0], "tool") == 0) {
        declare(t, f);
    } else if (strcmp(f[0], "end") == 0) {
        end(t, f);
        return 1;
    } else {
        set_time(t, f[1]);
        kind_of(f[0])(t, f);
    }
    return 0;
}

static int run(FILE *file) {
    int passed = 0, failed = 0;
    trace t = {0};
    char *line = NULL;
    size_t room = 0;
    for (ssize_t len; (len = getline(&line, &room, file)) > 0;) {
        char *f[FIELDS];
        line[len - 1] = '\0';
        split(line, f);
        if (play(&t, f)) {
            passed += !t.failed;
            failed += t.failed;
        }
    }
    free(line);
    printf("traces: %d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
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
