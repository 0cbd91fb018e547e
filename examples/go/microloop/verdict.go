package microloop

// Action is what happens to a call, mildest first.
type Action string

// The actions. An Ask waits for somebody's answer; Cancel says that the answer was no.
const (
	Allow Action = "allow"
	Warn  Action = "warn"
	Ask   Action = "ask"
	Block Action = "block"
	Halt  Action = "halt"
)

// Verdict says what happens to a call, why, and what the model should be told.
type Verdict struct {
	Step     uint64   `json:"step"`
	Tool     string   `json:"tool"`
	Action   Action   `json:"action"`
	Would    Action   `json:"would"` // the action that observe mode withheld, or empty
	Reason   string   `json:"reason"`
	Rule     string   `json:"rule"`
	Limit    float64  `json:"limit"` // 0, like Seen, where nothing is counted
	Seen     float64  `json:"seen"`
	Evidence []uint64 `json:"evidence"` // the steps that led here
	Feedback string   `json:"feedback"` // for the model: beside the result, or in place of it
}

// Allowed says whether the call may run as it stands. An Ask may not until somebody agrees.
func (v Verdict) Allowed() bool {
	return v.Action == Allow || v.Action == Warn
}
