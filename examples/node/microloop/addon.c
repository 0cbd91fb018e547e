/* The C ABI as functions of JavaScript, by Node-API. They only translate; what a status means is decided in native.js. */
#include "handles.h"
#include "microloop.h"
#include "values.h"

static napi_value abi_check(napi_env env, napi_callback_info info) {
    (void)info;
    return number(env, microloop_abi_check(MICROLOOP_ABI_VERSION));
}

static napi_value last_error(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS];
    void *buffer;
    size_t cap;
    if (!read_arguments(env, info, given) || !ok(env, napi_get_buffer_info(env, given[0], &buffer, &cap))) {
        return NULL;
    }
    return number(env, microloop_last_error(buffer, cap));
}

/* Ends a policy or a session. */
static napi_value close_handle(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS];
    const owned *it;
    if (!read_arguments(env, info, given) || (it = read_owned(env, given[0])) == NULL) {
        return NULL;
    }
    return number(env, it->free(it->handle));
}

static napi_value handle_number(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS], made;
    uint64_t handle;
    if (!read_arguments(env, info, given) || !read_handle(env, given[0], &handle) ||
        !ok(env, napi_create_bigint_uint64(env, handle, &made))) {
        return NULL;
    }
    return made;
}

static napi_value policy_new(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS], made = NULL;
    text json = {NULL, 0};
    if (read_arguments(env, info, given) && read_text(env, given[0], &json)) {
        uint64_t policy;
        int32_t status = microloop_policy_new(BYTES(json), &policy);
        made = status < 0 ? number(env, status) : own(env, policy, microloop_policy_free);
    }
    free(json.data);
    return made;
}

static napi_value policy_tool(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS], made = NULL;
    uint64_t policy;
    text declaration = {NULL, 0};
    if (read_arguments(env, info, given) && read_handle(env, given[0], &policy) &&
        read_text(env, given[1], &declaration)) {
        uint32_t tool;
        int32_t status = microloop_policy_tool(policy, BYTES(declaration), &tool);
        made = number(env, status < 0 ? status : (int64_t)tool);
    }
    free(declaration.data);
    return made;
}

static napi_value session_new(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS], made = NULL;
    uint64_t policy;
    text options = {NULL, 0};
    if (read_arguments(env, info, given) && read_handle(env, given[0], &policy) && read_text(env, given[1], &options)) {
        uint64_t session;
        int32_t status = microloop_session_new(policy, BYTES(options), &session);
        made = status < 0 ? number(env, status) : own(env, session, microloop_session_free);
    }
    free(options.data);
    return made;
}

static napi_value session_time(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS];
    uint64_t session;
    uint64_t now;
    if (!read_arguments(env, info, given) || !read_handle(env, given[0], &session) ||
        !read_count(env, given[1], &now)) {
        return NULL;
    }
    return number(env, microloop_session_time(session, now));
}

static napi_value session_state(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS];
    uint64_t session;
    void *buffer;
    size_t cap;
    if (!read_arguments(env, info, given) || !read_handle(env, given[0], &session) ||
        !ok(env, napi_get_buffer_info(env, given[1], &buffer, &cap))) {
        return NULL;
    }
    return number(env, microloop_session_state(session, buffer, cap));
}

/* (session, step, buffer): a text about a step. */
static napi_value text_of_step(napi_env env, napi_callback_info info,
                               int64_t (*write)(uint64_t, uint64_t, uint8_t *, size_t)) {
    napi_value given[MOST_ARGUMENTS];
    uint64_t session;
    uint64_t step;
    void *buffer;
    size_t cap;
    if (!read_arguments(env, info, given) || !read_handle(env, given[0], &session) ||
        !read_count(env, given[1], &step) ||
        !ok(env, napi_get_buffer_info(env, given[2], &buffer, &cap))) {
        return NULL;
    }
    return number(env, write(session, step, buffer, cap));
}

/* Where the run stood after a step; step 0 is the latest. */
static napi_value progress(napi_env env, napi_callback_info info) {
    return text_of_step(env, info, microloop_progress);
}

