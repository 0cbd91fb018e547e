package microloop

import (
	"encoding/json"
	"runtime"
)

// Policy is what a guard is to do, and the tools that it knows.
type Policy struct {
	handle *owned
}

// Tool is a tool that was declared with a policy. It is good for the sessions of that policy. One that nobody declared, what
// the model asks for and the host does not have, is Tool{Name: name}.
type Tool struct {
	Name     string
	index    uint32
	declared bool
}

// NewPolicy reads a policy document: JSON, with nothing left to extend.
func NewPolicy(document []byte) (*Policy, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	handle, err := newPolicy(string(document))
	if err != nil {
		return nil, err
	}
	return &Policy{own(handle, freePolicy)}, nil
}

// Tool declares a tool. The schema is the JSON Schema of its arguments, or nil.
func (p *Policy) Tool(name string, schema json.RawMessage) (Tool, error) {
	defer runtime.KeepAlive(p.handle)
	declaration, err := json.Marshal(struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema,omitempty"`
	}{name, schema})
	if err != nil {
		return Tool{}, err
	}
	index, err := declare(p.handle.number, string(declaration))
	return Tool{name, index, err == nil}, err
}

// Close frees the policy. Its sessions live on.
func (p *Policy) Close() error {
	return p.handle.close()
}
