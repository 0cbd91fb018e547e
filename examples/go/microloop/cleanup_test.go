package microloop

import (
	"errors"
	"runtime"
	"testing"
)

const many, enoughRounds = 50, 1000

// forgotten makes policies and sessions that nobody closes, and gives their handles: each in a small value of its own,
// which lives on beside them.
func forgotten(t *testing.T) (policies, sessions []*uint64) {
	t.Helper()
	for range many {
		policy, err := NewPolicy([]byte(`{"version": 1}`))
		if err != nil {
			t.Fatal(err)
		}
		session, err := policy.NewSession(Options{})
		if err != nil {
			t.Fatal(err)
		}
		ofPolicy, ofSession := new(uint64), new(uint64)
		*ofPolicy, *ofSession = policy.handle.number, session.handle.number
		policies, sessions = append(policies, ofPolicy), append(sessions, ofSession)
	}
	return policies, sessions
}

func TestWhatIsForgottenIsFreedByTheCollector(t *testing.T) {
	policies, sessions := forgotten(t)
	freed := func(n int) bool {
		_, ofPolicy := declare(*policies[n], `{"name": "search"}`)
		_, ofSession := stateOf(*sessions[n])
		return errors.Is(ofPolicy, ErrStaleHandle) && errors.Is(ofSession, ErrStaleHandle)
	}
	for n := range many {
		for round := 0; round < enoughRounds && !freed(n); round++ {
			runtime.GC()
		}
		if !freed(n) {
			t.Fatalf("policy or session %d is still open", n)
		}
	}
}
