/* SPDX-License-Identifier: Apache-2.0
 *
 * microloop: decides before every tool call of an agent whether it may run, and watches what came back.
 *
 *     policy = microloop_policy_new(...); tool = microloop_policy_tool(...); session = microloop_session_new(...);
 *     verdict = microloop_check(session, tool, args);
 *     if the action lets it through: run the tool, then microloop_record(session, step, outcome).
 *
 * Handles are numbers; 0 is never one, and a handle that was freed is told from every later one. Functions return a
 * status (negative on failure) or, for text, how many bytes there are. Text is UTF-8 with a length, without NUL. Every
 * function may be called from any thread; calls on one session wait for each other.
 *
 * Made by capi/header.sh from the Rust source; do not edit. */


#ifndef MICROLOOP_H
#define MICROLOOP_H

#include <stddef.h>
#include <stdint.h>

// The parts of what microloop_check, microloop_turn and microloop_spend return, if it is not negative.
#define MICROLOOP_ACTION(verdict) ((int)((verdict) & 0x7f))
#define MICROLOOP_NOTED(verdict) ((int)(((verdict) >> 7) & 1))
#define MICROLOOP_STEP(verdict) ((int64_t)((verdict) >> 8))

// The parts of what microloop_observe returns, beside MICROLOOP_STEP.
#define MICROLOOP_RUN_STATUS(assessment) ((int)((assessment) & 7))
#define MICROLOOP_UNREAD(assessment) ((int)(((assessment) >> 3) & 1))
#define MICROLOOP_INTERVENTION(assessment) ((int)(((assessment) >> 4) & 7))
#define MICROLOOP_VERIFIED(assessment) ((int)(((assessment) >> 7) & 1))

#ifdef MICROLOOP_FREESTANDING
// What the host of the build without std supplies; see tests/freestanding.
// Memory of at least size bytes at a multiple of align, or NULL. Must not call back into microloop.
uint8_t *microloop_host_alloc(size_t size, size_t align);
void microloop_host_free(uint8_t *memory, size_t size, size_t align);
// Called when memory runs out. Must not return.
void microloop_host_panic(void);
#endif

// The version of this ABI. It grows when a function, a number or a struct changes its meaning or goes away; what is
// only added leaves it alone.
#define MICROLOOP_ABI_VERSION 1

// All is well.
#define MICROLOOP_OK 0

// A pointer that must not be null is null.
#define MICROLOOP_NULL_POINTER -1

// The handle is 0, was freed, is of another kind, or never came from this library.
#define MICROLOOP_STALE_HANDLE -2

// The text is not UTF-8.
#define MICROLOOP_NOT_UTF8 -3

// The text is not JSON.
#define MICROLOOP_NOT_JSON -4

// The policy document breaks the policy language.
#define MICROLOOP_INVALID_POLICY -5

// An argument of the C function itself is wrong: an unknown key, an empty tool name, a misaligned pointer.
#define MICROLOOP_INVALID_ARGUMENT -6

// The tool index was never declared with this session's policy.
#define MICROLOOP_UNKNOWN_TOOL -7

// The step was never given out, is over, or is too old to be remembered.
#define MICROLOOP_UNKNOWN_STEP -8

// A limit of the library itself: handles, or tools of one policy.
#define MICROLOOP_LIMIT -9

// A JSON Schema is asked for, and this build, without std, has none.
#define MICROLOOP_NO_SCHEMA_SUPPORT -10

// The JSON Schema does not compile, or refers to something outside itself.
#define MICROLOOP_INVALID_SCHEMA -11

// The pattern needs look-around or backreferences, which no linear-time engine has.
#define MICROLOOP_UNSUPPORTED_REGEX -12

// The host was built for another version of this ABI.
#define MICROLOOP_ABI_MISMATCH -13

// A fault of the library itself, caught at the boundary. Treat the call as the policy's `on_error` says.
#define MICROLOOP_PANIC -14

// The bytes are no saved session, or a damaged one, or one of another version of this library.
#define MICROLOOP_INVALID_SNAPSHOT -15

