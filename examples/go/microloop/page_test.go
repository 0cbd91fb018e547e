package microloop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

const howTo = "../../../docs/how-to/use-from-go-and-node.md"

func TestTheProgramOfTheHowToPagePrintsWhatThePageShows(t *testing.T) {
	page := string(read(t, howTo))
	program := regexp.MustCompile("(?ms)^```go title=\"first.go\"\n(.*?)^```$").FindStringSubmatch(page)
	shown := regexp.MustCompile("(?ms)^\\$ go run first.go\n(.*?)^```$").FindStringSubmatch(page)
	if program == nil || shown == nil {
		t.Fatal("the page has no first.go, or does not run it")
	}
	file := filepath.Join(t.TempDir(), "first.go")
	equal(t, "the error", os.WriteFile(file, []byte(program[1]), 0o600), nil)
	command := exec.Command("go", "run", file)
	command.Dir, command.Stderr = "..", os.Stderr
	printed, err := command.Output()
	equal(t, "the error", err, nil)
	equal(t, "what is printed", string(printed), shown[1])
}
