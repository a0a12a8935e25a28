package feed

import (
	"context"
	"sync"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// ledger is a store in memory that remembers its transactions, so that a test can put it back to any of its states, as a
// restored copy or a log that was cut short does.
type ledger struct {
	*graphstoretest.Memory
	mu   sync.Mutex
	book []entry
}

// entry is one transaction.
type entry struct {
	changes []graphstore.Change
	mark    graphstore.Mark
}

func newLedger() *ledger { return &ledger{Memory: graphstoretest.NewMemory()} }

func (l *ledger) Apply(ctx context.Context, changes []graphstore.Change) error {
	return l.ApplyMarked(ctx, changes, graphstore.Mark{})
}

func (l *ledger) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.Memory.ApplyMarked(ctx, changes, mark); err != nil {
		return err
	}
	l.book = append(l.book, entry{changes, mark})
	return nil
}

// entries returns the transactions so far.
func (l *ledger) entries() []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]entry(nil), l.book...)
}

// after returns the store as it was after its first n transactions.
func (l *ledger) after(t testing.TB, n int) *ledger {
	t.Helper()
	old := newLedger()
	for _, e := range l.entries()[:n] {
		if err := old.ApplyMarked(t.Context(), e.changes, e.mark); err != nil {
			t.Fatal(err)
		}
	}
	return old
}

// mark returns what the store says of itself.
func (l *ledger) mark(t testing.TB) graphstore.Mark {
	t.Helper()
	head, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head.Mark
}

// digest returns that of all records that are stored.
func (l *ledger) digest(t testing.TB) string {
	t.Helper()
	head, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head.Digest.String()
}
