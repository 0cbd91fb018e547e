// A guarded agent: a policy from a file, a tool, and a model that cannot let go of one query.
//
//	guard_a_loop policy.json
//
// The policy is JSON; `microloop policy show balanced --json` makes it of a named one.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"example.com/microloop/microloop"
)

const schema = `{"type": "object", "required": ["sql"], "properties": {"sql": {"type": "string"}}}`

const (
	wrong = `{"query": "select * from costumers"}` // against the schema
	stuck = `{"sql": "select * from costumers"}`
)

// queryDatabase is the tool itself: a database that has no such table, whoever asks.
func queryDatabase() string {
	return "Error: no such table: costumers"
}

// guarded makes one call of the agent: judged before it runs, reported after it has run. It says whether the agent may go
// on.
func guarded(session *microloop.Session, call microloop.Call, out io.Writer) (bool, error) {
	verdict, err := session.Check(call)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "step %d: %s\n", verdict.Step, verdict.Action)
	if verdict.Feedback != "" {
		fmt.Fprintln(out, "  "+verdict.Feedback) // for the model, in place of the result or beside it
	}
	if !verdict.Allowed() {
		return verdict.Action != microloop.Halt, nil
	}
	return true, session.Record(verdict, microloop.Failure(queryDatabase()))
}

func run(document []byte, out io.Writer) error {
	policy, err := microloop.NewPolicy(document)
	if err != nil {
		return err
	}
	defer policy.Close()
	tool, err := policy.Tool("query_database", []byte(schema))
	if err != nil {
		return err
	}
	session, err := policy.NewSession(microloop.Options{})
	if err != nil {
		return err
	}
	defer session.Close()
	return agent(session, tool, out)
}

func agent(session *microloop.Session, tool microloop.Tool, out io.Writer) error {
	going, err := guarded(session, microloop.Call{Tool: tool, Args: wrong}, out)
	for n := 0; n < 8 && going && err == nil; n++ {
		going, err = guarded(session, microloop.Call{Tool: tool, Args: stuck}, out)
	}
	return err
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: guard_a_loop policy.json")
	}
	document, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := run(document, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
