package microloop_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/microloop/microloop"
)

const shared = "../../../tests"

// trace is a run and what the guard must say about it; tests/traces/README.md says what the keys mean.
type trace struct {
	Name      string
	Policy    json.RawMessage
	Tools     map[string]struct{ Schema json.RawMessage }
	Role      string
	NoticedBy int `json:"noticed_by"`
	StoppedBy int `json:"stopped_by"`
	Never     string
	Steps     []step
}

type step struct {
	Tool      string
	Args      json.RawMessage
	Result    json.RawMessage
	Error     *string
	CallID    string `json:"call_id"`
	Batch     string
	At        *uint64
	User      *string
	Assistant *string
	Spend     *struct {
		Tokens uint64
		USD    float64
	}
	Expect json.RawMessage
	Reason string
	Status microloop.Standing
}

func TestTheSharedTracesGetTheVerdictsThatTheyExpect(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared, "traces", "*.json"))
	equal(t, "the error", err, nil)
	played := 0
	for _, file := range files {
		var traces []trace
		parse(t, read(t, file), &traces)
		for _, trace := range traces {
			t.Run(filepath.Base(file)+"/"+trace.Name, func(t *testing.T) { newPlayer(t, trace).play(trace) })
			played++
		}
	}
	equal(t, "more than 100 traces were found", played > 100, true)
}

// player plays one trace.
type player struct {
	t       *testing.T
	policy  *microloop.Policy
	session *microloop.Session
	schemas map[string]json.RawMessage
	steps   uint64             // the highest step so far
	calls   []microloop.Action // what each call was answered with
	all     []microloop.Action // the same with assistant turns
}

func newPlayer(t *testing.T, trace trace) *player {
	policy := newPolicy(t, string(read(t, filepath.Join(shared, "policies", policyName(t, trace)+".json"))))
	session := newSession(t, policy, microloop.Options{Role: trace.Role})
	schemas := map[string]json.RawMessage{}
	for name, tool := range trace.Tools {
		schemas[name] = tool.Schema
	}
	return &player{t: t, policy: policy, session: session, schemas: schemas}
}

// policyName is that of the resolved document: a policy is given by name, or has one.
func policyName(t *testing.T, trace trace) string {
	var own struct{ Name string }
	if trace.Policy[0] == '{' {
		parse(t, trace.Policy, &own)
		return own.Name
	}
	return textOf(t, trace.Policy)
}

func (p *player) play(trace trace) {
	p.at(0)
	for _, step := range trace.Steps {
		if step.At != nil {
			p.at(*step.At)
		}
		p.step(step)
		p.standing(step)
	}
	p.inTime("noticed", trace.NoticedBy, speaks)
	p.inTime("stopped", trace.StoppedBy, stops)
	equal(p.t, "stopped, where it never may be", trace.Never == "stop" && slices.ContainsFunc(p.all, stops), false)
	equal(p.t, "noticed, where it never may be", trace.Never == "notice" && slices.ContainsFunc(p.all, speaks), false)
}

func (p *player) step(step step) {
	switch {
	case step.User != nil:
		equal(p.t, "the error", p.session.UserTurn(), nil)
	case step.Assistant != nil:
		verdict, err := p.session.AssistantTurn(*step.Assistant)
		equal(p.t, "the error", err, nil)
		p.judge(step, verdict)
	case step.Spend != nil:
		verdict, err := p.session.Spend(step.Spend.Tokens, uint64(math.Round(step.Spend.USD*1e9)))
		equal(p.t, "the error", err, nil)
		p.judge(step, verdict)
	default:
		p.call(step)
	}
}

func (p *player) standing(step step) {
	p.t.Helper()
	progress, err := p.session.Progress()
	equal(p.t, "the error", err, nil)
	if step.Status != "" && step.Status != progress.Status {
		p.t.Errorf("step %d: expected the run to be %s, seen %s", progress.Step, step.Status, progress.Status)
	}
}

func (p *player) at(milliseconds uint64) {
	equal(p.t, "the error", p.session.SetTime(milliseconds), nil)
}

func (p *player) call(step step) {
	tool := declare(p.t, p.policy, step.Tool, p.schemas[step.Tool])
	call := microloop.Call{Tool: tool, Args: textOf(p.t, step.Args), ID: step.CallID, Batch: step.Batch}
	verdict := check(p.t, p.session, call)
	// A call id that was seen before is answered with the earlier step, whose outcome is known.
	if !stops(verdict.Action) && verdict.Step > p.steps {
		record(p.t, p.session, verdict, outcomeOf(p.t, step))
	}
	p.calls = append(p.calls, verdict.Action)
	p.judge(step, verdict)
}

func (p *player) judge(step step, verdict microloop.Verdict) {
	p.t.Helper()
	p.steps = max(p.steps, verdict.Step)
	p.all = append(p.all, verdict.Action)
	if expected := actions(p.t, step.Expect); len(expected) > 0 && !slices.Contains(expected, verdict.Action) {
		p.t.Errorf("step %d: expected %v, seen %s (%s)", len(p.all), expected, verdict.Action, verdict.Reason)
	}
	if step.Reason != "" && step.Reason != verdict.Reason {
		p.t.Errorf("step %d: expected the reason %s, seen %s", len(p.all), step.Reason, verdict.Reason)
	}
}

func (p *player) inTime(what string, by int, meant func(microloop.Action) bool) {
	p.t.Helper()
	if first := slices.IndexFunc(p.calls, meant) + 1; by != 0 && (first == 0 || first > by) {
		p.t.Errorf("expected to be %s by call %d, seen at call %d", what, by, first)
	}
}

func speaks(action microloop.Action) bool {
	return action != microloop.Allow
}

func stops(action microloop.Action) bool {
	return action == microloop.Block || action == microloop.Halt
}

func outcomeOf(t *testing.T, step step) microloop.Outcome {
	switch {
	case step.Error != nil:
		return microloop.Failure(*step.Error)
	case len(step.Result) == 0:
		return microloop.JSON([]byte("null"))
	case step.Result[0] == '"':
		return microloop.Text(textOf(t, step.Result))
	default:
		return microloop.JSON(step.Result)
	}
}

// actions is one action or a list of them.
func actions(t *testing.T, expect json.RawMessage) []microloop.Action {
	if len(expect) == 0 {
		return nil
	}
	if expect[0] == '"' {
		return []microloop.Action{microloop.Action(textOf(t, expect))}
	}
	var several []microloop.Action
	parse(t, expect, &several)
	return several
}

// textOf is the text itself of a JSON text, and everything else as JSON.
func textOf(t *testing.T, value json.RawMessage) string {
	if len(value) == 0 || value[0] != '"' {
		return string(value)
	}
	var text string
	parse(t, value, &text)
	return text
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func parse(t *testing.T, document []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(document, into); err != nil {
		t.Fatal(err)
	}
}
