package microloop

// #include "microloop.h"
import "C"

import (
	"encoding/json"
	"runtime"
	"sync"
)

// Session is one run of one agent, whose steps no other run ever sees.
type Session struct {
	// The library makes calls on one session wait for each other. This also keeps a verdict from being pushed out by those
	// of other goroutines before it is read, and the session from being collected before the call is over.
	mutex  sync.Mutex
	handle *owned
}

// Options are what a session may begin with. The zero value is a plain session.
type Options struct {
	Role   string   // for a policy with roles
	Parent *Session // whose budgets the calls of this one are charged to as well
}

// Call is a call that the agent is about to make.
type Call struct {
	Tool  Tool
	Args  string // the JSON text, best as the model wrote it
	ID    string // the framework's id, if there is one: the same id is the same call
	Batch string // what the calls of one model turn have in common, if anything
}

// State is where a session stands.
type State struct {
	Steps    uint64  `json:"steps"`
	Epoch    uint32  `json:"epoch"`
	Halted   string  `json:"halted"` // a reason code, or empty
	Calls    uint64  `json:"calls"`
	Tokens   uint64  `json:"tokens"`
	USD      float64 `json:"usd"`
	Refusals uint64  `json:"refusals"`
	Role     string  `json:"role"`
}

// NewSession begins a session.
func (p *Policy) NewSession(options Options) (*Session, error) {
	defer runtime.KeepAlive(p.handle)
	document, err := options.document()
	if err != nil {
		return nil, err
	}
	handle, err := newSession(p.handle.number, document)
	runtime.KeepAlive(options.Parent)
	if err != nil {
		return nil, err
	}
	return &Session{handle: own(handle, freeSession)}, nil
}

func (o Options) document() (string, error) {
	var parent uint64
	if o.Parent != nil {
		parent = o.Parent.handle.number
	}
	document, err := json.Marshal(struct {
		Role   string `json:"role,omitempty"`
		Parent uint64 `json:"parent,omitempty"`
	}{o.Role, parent})
	return string(document), err
}

// Check says whether a call may run.
func (s *Session) Check(call Call) (Verdict, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	packed, err := check(s.handle.number, call)
	if err != nil {
		return Verdict{}, err
	}
	return s.unpack(packed, call.Tool.Name)
}

// Record takes the outcome of a call that was let through, exactly once.
func (s *Session) Record(verdict Verdict, outcome Outcome) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return record(s.handle.number, verdict.Step, outcome)
}

// Cancel says that a call that was let through did not run after all.
func (s *Session) Cancel(verdict Verdict) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return cancel(s.handle.number, verdict.Step)
}

// UserTurn says that a person spoke: counters start anew, unless the policy says otherwise.
func (s *Session) UserTurn() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, err := turn(s.handle.number, C.MICROLOOP_SPEAKER_USER, "")
	return err
}

// AssistantTurn judges what the model said without calling a tool.
func (s *Session) AssistantTurn(said string) (Verdict, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	packed, err := turn(s.handle.number, C.MICROLOOP_SPEAKER_ASSISTANT, said)
	if err != nil {
		return Verdict{}, err
	}
	return s.unpack(packed, "")
}

// Spend says what the model has spent since the last report: tokens, and billionths of a dollar.
func (s *Session) Spend(tokens, nanoUSD uint64) (Verdict, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	packed, err := spend(s.handle.number, tokens, nanoUSD)
	if err != nil {
		return Verdict{}, err
	}
	return s.unpack(packed, "")
}

// SetTime puts the session's clock where a replay needs it. From now on it stands still between two calls of SetTime.
func (s *Session) SetTime(milliseconds uint64) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return setTime(s.handle.number, milliseconds)
}

// State says where the session stands.
func (s *Session) State() (State, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var state State
	document, err := stateOf(s.handle.number)
	if err != nil {
		return state, err
	}
	err = json.Unmarshal(document, &state)
	return state, err
}

// Close ends the session and frees what it holds. Every later use is an [ErrStaleHandle].
func (s *Session) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.handle.close()
}

// unpack reads the whole verdict, unless there is nothing to say but that the call is allowed.
func (s *Session) unpack(packed int64, tool string) (Verdict, error) {
	verdict := Verdict{Step: uint64(packed >> 8), Tool: tool, Action: Allow, Reason: "none"}
	if packed&0xff == 0 {
		return verdict, nil
	}
	document, err := verdictOn(s.handle.number, verdict.Step)
	if err != nil {
		return Verdict{}, err
	}
	err = json.Unmarshal(document, &verdict)
	return verdict, err
}
