package graphstoretest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

const (
	churnSteps     = 250 // transactions per store
	churnTxChanges = 20  // at most, before what deletes drag along
)

func churnCases() []testCase { return []testCase{{"churn/same as the simple store", churn}} }

// churn runs random transactions on stores and on [Memory] until the time is over, and compares them all the way.
func churn(f *fixture) {
	seed := f.h.ChurnSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	until := time.Now().Add(f.h.ChurnTime)
	for round := 0; round == 0 || time.Now().Before(until); round++ {
		// Straight to the output: a store that crashes the process takes the test's log with it.
		fmt.Printf("churn of %s: seed %d\n", f.h.Name, seed)
		c := newChurner(f, seed)
		c.run(until)
		seed++
	}
}

type churner struct {
	*fixture
	seed   uint64
	rng    *rand.Rand
	model  *Memory
	spaces []graphstore.Space
	nodes  int // ids per kind and space
	step   int
	// The shape of the current phase: how often out of ten a transaction's change deletes, and its largest size.
	deletes, size int
}

func newChurner(f *fixture, seed uint64) *churner {
	rng := rand.New(rand.NewPCG(seed, 0))
	own := *f
	own.store = f.h.Open(f.TB)
	return &churner{fixture: &own, seed: seed, rng: rng, model: NewMemory(), spaces: []graphstore.Space{ada, bob, mustSpace("c")},
		nodes: []int{3, 10, 40, 250}[rng.IntN(4)]}
}

func (c *churner) run(until time.Time) {
	defer func() {
		if err := c.store.Close(); err != nil {
			c.Errorf("close: %v", err)
		}
	}()
	for c.step = 0; c.step < churnSteps && (c.step < 25 || time.Now().Before(until)); c.step++ {
		if c.step%25 == 0 {
			c.deletes, c.size = 1+c.rng.IntN(8), 1+c.rng.IntN(churnTxChanges)
		}
		c.transact(c.transaction())
		c.disturb()
		if c.rng.IntN(5) == 0 {
			c.compare("")
		}
	}
	c.compare("at the end")
	if c.h.Reopen != nil {
		c.reopen()
		c.compare("after the last reopen")
	}
}

// disturb does now and then what must not change the graph.
func (c *churner) disturb() {
	switch n := c.rng.IntN(30); {
	case n < 2 && c.h.Checkpoint != nil:
		c.checkpointIf(true)
		c.compareIf(c.rng.IntN(2) == 0, "after a checkpoint")
	case n == 2 && c.h.Reopen != nil:
		c.reopen()
		c.compareIf(c.rng.IntN(2) == 0, "after a reopen")
	case n == 3 && c.h.FailNext != nil:
		c.h.FailNext(c.store)
	}
}

func (c *churner) compareIf(now bool, when string) {
	if now {
		c.compare(when)
	}
}

// transact applies to both, again if the store says that it may, and compares what they answer.
func (c *churner) transact(tx []graphstore.Change) {
	c.Helper()
	want := c.model.Apply(c.Context(), tx)
	got := c.store.Apply(c.Context(), tx)
	if c.h.FailNext != nil && got != nil && !permanent(got) {
		got = c.store.Apply(c.Context(), tx)
	}
	for _, class := range []error{graphstore.ErrBadChange, graphstore.ErrDangling} {
		if errors.Is(got, class) != errors.Is(want, class) {
			c.fatal(fmt.Sprintf("apply: got %v, want %v", got, want), tx)
		}
	}
	if want == nil && got != nil {
		c.fatal(fmt.Sprintf("apply: %v", got), tx)
	}
}

func permanent(err error) bool {
	return errors.Is(err, graphstore.ErrBadChange) || errors.Is(err, graphstore.ErrDangling)
}

func (c *churner) fatal(what string, tx []graphstore.Change) {
	c.Helper()
	c.Logf("transaction of %d changes:", len(tx))
	for _, x := range tx {
		c.Logf("  op %d in %s: %s", x.Op, x.Space, x.Key())
	}
	c.Fatalf("seed %d step %d: %s", c.seed, c.step, what)
}

func (c *churner) compare(when string) {
	c.Helper()
	want, err := collect(c.Context(), c.model.LoadAll)
	if err != nil {
		c.Fatal(err)
	}
	got, err := collect(c.Context(), c.store.LoadAll)
	if err != nil {
		c.Fatalf("seed %d step %d %s: load all: %v", c.seed, c.step, when, err)
	}
	if diff := diffRecords(got, want); diff != "" {
		c.Fatalf("seed %d step %d %s: load all %s", c.seed, c.step, when, diff)
	}
	c.wanted = want
	c.wantDigest(want)
	c.wantSpaces()
	c.wantStats()
}
