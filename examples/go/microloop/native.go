package microloop

/*
#cgo CFLAGS: -I${SRCDIR}/../../../libmicroloop/capi/include
#cgo LDFLAGS: -lpthread -ldl -lm

#include "microloop.h"

// Go texts go over as they are: the library reads them during the call and keeps nothing.
#define BYTES(text) (const uint8_t *)_GoStringPtr(text), _GoStringLen(text)

static inline int32_t policy_new(_GoString_ json, uint64_t *policy) {
	return microloop_policy_new(BYTES(json), policy);
}

static inline int32_t policy_tool(uint64_t policy, _GoString_ declaration, uint32_t *tool) {
	return microloop_policy_tool(policy, BYTES(declaration), tool);
}

static inline int32_t session_new(uint64_t policy, _GoString_ options, uint64_t *session) {
	return microloop_session_new(policy, BYTES(options), session);
}

// The context is made here, because Go may not pass memory that points to more of Go's memory.
static inline int64_t check(uint64_t session, uint32_t tool, _GoString_ args, _GoString_ call_id, _GoString_ batch) {
	microloop_context context = {BYTES(call_id), BYTES(batch)};
	return microloop_check(session, tool, BYTES(args), &context);
}

static inline int64_t check_named(uint64_t session, _GoString_ name, _GoString_ args, _GoString_ call_id,
								  _GoString_ batch) {
	microloop_context context = {BYTES(call_id), BYTES(batch)};
	return microloop_check_named(session, BYTES(name), BYTES(args), &context);
}

static inline int64_t record(uint64_t session, uint64_t step, uint32_t kind, _GoString_ outcome) {
	return microloop_record(session, step, kind, BYTES(outcome));
}

static inline int64_t turn(uint64_t session, uint32_t speaker, _GoString_ text) {
	return microloop_turn(session, speaker, BYTES(text));
}
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// enough takes nearly every text of the library at the first attempt.
const enough = 2048

// attempt runs one function of the library. The message of a failure belongs to the thread, so both are on one thread.
func attempt(function func() int64) (int64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	result := function()
	if result < 0 {
		return 0, &Error{Status: Status(result), Message: lastError()}
	}
	return result, nil
}

func lastError() string {
	buffer := make([]byte, enough)
	for {
		size := int(C.microloop_last_error(place(buffer), C.size_t(len(buffer))))
		if size <= len(buffer) {
			return string(buffer[:size])
		}
		buffer = make([]byte, size)
	}
}

// text reads what a function writes, with a larger buffer if it says that there is more.
func text(write func(buffer *C.uint8_t, size C.size_t) C.int64_t) ([]byte, error) {
	buffer := make([]byte, enough)
	for {
		size, err := attempt(func() int64 { return int64(write(place(buffer), C.size_t(len(buffer)))) })
		if err != nil {
			return nil, err
		}
		if size <= int64(len(buffer)) {
			return buffer[:size], nil
		}
		buffer = make([]byte, size)
	}
}

func place(buffer []byte) *C.uint8_t {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(buffer)))
}

func checkABI() error {
	_, err := attempt(func() int64 { return int64(C.microloop_abi_check(C.MICROLOOP_ABI_VERSION)) })
	return err
}

func newPolicy(document string) (uint64, error) {
	var handle C.uint64_t
	_, err := attempt(func() int64 { return int64(C.policy_new(document, &handle)) })
	return uint64(handle), err
}

func freePolicy(handle uint64) error {
	_, err := attempt(func() int64 { return int64(C.microloop_policy_free(C.uint64_t(handle))) })
	return err
}

func declare(policy uint64, declaration string) (uint32, error) {
	var index C.uint32_t
	_, err := attempt(func() int64 { return int64(C.policy_tool(C.uint64_t(policy), declaration, &index)) })
	return uint32(index), err
}

func newSession(policy uint64, options string) (uint64, error) {
	var handle C.uint64_t
	_, err := attempt(func() int64 { return int64(C.session_new(C.uint64_t(policy), options, &handle)) })
	return uint64(handle), err
}

func freeSession(handle uint64) error {
	_, err := attempt(func() int64 { return int64(C.microloop_session_free(C.uint64_t(handle))) })
	return err
}

func setTime(session, milliseconds uint64) error {
	_, err := attempt(func() int64 {
		return int64(C.microloop_session_time(C.uint64_t(session), C.uint64_t(milliseconds)))
	})
	return err
}

func stateOf(session uint64) ([]byte, error) {
	return text(func(buffer *C.uint8_t, size C.size_t) C.int64_t {
		return C.microloop_session_state(C.uint64_t(session), buffer, size)
	})
}

// latest is the number that stands for the newest step.
const latest = 0

func progressOf(session uint64) ([]byte, error) {
	return text(func(buffer *C.uint8_t, size C.size_t) C.int64_t {
		return C.microloop_progress(C.uint64_t(session), latest, buffer, size)
	})
}

func check(session uint64, call Call) (int64, error) {
	return attempt(func() int64 {
		if !call.Tool.declared {
			return int64(C.check_named(C.uint64_t(session), call.Tool.Name, call.Args, call.ID, call.Batch))
		}
		return int64(C.check(C.uint64_t(session), C.uint32_t(call.Tool.index), call.Args, call.ID, call.Batch))
	})
}

func record(session, step uint64, outcome Outcome) error {
	_, err := attempt(func() int64 {
		return int64(C.record(C.uint64_t(session), C.uint64_t(step), outcome.kind, outcome.text))
	})
	return err
}

func cancel(session, step uint64) error {
	_, err := attempt(func() int64 { return int64(C.microloop_cancel(C.uint64_t(session), C.uint64_t(step))) })
	return err
}

func turn(session uint64, speaker C.uint32_t, said string) (int64, error) {
	return attempt(func() int64 { return int64(C.turn(C.uint64_t(session), speaker, said)) })
}

func spend(session, tokens, nanoUSD uint64) (int64, error) {
	return attempt(func() int64 {
		return int64(C.microloop_spend(C.uint64_t(session), C.uint64_t(tokens), C.uint64_t(nanoUSD)))
	})
}

func verdictOn(session, step uint64) ([]byte, error) {
	return text(func(buffer *C.uint8_t, size C.size_t) C.int64_t {
		return C.microloop_verdict(C.uint64_t(session), C.uint64_t(step), buffer, size)
	})
}
