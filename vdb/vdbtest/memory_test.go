package vdbtest_test

import (
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
