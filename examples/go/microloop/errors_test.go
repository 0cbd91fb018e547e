package microloop_test

import (
	"strings"
	"testing"

	"example.com/microloop/microloop"
)

func TestABadPolicyIsRefusedWithTheReason(t *testing.T) {
	for document, status := range map[string]microloop.Status{
		``:                                     microloop.ErrNotJSON,
		`{"version": 1`:                        microloop.ErrNotJSON,
		`{"version": 1, "lops": {}}`:           microloop.ErrInvalidPolicy,
		"{\"version\": 1, \"name\": \"\xff\"}": microloop.ErrNotUTF8,
	} {
		_, err := microloop.NewPolicy([]byte(document))
		wants(t, err, status)
	}
	_, err := microloop.NewPolicy([]byte(`{"version": 1, "lops": {}}`))
	equal(t, "the message names the key", strings.Contains(err.Error(), "lops"), true)
}

func TestABadToolIsRefused(t *testing.T) {
	policy := newPolicy(t, loops)
	_, err := policy.Tool("", nil)
	wants(t, err, microloop.ErrInvalidArgument)
	_, err = policy.Tool("search", []byte(`{"type": "objekt"}`))
	wants(t, err, microloop.ErrInvalidSchema)
	_, err = policy.Tool("search", []byte(`{"type": `))
	equal(t, "a schema that is no JSON fails", err != nil, true)
}

func TestAClosedSessionAnswersNothing(t *testing.T) {
	session, tool := search(t)
	verdict := check(t, session, microloop.Call{Tool: tool, Args: cats})
	equal(t, "the error", session.Close(), nil)
	_, err := session.Check(microloop.Call{Tool: tool, Args: cats})
	wants(t, err, microloop.ErrStaleHandle)
	_, err = session.State()
	wants(t, err, microloop.ErrStaleHandle)
	wants(t, session.Record(verdict, microloop.Text("late")), microloop.ErrStaleHandle)
	wants(t, session.Close(), microloop.ErrStaleHandle)
}

func TestASessionOutlivesItsPolicyAndAClosedPolicyBeginsNone(t *testing.T) {
	policy := newPolicy(t, loops)
	session, tool := newSession(t, policy, microloop.Options{}), declare(t, policy, "search", nil)
	equal(t, "the error", policy.Close(), nil)
	equal(t, "the action", check(t, session, microloop.Call{Tool: tool, Args: cats}).Action, microloop.Allow)
	_, err := policy.NewSession(microloop.Options{})
	wants(t, err, microloop.ErrStaleHandle)
	_, err = policy.Tool("other", nil)
	wants(t, err, microloop.ErrStaleHandle)
}

func TestAStepEndsOnce(t *testing.T) {
	session, tool := search(t)
	verdict := check(t, session, microloop.Call{Tool: tool, Args: cats})
	record(t, session, verdict, microloop.Text("none"))
	wants(t, session.Record(verdict, microloop.Text("none")), microloop.ErrUnknownStep)
	wants(t, session.Cancel(verdict), microloop.ErrUnknownStep)
}

func TestAToolOfAnotherPolicyIsUnknown(t *testing.T) {
	session, _ := search(t)
	other := newPolicy(t, loops)
	declare(t, other, "first", nil)
	_, err := session.Check(microloop.Call{Tool: declare(t, other, "second", nil), Args: `{}`})
	wants(t, err, microloop.ErrUnknownTool)
}
