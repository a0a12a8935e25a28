package vdbtest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

func TestExercise_memory(t *testing.T) {
	vdbtest.Exercise(t, vdbtest.Harness{
		Name:     "memory",
		Open:     func(_ *testing.T, dim int) vdb.Store { return vdbtest.NewMemory(dim) },
		Features: vdbtest.Features{Keyword: true},
	})
}

func TestExercise_memoryThatLearnsItsDimension(t *testing.T) {
	vdbtest.Exercise(t, vdbtest.Harness{
		Name:     "memory",
		Open:     func(*testing.T, int) vdb.Store { return vdbtest.NewMemory(0) },
		Features: vdbtest.Features{Keyword: true},
	})
}

// A pattern that matches no subtest must not pass for a run of the suite.
func TestExercise_withoutASubtestFails(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestExercise_memory$/^no such subtest$")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no subtest of the memory store ran") {
		t.Errorf("got error %v and output:\n%s", err, out)
	}
}