// The session was saved under another policy.
#define MICROLOOP_OTHER_POLICY -16

// The call runs.
#define MICROLOOP_ACTION_ALLOW 0

// The call runs; show the verdict's feedback to the model together with the result.
#define MICROLOOP_ACTION_WARN 1

// Reserved: the call runs with changed arguments.
#define MICROLOOP_ACTION_TRANSFORM 2

// A person or the host decides. If the answer is no, say so with `microloop_cancel`.
#define MICROLOOP_ACTION_ASK 3

// The call must not run; give the model the verdict's feedback in place of a result.
#define MICROLOOP_ACTION_BLOCK 4

// The call must not run, and the run must end.
#define MICROLOOP_ACTION_HALT 5

// The outcome is a result as text.
#define MICROLOOP_OUTCOME_TEXT 0

// The outcome is a result as JSON.
#define MICROLOOP_OUTCOME_JSON 1

// The outcome is an error, as text.
#define MICROLOOP_OUTCOME_ERROR 2

// A person speaks.
#define MICROLOOP_SPEAKER_USER 0

// The model speaks, without calling a tool.
#define MICROLOOP_SPEAKER_ASSISTANT 1

// The run is getting somewhere, or nothing says otherwise.
#define MICROLOOP_RUN_HEALTHY 0

// It may be going in circles.
#define MICROLOOP_RUN_WARNING 1

// It learns nothing new.
#define MICROLOOP_RUN_STALLED 2

// It has lost what it had.
#define MICROLOOP_RUN_REGRESSING 3

// What the host knows of a call besides its tool and arguments. NULL with length 0 for what it does not know.
typedef struct microloop_context {
    // The framework's id of the call. The same id again, with the same call, is the same step with the same verdict.
    const uint8_t *call_id;
    // How many bytes it has
    size_t call_id_len;
    // What the calls of one model turn have in common. An identical call in one batch is a duplicate.
    const uint8_t *batch;
    // How many bytes it has
    size_t batch_len;
} microloop_context;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The ABI version of the library that is running. Compare it with `MICROLOOP_ABI_VERSION`, or let `microloop_abi_check`
// do so.
uint32_t microloop_abi_version(void);

// `MICROLOOP_OK` if the library keeps the ABI version that the host was built for (`MICROLOOP_ABI_VERSION`), else
// `MICROLOOP_ABI_MISMATCH`. Call it first.
int32_t microloop_abi_check(uint32_t wanted);

// The library's version as text that ends with NUL and is never freed.
const char *microloop_version(void);

// Writes this thread's last failure message to `buf`, without a terminating NUL, and returns how many bytes it has.
//
// At most `cap` bytes are written; when more are returned, call again with a larger buffer (`buf` may be NULL when `cap`
// is 0). A call that succeeds leaves the message alone. Messages never contain the arguments of a tool call.
//
// # Safety
// `buf` must be valid for writes of `cap` bytes.
int64_t microloop_last_error(uint8_t *buf,
                             size_t cap);

// Reads a policy from its JSON document; `*policy` is its handle, or 0 on failure.
//
// The policy is yours; end it with `microloop_policy_free`. It may be used from any thread.
//
// # Safety
// `json` must be valid for reads of `len` bytes and `policy` for a write.
int32_t microloop_policy_new(const uint8_t *json, size_t len, uint64_t *policy);

// Frees a policy. Its handle is stale from here on; sessions that were made with it live on.
int32_t microloop_policy_free(uint64_t policy);

// Declares a tool with a policy; `*tool` is the index to check its calls with.
//
// `declaration` is a JSON object: `name`, and optionally `schema`, the JSON Schema of its arguments, which every call must
// satisfy besides what the policy itself asks for. The same declaration gives the same index; another schema for the
// same name is another tool. At most 4096 tools. Sessions that are running already may use the index at once.
//
// # Safety
// `declaration` must be valid for reads of `len` bytes and `tool` for a write.
int32_t microloop_policy_tool(uint64_t policy,
                              const uint8_t *declaration,
                              size_t len,
                              uint32_t *tool);

