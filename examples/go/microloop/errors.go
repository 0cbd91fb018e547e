package microloop

// #include "microloop.h"
import "C"

import "fmt"

// Status is the kind of a failure. It is an error itself, for [errors.Is].
type Status int

// The statuses of the C ABI that a Go program can meet.
const (
	ErrStaleHandle      Status = C.MICROLOOP_STALE_HANDLE
	ErrNotUTF8          Status = C.MICROLOOP_NOT_UTF8
	ErrNotJSON          Status = C.MICROLOOP_NOT_JSON
	ErrInvalidPolicy    Status = C.MICROLOOP_INVALID_POLICY
	ErrInvalidArgument  Status = C.MICROLOOP_INVALID_ARGUMENT
	ErrUnknownTool      Status = C.MICROLOOP_UNKNOWN_TOOL
	ErrUnknownStep      Status = C.MICROLOOP_UNKNOWN_STEP
	ErrLimit            Status = C.MICROLOOP_LIMIT
	ErrNoSchemaSupport  Status = C.MICROLOOP_NO_SCHEMA_SUPPORT
	ErrInvalidSchema    Status = C.MICROLOOP_INVALID_SCHEMA
	ErrUnsupportedRegex Status = C.MICROLOOP_UNSUPPORTED_REGEX
	ErrABIMismatch      Status = C.MICROLOOP_ABI_MISMATCH
	ErrPanic            Status = C.MICROLOOP_PANIC
)

func (s Status) Error() string {
	return fmt.Sprintf("microloop: status %d", int(s))
}

// Error is a failure of the library. It is no verdict: a call that it meets was not judged, and the policy's on_error
// says what that means.
type Error struct {
	Status  Status
	Message string
}

func (e *Error) Error() string {
	return "microloop: " + e.Message
}

// Unwrap makes errors.Is(err, [ErrStaleHandle]) and its like work.
func (e *Error) Unwrap() error {
	return e.Status
}
