package graphstoretest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/kithgraph/kith/graphstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func memoryHarness() Harness {
	return Harness{Name: "memory", Open: func(testing.TB) graphstore.Store { return NewMemory() }}
}

func TestExerciseMemory(t *testing.T) { Exercise(t, memoryHarness()) }