// Begins a session: one agent run, whose steps no other run ever sees. `*session` is its handle, or 0 on failure.
//
// `options` is NULL or a JSON object: `role` (text) for a policy with roles, `parent` (a session handle) for a sub-agent,
// whose calls and spending are charged to all its ancestors as well and whose clock starts as the parent's.
//
// The session is yours; end it with `microloop_session_free`. It keeps working when the policy is freed before it. It may
// be used from any thread; calls on one session wait for each other, calls on different sessions never do.
//
// # Safety
// `options` must be valid for reads of `len` bytes and `session` for a write.
int32_t microloop_session_new(uint64_t policy,
                              const uint8_t *options,
                              size_t len,
                              uint64_t *session);

// Ends a session and frees what it holds. Its handle is stale from here on, and so it stays.
int32_t microloop_session_free(uint64_t session);

// Says what time it is for this session, in milliseconds from any origin. From now on the host keeps this session's
// clock; it never goes back, an earlier time is ignored.
//
// Without this call the system's monotonic clock is used, except in a build without std, where the time stands at 0.
int32_t microloop_session_time(uint64_t session,
                               uint64_t now_ms);

// Writes where a session stands to `buf`, as JSON, and returns how many bytes that has: `steps`, `epoch`, `halted` (a
// reason code or null), `calls` (charged to the budget), `tokens` and `usd` (spent by the model), `refusals`, `role`.
//
// At most `cap` bytes are written; when more are returned, call again with a larger buffer.
//
// # Safety
// `buf` must be valid for writes of `cap` bytes.
int64_t microloop_session_state(uint64_t session,
                                uint8_t *buf,
                                size_t cap);

// Writes a session to `buf` as bytes that `microloop_session_load` takes, and returns how many there are.
//
// At most `cap` bytes are written; when more are returned, call again with a larger buffer. They hold digests and counts,
// the names and declarations of the tools that were called, and the verdicts that can still be asked for; never arguments or
// results. The session of a sub-agent (with a parent) cannot be saved: `MICROLOOP_INVALID_ARGUMENT`.
//
// # Safety
// `buf` must be valid for writes of `cap` bytes.
int64_t microloop_session_save(uint64_t session,
                               uint8_t *buf,
                               size_t cap);

// Begins a session where a saved one stood, also in another process. `*session` is its handle, or 0 on failure.
//
// The policy must be the one that it was saved under, in whatever spelling; another is `MICROLOOP_OTHER_POLICY`, and
// bytes that are no saved session, or damaged, or saved by another version are `MICROLOOP_INVALID_SNAPSHOT`. Begin a new
// session then. The tools that were called are declared with the policy, unless they are already.
//
// Its time goes on from the moment when it was saved: by what the wall clock says has passed since, or, where the host
// keeps the clock, with the host's next `microloop_session_time`.
//
// # Safety
// `saved` must be valid for reads of `len` bytes and `session` for a write.
int32_t microloop_session_load(uint64_t policy,
                               const uint8_t *saved,
                               size_t len,
                               uint64_t *session);

// Says whether a call may run: the heart of the matter.
//
// `args` is the JSON text of the arguments, `tool` what `microloop_policy_tool` gave, `context` may be NULL. A value of 0
// or more packs `step << 8 | noted << 7 | action`; take it apart with `MICROLOOP_STEP`, `MICROLOOP_NOTED` and
// `MICROLOOP_ACTION`. Noted means that `microloop_verdict` has more to say about this step.
//
// Arguments that are no JSON, too long, or against the schema get a verdict with the action block. A negative value is a
// status: the call was not judged, and the policy's `on_error` says what that means.
//
// When the call has run, report it with `microloop_record`.
//
// # Safety
// `args` must be valid for reads of `len` bytes; so must `context` and what it points to.
int64_t microloop_check(uint64_t session,
                        uint32_t tool,
                        const uint8_t *args,
                        size_t len,
                        const struct microloop_context *context);

