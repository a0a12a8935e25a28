package kuzu

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// make soak keeps the transactions of its run and gives them to this package, whose statements it cannot reach.
var rawTransactions = flag.String("raw-transactions", "", "file of transactions to write with statements alone; beside it .took has the number of events and the nanoseconds that they took")

// TestRawStatements writes transactions that were made elsewhere, and times the statements of Kuzu alone: BEGIN, prepared
// statements in their fastest form with parameters that are ready, COMMIT, and checkpoints. What is stored already, and so
// what is to be created and what to be set, is known before the clock starts.
func TestRawStatements(t *testing.T) {
	if *rawTransactions == "" {
		t.Skip("no -raw-transactions")
	}
	f, err := os.Open(*rawTransactions)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), Config{})
	defer s.Close()
	var want graphstore.Digest
	var planning, writing time.Duration
	model := graphstoretest.NewMemory()
	n := 0
	for changes, err := range graphstoretest.Transactions(bufio.NewReader(f)) {
		if err != nil {
			t.Fatal(err)
		}
		if err := model.Apply(t.Context(), changes); err != nil {
			t.Fatal(err)
		}
		p, w, err := s.applyTimed(t, changes)
		if err != nil {
			t.Fatal(err)
		}
		n++
		planning, writing = planning+p, writing+w
	}
	head, err := model.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want = head.Digest
	if got, err := s.Head(t.Context()); err != nil || got.Digest != want {
		t.Errorf("%+v, %v: want digest %s", got, err, want)
	}
	took, err := os.ReadFile(*rawTransactions + ".took")
	if err != nil {
		t.Fatal(err)
	}
	var events float64
	var path time.Duration
	if _, err := fmt.Sscan(string(took), &events, (*int64)(&path)); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("soak: raw statements: %.0f events/s, the same %d transactions in %s (what they begin from was read and compared in another %s)\n",
		events/writing.Seconds(), n, writing.Round(time.Millisecond), planning.Round(time.Millisecond))
	fmt.Printf("soak: ratio to raw statements: %.2f\n", writing.Seconds()/path.Seconds())
}

// applyTimed is apply with a clock for each half. The checkpoint that may follow is part of the writing.
func (s *Store) applyTimed(t *testing.T, changes []graphstore.Change) (planning, writing time.Duration, err error) {
	t.Helper()
	start := time.Now()
	var planned time.Time
	err = s.onWriter(t.Context(), func() error {
		if err := s.ready(); err != nil {
			return err
		}
		plan, err := newPlan(s.engine.writer, s.index, batchRule{}, changes)
		if err != nil {
			return err
		}
		before, _ := s.head.get()
		plan.head = &headWrite{before, before.after(plan.digest, graphstore.Mark{})}
		cost := s.budget.cost(plan, s.index)
		planned = time.Now()
		if err := s.makeRoom(cost); err != nil {
			return err
		}
		if err := s.commit(plan, batchRule{}); err != nil {
			return err
		}
		s.budget.add(cost)
		return nil
	})
	onWriter(t, s, func() {}) // when the checkpoint is done
	return planned.Sub(start), time.Since(planned), err
}
