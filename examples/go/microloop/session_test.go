package microloop_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/microloop/microloop"
)

func TestALoopIsAdvisedThenRefusedThenHalted(t *testing.T) {
	session, tool := search(t)
	for n, want := range []microloop.Action{microloop.Allow, microloop.Warn, microloop.Block, microloop.Halt} {
		verdict := check(t, session, microloop.Call{Tool: tool, Args: cats})
		equal(t, "the action", verdict.Action, want)
		equal(t, "the step", verdict.Step, uint64(n+1))
		if verdict.Allowed() {
			record(t, session, verdict, microloop.Text("nothing found"))
		}
	}
	state, err := session.State()
	equal(t, "the error", err, nil)
	equal(t, "the halt", state.Halted, "loop.repeat")
}

func TestAVerdictSaysWhatWasCountedAndWhatToTellTheModel(t *testing.T) {
	session, tool := search(t)
	for range 2 {
		record(t, session, check(t, session, microloop.Call{Tool: tool, Args: cats}), microloop.Text("none"))
	}
	verdict := check(t, session, microloop.Call{Tool: tool, Args: `{"query":"c\u0061ts"}`})
	equal(t, "the reason", verdict.Reason, "loop.repeat")
	equal(t, "the rule", verdict.Rule, "loops.repeat")
	equal(t, "the tool", verdict.Tool, "search")
	equal(t, "the limit", verdict.Limit, 3)
	equal(t, "what was seen", verdict.Seen, 3)
	equal(t, "the evidence is steps 1 and 2", slices.Equal(verdict.Evidence, []uint64{1, 2}), true)
	equal(t, "the feedback names the tool", strings.Contains(verdict.Feedback, "search was refused"), true)
}

func TestArgumentsAgainstTheSchemaAreRefusedAndNoErrors(t *testing.T) {
	session, tool := search(t)
	for args, reason := range map[string]string{`{}`: "args.schema", `{"query": 7}`: "args.schema", ``: "args.malformed"} {
		verdict := check(t, session, microloop.Call{Tool: tool, Args: args})
		equal(t, "the action", verdict.Action, microloop.Block)
		equal(t, "the reason", verdict.Reason, reason)
	}
}

func TestAToolThatNobodyDeclaredIsCheckedByItsName(t *testing.T) {
	session, _ := search(t)
	for _, want := range []microloop.Action{microloop.Allow, microloop.Warn, microloop.Block} {
		verdict := check(t, session, microloop.Call{Tool: microloop.Tool{Name: "search"}, Args: "{}"})
		equal(t, "the action", verdict.Action, want)
		equal(t, "the tool", verdict.Tool, "search")
		if verdict.Allowed() {
			record(t, session, verdict, microloop.Text("nothing found"))
		}
	}
	_, err := session.Check(microloop.Call{Args: "{}"})
	equal(t, "a call without a tool is an error", errors.Is(err, microloop.ErrInvalidArgument), true)
}

func TestACancelledCallIsForgotten(t *testing.T) {
	session, tool := search(t)
	for range 5 {
		verdict := check(t, session, microloop.Call{Tool: tool, Args: cats})
		equal(t, "the action", verdict.Action, microloop.Allow)
		equal(t, "the error", session.Cancel(verdict), nil)
	}
}

func TestTheSameCallIDIsTheSameStepAndTwinsInABatchAreTold(t *testing.T) {
	session, tool := search(t)
	first := check(t, session, microloop.Call{Tool: tool, Args: cats, ID: "a", Batch: "turn 1"})
	again := check(t, session, microloop.Call{Tool: tool, Args: cats, ID: "a", Batch: "turn 1"})
	twin := check(t, session, microloop.Call{Tool: tool, Args: cats, ID: "b", Batch: "turn 1"})
	equal(t, "the step asked for again", again.Step, first.Step)
	equal(t, "the reason for the twin", twin.Reason, "call.duplicate")
}

func TestAUserTurnStartsAnewAndRepeatedSpeechIsNoticed(t *testing.T) {
	policy := newPolicy(t, `{"version": 1, "loops": {"scope": "turn", "repeat": {"warn": 2}, "text": {"warn": 2}}}`)
	session, tool := newSession(t, policy, microloop.Options{}), declare(t, policy, "search", nil)
	for range 3 {
		verdict := check(t, session, microloop.Call{Tool: tool, Args: cats})
		equal(t, "the action", verdict.Action, microloop.Allow)
		record(t, session, verdict, microloop.JSON([]byte(`{"found": 0}`)))
		equal(t, "the error", session.UserTurn(), nil)
	}
	var said microloop.Verdict
	for range 2 {
		said, _ = session.AssistantTurn("I will look into it.")
	}
	equal(t, "the action", said.Action, microloop.Warn)
}

func TestAChildIsChargedToItsParent(t *testing.T) {
	policy := newPolicy(t, `{"version": 1, "budgets": {"calls": 1}}`)
	tool := declare(t, policy, "search", nil)
	parent := newSession(t, policy, microloop.Options{})
	child := newSession(t, policy, microloop.Options{Parent: parent})
	record(t, child, check(t, child, microloop.Call{Tool: tool, Args: cats}), microloop.Text("ok"))
	verdict := check(t, parent, microloop.Call{Tool: tool, Args: `{}`})
	equal(t, "the call of the parent may run", verdict.Allowed(), false)
}

func TestSpendingIsCountedAndHaltsAtItsEnd(t *testing.T) {
	session := newSession(t, newPolicy(t, `{"version": 1, "budgets": {"usd": 0.5}}`), microloop.Options{})
	first, err := session.Spend(1200, 250_000_000)
	equal(t, "the error", err, nil)
	equal(t, "the first action", first.Action, microloop.Allow)
	last, err := session.Spend(0, 250_000_000)
	equal(t, "the error", err, nil)
	equal(t, "the last reason", last.Reason, "budget.usd")
	state, err := session.State()
	equal(t, "the error", err, nil)
	equal(t, "the tokens", state.Tokens, 1200)
	equal(t, "the dollars", state.USD, 0.5)
}

func TestATextThatIsLongerThanTheFirstBufferIsWhole(t *testing.T) {
	role := strings.Repeat("rôle ", 2000)
	session := newSession(t, newPolicy(t, `{"version": 1}`), microloop.Options{Role: role})
	state, err := session.State()
	equal(t, "the error", err, nil)
	equal(t, "the role", state.Role, role)
}
