package microloop_test

import (
	"encoding/json"
	"errors"
	"testing"

	"example.com/microloop/microloop"
)

const (
	loops  = `{"version": 1, "loops": {"repeat": {"warn": 2, "block": 3, "halt": 4}}, "tools": [{"match": "search", "effect": "read"}]}`
	schema = `{"type": "object", "required": ["query"], "properties": {"query": {"type": "string"}}}`
	cats   = `{"query": "cats"}`
)

func newPolicy(t *testing.T, document string) *microloop.Policy {
	t.Helper()
	policy, err := microloop.NewPolicy([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = policy.Close() }) // a test may have closed it
	return policy
}

func newSession(t *testing.T, policy *microloop.Policy, options microloop.Options) *microloop.Session {
	t.Helper()
	session, err := policy.NewSession(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // a test may have closed it
	return session
}

func declare(t *testing.T, policy *microloop.Policy, name string, schema json.RawMessage) microloop.Tool {
	t.Helper()
	tool, err := policy.Tool(name, schema)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// search is a session with one tool.
func search(t *testing.T) (*microloop.Session, microloop.Tool) {
	t.Helper()
	policy := newPolicy(t, loops)
	return newSession(t, policy, microloop.Options{}), declare(t, policy, "search", []byte(schema))
}

func check(t *testing.T, session *microloop.Session, call microloop.Call) microloop.Verdict {
	t.Helper()
	verdict, err := session.Check(call)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func record(t *testing.T, session *microloop.Session, verdict microloop.Verdict, outcome microloop.Outcome) {
	t.Helper()
	if err := session.Record(verdict, outcome); err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, err error, status microloop.Status) {
	t.Helper()
	var told *microloop.Error
	if !errors.Is(err, status) || !errors.As(err, &told) || told.Message == "" {
		t.Errorf("want %v with a message, got %v", status, err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