// `microloop_check` for a tool that nobody declared, known by its name alone: what a model asks for that the host does not
// have, or a host that declares no tools. It takes none of the policy's places for tools.
//
// All that the policy says about tools of that name holds. A session tells 256 such names apart in all; what is counted
// by tool (errors in a row, a `limit`) is counted for all further ones, and for names above 256 bytes, together. Loops are
// found all the same, for calls are told apart by name and arguments. A tool that was declared with a schema must be
// checked by its index: here its schema is not known.
//
// # Safety
// `name` must be valid for reads of `name_len` bytes and `args` of `len`; so must `context` and what it points to.
int64_t microloop_check_named(uint64_t session,
                              const uint8_t *name,
                              size_t name_len,
                              const uint8_t *args,
                              size_t len,
                              const struct microloop_context *context);

// Takes the outcome of a step that was let through. `kind` is one of `MICROLOOP_OUTCOME_TEXT`, `_JSON` and `_ERROR`.
//
// Every step that was let through ends exactly once, here or with `microloop_cancel`; a second time is
// `MICROLOOP_UNKNOWN_STEP`.
//
// # Safety
// `outcome` must be valid for reads of `len` bytes.
int64_t microloop_record(uint64_t session,
                         uint64_t step,
                         uint32_t kind,
                         const uint8_t *outcome,
                         size_t len);

// Says that a step that was let through did not run after all: it is forgotten, and the calls after it are judged as if it
// had not been asked for.
int32_t microloop_cancel(uint64_t session,
                         uint64_t step);

// Says that the host refuses a step that was let through, for a reason of its own, such as a rule that only it can read. It
// did not run, as with `microloop_cancel`, and it counts as a refusal like the library's own: a model that gets nothing
// else is halted.
//
// Returns what `microloop_check` returns: the action is block, or halt, and then the verdict says why.
int64_t microloop_refuse(uint64_t session,
                         uint64_t step);

// Tells of a turn: `speaker` is `MICROLOOP_SPEAKER_USER` or `MICROLOOP_SPEAKER_ASSISTANT`. A user turn starts the loop
// counters anew, unless the policy says otherwise; assistant turns that are empty or repeat themselves get a verdict.
//
// Returns what `microloop_check` returns.
//
// # Safety
// `text` must be valid for reads of `len` bytes.
int64_t microloop_turn(uint64_t session,
                       uint32_t speaker,
                       const uint8_t *text,
                       size_t len);

// Tells what the model has spent since the last report: tokens, and billionths of a dollar. It is charged to this session
// and to all its ancestors. A budget that is spent to the end halts the run; before that, from `wrap_up` of the policy on,
// tools are refused by `microloop_check`, so that what is left is for the answer.
//
// Returns what `microloop_check` returns.
int64_t microloop_spend(uint64_t session,
                        uint64_t tokens,
                        uint64_t nano_usd);

// Writes the whole verdict on a step to `buf`, as JSON, and returns how many bytes that has: `step`, `tool`, `action`,
// `would` (in observe mode), `reason`, `rule`, `limit`, `seen`, `evidence` (step numbers), `feedback` (text for the model).
//
// At most `cap` bytes are written; when more are returned, call again with a larger buffer. The verdicts of the last 64
// noted steps are kept; any other step is `MICROLOOP_UNKNOWN_STEP`.
//
// # Safety
// `buf` must be valid for writes of `cap` bytes.
int64_t microloop_verdict(uint64_t session,
                          uint64_t step,
                          uint8_t *buf,
                          size_t cap);

// Takes a step that has run already, and says where the run stands now. The session's policy must be in observe mode:
// nothing can be refused any more.
//
// `tool` and `args` are those of `microloop_check`, `kind` and `outcome` those of `microloop_record`. Arguments that are no
// JSON are taken for a text. A value of 0 or more packs `step << 8 | verified << 7 | intervention << 4 | unread << 3 |
// status`; take it apart with `MICROLOOP_STEP`, `MICROLOOP_VERIFIED`, `MICROLOOP_INTERVENTION` (0 observe, 1 replan, 2
// stop), `MICROLOOP_UNREAD` and `MICROLOOP_RUN_STATUS`.
//
// # Safety
// `args` must be valid for reads of `len` bytes and `outcome` of `outcome_len`.
int64_t microloop_observe(uint64_t session,
                          uint32_t tool,
                          const uint8_t *args,
                          size_t len,
                          uint32_t kind,
                          const uint8_t *outcome,
                          size_t outcome_len);