/* (session, tool, arguments, call id, batch); texts that are empty are not known. */
static napi_value check(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS], made = NULL;
    uint64_t session;
    uint32_t tool;
    text args = {NULL, 0}, call_id = {NULL, 0}, batch = {NULL, 0};
    if (read_arguments(env, info, given) && read_handle(env, given[0], &session) &&
        ok(env, napi_get_value_uint32(env, given[1], &tool)) && read_text(env, given[2], &args) &&
        read_text(env, given[3], &call_id) && read_text(env, given[4], &batch)) {
        microloop_context context = {BYTES(call_id), BYTES(batch)};
        made = number(env, microloop_check(session, tool, BYTES(args), &context));
    }
    free(args.data);
    free(call_id.data);
    free(batch.data);
    return made;
}

/* The same of a tool that nobody declared, by its name. */
static napi_value check_named(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS], made = NULL;
    uint64_t session;
    text name = {NULL, 0}, args = {NULL, 0}, call_id = {NULL, 0}, batch = {NULL, 0};
    if (read_arguments(env, info, given) && read_handle(env, given[0], &session) && read_text(env, given[1], &name) &&
        read_text(env, given[2], &args) && read_text(env, given[3], &call_id) && read_text(env, given[4], &batch)) {
        microloop_context context = {BYTES(call_id), BYTES(batch)};
        made = number(env, microloop_check_named(session, BYTES(name), BYTES(args), &context));
    }
    free(name.data);
    free(args.data);
    free(call_id.data);
    free(batch.data);
    return made;
}

static napi_value record(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS], made = NULL;
    uint64_t session;
    uint64_t step;
    uint32_t kind;
    text outcome = {NULL, 0};
    if (read_arguments(env, info, given) && read_handle(env, given[0], &session) &&
        read_count(env, given[1], &step) && ok(env, napi_get_value_uint32(env, given[2], &kind)) &&
        read_text(env, given[3], &outcome)) {
        made = number(env, microloop_record(session, step, kind, BYTES(outcome)));
    }
    free(outcome.data);
    return made;
}

static napi_value cancel(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS];
    uint64_t session;
    uint64_t step;
    if (!read_arguments(env, info, given) || !read_handle(env, given[0], &session) ||
        !read_count(env, given[1], &step)) {
        return NULL;
    }
    return number(env, microloop_cancel(session, step));
}

static napi_value turn(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS], made = NULL;
    uint64_t session;
    uint32_t speaker;
    text said = {NULL, 0};
    if (read_arguments(env, info, given) && read_handle(env, given[0], &session) &&
        ok(env, napi_get_value_uint32(env, given[1], &speaker)) && read_text(env, given[2], &said)) {
        made = number(env, microloop_turn(session, speaker, BYTES(said)));
    }
    free(said.data);
    return made;
}

static napi_value spend(napi_env env, napi_callback_info info) {
    napi_value given[MOST_ARGUMENTS];
    uint64_t session, tokens, nano_usd;
    if (!read_arguments(env, info, given) || !read_handle(env, given[0], &session) ||
        !read_count(env, given[1], &tokens) || !read_count(env, given[2], &nano_usd)) {
        return NULL;
    }
    return number(env, microloop_spend(session, tokens, nano_usd));
}

static napi_value verdict(napi_env env, napi_callback_info info) {
    return text_of_step(env, info, microloop_verdict);
}

#define FUNCTION(name, function) {name, NULL, function, NULL, NULL, NULL, napi_enumerable, NULL}

NAPI_MODULE_INIT(/* env, exports */) {
    static const napi_property_descriptor FUNCTIONS[] = {
        FUNCTION("abiCheck", abi_check),         FUNCTION("lastError", last_error),
        FUNCTION("close", close_handle),         FUNCTION("handleNumber", handle_number),
        FUNCTION("policyNew", policy_new),       FUNCTION("policyTool", policy_tool),
        FUNCTION("sessionNew", session_new),     FUNCTION("sessionTime", session_time),
        FUNCTION("sessionState", session_state), FUNCTION("check", check),
        FUNCTION("record", record),              FUNCTION("cancel", cancel),
        FUNCTION("turn", turn),                  FUNCTION("spend", spend),
        FUNCTION("verdict", verdict),            FUNCTION("checkNamed", check_named),
        FUNCTION("progress", progress),
    };
    return ok(env, napi_define_properties(env, exports, sizeof FUNCTIONS / sizeof *FUNCTIONS, FUNCTIONS)) ? exports : NULL;
}
