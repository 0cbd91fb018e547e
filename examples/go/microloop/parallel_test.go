package microloop_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"example.com/microloop/microloop"
)

const goroutines, calls = 16, 100

// inParallel runs the work in goroutines and gives their errors.
func inParallel(t *testing.T, work func(number int) error) {
	t.Helper()
	var group sync.WaitGroup
	failed := make([]error, goroutines)
	for number := range goroutines {
		group.Add(1)
		go func() {
			defer group.Done()
			failed[number] = work(number)
		}()
	}
	group.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
}

func TestGoroutinesShareOneSession(t *testing.T) {
	policy := newPolicy(t, `{"version": 1}`)
	session, tool := newSession(t, policy, microloop.Options{}), declare(t, policy, "search", nil)
	var steps sync.Map
	inParallel(t, func(number int) error {
		for n := range calls {
			verdict, err := session.Check(microloop.Call{Tool: tool, Args: fmt.Sprintf(`{"by": %d, "n": %d}`, number, n)})
			if err != nil {
				return err
			}
			if _, twice := steps.LoadOrStore(verdict.Step, true); twice {
				return fmt.Errorf("step %d was given out twice", verdict.Step)
			}
			if err := session.Record(verdict, microloop.Text("ok")); err != nil {
				return err
			}
		}
		return nil
	})
	state, err := session.State()
	equal(t, "the error", err, nil)
	equal(t, "the number of steps", state.Steps, goroutines*calls)
}

func TestManyRefusalsAtOnceKeepTheirVerdicts(t *testing.T) {
	session, tool := search(t)
	inParallel(t, func(int) error {
		for range calls {
			verdict, err := session.Check(microloop.Call{Tool: tool, Args: `{}`})
			if err != nil || verdict.Allowed() || verdict.Feedback == "" {
				return fmt.Errorf("a refusal without its verdict: %+v: %w", verdict, err)
			}
		}
		return nil
	})
}

func TestSessionsDoNotDisturbEachOther(t *testing.T) {
	policy := newPolicy(t, loops)
	tool := declare(t, policy, "search", nil)
	inParallel(t, func(int) error {
		session, err := policy.NewSession(microloop.Options{})
		if err != nil {
			return err
		}
		for _, want := range []microloop.Action{microloop.Allow, microloop.Warn, microloop.Block} {
			verdict, err := session.Check(microloop.Call{Tool: tool, Args: cats})
			if err != nil || verdict.Action != want {
				return fmt.Errorf("want %s, got %s: %w", want, verdict.Action, err)
			}
			if verdict.Allowed() {
				if err := session.Record(verdict, microloop.Text("none")); err != nil {
					return err
				}
			}
		}
		return session.Close()
	})
}

func TestEveryGoroutineGetsItsOwnMessage(t *testing.T) {
	inParallel(t, func(number int) error {
		key := fmt.Sprintf("key_%d_", number)
		for range calls {
			_, err := microloop.NewPolicy([]byte(`{"version": 1, "` + key + `": 1}`))
			if !errors.Is(err, microloop.ErrInvalidPolicy) || !strings.Contains(err.Error(), key) {
				return fmt.Errorf("want a message about %s, got: %w", key, err)
			}
		}
		return nil
	})
}

func TestASessionClosedUnderOurHandsIsReported(t *testing.T) {
	session, tool := search(t)
	inParallel(t, func(number int) error {
		if number == 0 {
			return session.Close()
		}
		for range calls {
			_, err := session.Check(microloop.Call{Tool: tool, Args: cats})
			if err != nil && !errors.Is(err, microloop.ErrStaleHandle) {
				return err
			}
		}
		return nil
	})
}