// `microloop_observe`, with what else the host knows of the step: `told` is NULL or a JSON object with any of
//
// - `state`: what the world looks like after the step, any value;
// - `metrics`: `failures` (how many things fail), `exit_code`, `success`, `score` (more is better); other numbers belong to
//   the state, unless their names tell of costs;
// - `metadata`: `verifier` (the check that was run: its readings are compared with each other), `verification_id` (this very
//   run of it: told twice, it is one reading), `error` (the step failed, and how).
//
// What cannot be read is left out, and `MICROLOOP_UNREAD` of the value is 1. What is no JSON at all is `MICROLOOP_NOT_JSON`,
// and the step was not taken.
//
// # Safety
// `args` must be valid for reads of `len` bytes, `outcome` of `outcome_len` and `told` of `told_len`.
int64_t microloop_observe_measured(uint64_t session,
                                   uint32_t tool,
                                   const uint8_t *args,
                                   size_t len,
                                   uint32_t kind,
                                   const uint8_t *outcome,
                                   size_t outcome_len,
                                   const uint8_t *told,
                                   size_t told_len);

// `microloop_record`, with what else the host knows of the step: `told` is that of `microloop_observe_measured`.
//
// # Safety
// `outcome` must be valid for reads of `len` bytes, and `told` of `told_len`.
int64_t microloop_record_measured(uint64_t session,
                                  uint64_t step,
                                  uint32_t kind,
                                  const uint8_t *outcome,
                                  size_t len,
                                  const uint8_t *told,
                                  size_t told_len);

// Writes where the run stood after a step to `buf`, as JSON, and returns how many bytes that has: `step`, `status`,
// `intervention`, `verified_progress`, `evidence` (each with `reason`, `steps` and `why`), `feedback` (text for the model).
// Step 0 is the latest. Works for every session, whatever its policy's mode.
//
// At most `cap` bytes are written; when more are returned, call again with a larger buffer. The last 64 steps that were
// not healthy, or that a check called better than ever, are kept; any other step is `MICROLOOP_UNKNOWN_STEP`.
//
// # Safety
// `buf` must be valid for writes of `cap` bytes.
int64_t microloop_progress(uint64_t session,
                           uint64_t step,
                           uint8_t *buf,
                           size_t cap);

// Writes the canonical text (RFC 8785) of a JSON text to `buf` and returns how many bytes it has.
//
// At most `cap` bytes are written; when more are returned, call again with a larger buffer. What the guard itself refuses
// is refused here too: keys that come twice, integers beyond 64 bits, nesting beyond 127 levels, lone surrogates.
//
// # Safety
// `json` must be valid for reads of `len` bytes and `buf` for writes of `cap` bytes.
int64_t microloop_canonical(const uint8_t *json,
                            size_t len,
                            uint8_t *buf,
                            size_t cap);

// `MICROLOOP_OK` if a rule may have this regular expression, `MICROLOOP_UNSUPPORTED_REGEX` if it needs look-around or
// backreferences, which no linear-time engine has, and `MICROLOOP_INVALID_ARGUMENT` if it is none at all.
//
// # Safety
// `pattern` must be valid for reads of `len` bytes.
int32_t microloop_regex_check(const uint8_t *pattern,
                              size_t len);

// Takes what `microloop_check` takes, does nothing, and returns 0: the floor under every measurement from another
// language.
//
// # Safety
// Nothing is read, so there is nothing to promise.
int64_t microloop_noop(uint64_t session,
                       uint32_t tool,
                       const uint8_t *args,
                       size_t len,
                       const struct microloop_context *context);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MICROLOOP_H */
