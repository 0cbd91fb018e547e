package microloop

import "encoding/json"

// Standing is whether a run is getting anywhere.
type Standing string

// The standings, best first.
const (
	Healthy    Standing = "healthy"
	Warning    Standing = "warning"
	Stalled    Standing = "stalled"
	Regressing Standing = "regressing"
)

// Progress says where a run stands after a step, and why.
type Progress struct {
	Step             uint64   `json:"step"`
	Status           Standing `json:"status"`
	Intervention     string   `json:"intervention"`      // what the policy asks for: observe, replan or stop
	VerifiedProgress bool     `json:"verified_progress"` // whether a check of the run says that things are better than ever
	Evidence         []Proof  `json:"evidence"`
	Feedback         string   `json:"feedback"` // for the model, where the run is not healthy
}

// Proof is why a run is judged as it is: which steps, and what they show.
type Proof struct {
	Reason string   `json:"reason"`
	Steps  []uint64 `json:"steps"`
	Why    string   `json:"why"`
}

// Progress says where the run stands after its latest step.
func (s *Session) Progress() (Progress, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var progress Progress
	document, err := progressOf(s.handle.number)
	if err != nil {
		return progress, err
	}
	err = json.Unmarshal(document, &progress)
	return progress, err
}
