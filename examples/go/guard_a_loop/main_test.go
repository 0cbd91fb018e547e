package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestAStuckAgentIsAdvisedThenRefusedThenHalted(t *testing.T) {
	document, err := os.ReadFile("../../../tests/policies/balanced.json")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(document, &out); err != nil {
		t.Fatal(err)
	}
	actions := regexp.MustCompile(`(?m)^step \d+: (\w+)$`).FindAllStringSubmatch(out.String(), -1)
	var seen []string
	for _, action := range actions {
		seen = append(seen, action[1])
	}
	const want = "block allow allow warn warn block block block halt"
	if strings.Join(seen, " ") != want {
		t.Errorf("want %s, got:\n%s", want, out.String())
	}
	if !strings.Contains(out.String(), `the argument "sql" is missing`) {
		t.Errorf("the schema does not speak:\n%s", out.String())
	}
}

func TestABadPolicyEndsTheProgramWithTheReason(t *testing.T) {
	var out strings.Builder
	if err := run([]byte(`{"version": 2}`), &out); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("want an error about the version, got %v", err)
	}
}
