package graphstoretest

import (
	"slices"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// DefaultChurnTime is how long the random comparison with [Memory] runs unless the harness says otherwise.
const DefaultChurnTime = 2 * time.Second

// Harness tells [Exercise] how to get at a store.
type Harness struct {
	// Name of the store, for messages.
	Name string
	// Open returns a new, empty store. The suite closes it.
	Open func(t testing.TB) graphstore.Store
	// Reopen closes the store and opens the same graph again. Nil for a store that is not durable.
	Reopen func(t testing.TB, s graphstore.Store) graphstore.Store
	// Checkpoint makes the store tidy up what it does from time to time (merge its log, compact). May be nil.
	Checkpoint func(s graphstore.Store) error
	// FailNext makes one of the next writes fail in the middle: an Apply then returns an error that may be retried, once.
	// May be nil.
	FailNext func(s graphstore.Store)
	// Features says what the store can do beyond the contract.
	Features Features
	// ChurnTime bounds the random comparison with [Memory]. Defaults to DefaultChurnTime.
	ChurnTime time.Duration
	// ChurnSeed repeats the random comparison of an earlier run; 0 takes a new seed. The seed is always printed.
	ChurnSeed uint64
}

// Features are capabilities that the contract leaves open.
type Features struct {
	// OnDisk says that Stats reports bytes on disk once something is stored.
	OnDisk bool
}

// testCase is one subtest on a fresh store.
type testCase struct {
	name string
	run  func(f *fixture)
}

// on runs the subtest on a new store of the harness.
func (c testCase) on(t testing.TB, h Harness) {
	f := newFixture(t, h)
	c.run(f)
	f.finish()
}

// Exercise runs the conformance suite: every promise of [graphstore.Store], each as a subtest on a store of its own. A
// durable store is opened again at the end of each subtest and must hold the same graph. A run that selects no subtest
// fails.
func Exercise(t *testing.T, h Harness) {
	t.Helper()
	if h.Name == "" || h.Open == nil {
		t.Fatal("harness: Name and Open are required")
	}
	if h.ChurnTime == 0 {
		h.ChurnTime = DefaultChurnTime
	}
	ran := 0
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			ran++
			c.on(t, h)
		})
	}
	if ran == 0 {
		t.Fatalf("%s: the run selected no subtest of the suite", h.Name)
	}
}

func allCases() []testCase {
	return slices.Concat(recordCases(), keyCases(), transactionCases(), badChangeCases(), danglingCases(), loadCases(),
		lifecycleCases(), headCases(), textCases(), concurrencyCases(), churnCases())
}
