package microloop

// #include "microloop.h"
import "C"

import "encoding/json"

// Outcome is what came of a call that was let through.
type Outcome struct {
	kind C.uint32_t
	text string
}

// Text is a result that is a text.
func Text(result string) Outcome {
	return Outcome{kind: C.MICROLOOP_OUTCOME_TEXT, text: result}
}

// JSON is a result that is a JSON document.
func JSON(result json.RawMessage) Outcome {
	return Outcome{kind: C.MICROLOOP_OUTCOME_JSON, text: string(result)}
}

// Failure is a call that ended with an error.
func Failure(message string) Outcome {
	return Outcome{kind: C.MICROLOOP_OUTCOME_ERROR, text: message}
}
