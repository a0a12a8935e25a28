package kuzu

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// onWriter runs fn on the writer goroutine, when it has tidied up after the last write.
func onWriter(t testing.TB, s *Store, fn func()) {
	t.Helper()
	if err := s.onWriter(t.Context(), func() error { fn(); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestFailedTransactionLeavesNothingAndCanBeRepeated fails each statement of a transaction in turn.
func TestFailedTransactionLeavesNothingAndCanBeRepeated(t *testing.T) {
	var b breaker
	cfg := testConfig()
	cfg.hooks.statement = b.statement
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	defer s.Close()
	mustApply(t, s, some...)
	// A delete, an update of both kinds, new nodes in a new space, an edge: seven statements at least.
	changed := graphstore.PutFact(ada, graphstore.Fact{ID: "f1", AgentID: "agent"})
	tx := []graphstore.Change{graphstore.DeleteKey(ada, some[2].Key()), changed, factOf(ada, "f3"), factOf(bob, "f1"),
		edgeOf(ada, "f3", "f1", 1), graphstore.PutTopic(bob, graphstore.Topic{ID: "t"})}
	want := digest(changed, some[1], tx[2], tx[3], tx[4], tx[5])
	fails := 0
	for n := int64(1); ; n++ {
		b.left.Store(n)
		err := s.Apply(t.Context(), tx)
		if err == nil {
			break
		}
		if !errors.Is(err, errBroken) {
			t.Fatalf("statement %d: %v", n, err)
		}
		fails++
		if got := digestOf(t, s); got != digest(some...) {
			t.Fatalf("statement %d failed and left something behind", n)
		}
	}
	if got := digestOf(t, s); got != want || fails < 7 {
		t.Errorf("after %d failures: got %v, want %v", fails, got, want)
	}
	if b.left.Load() <= 0 {
		t.Error("the last round failed too") // its breaker was beyond the last statement
	}
}

func TestCheckpointIsMadeByCount(t *testing.T) {
	cfg := testConfig()
	cfg.CheckpointRecords = 50
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	defer s.Close()
	mustApply(t, s, some...)
	log := fileSize(s.path + walSuffix)
	if log == 0 {
		t.Fatal("no log after a write")
	}
	for i := range 60 {
		mustApply(t, s, factOf(ada, fmt.Sprint("more ", i)))
	}
	// The first transaction writes 5 records, its head among them, the others 2 each. The 23rd and the 49th of them lead beyond
	// 50: a checkpoint emptied the log, 11 facts with their heads came after it.
	onWriter(t, s, func() {
		if got := fileSize(s.path + walSuffix); got > 20*log {
			t.Errorf("log has %d bytes after 60 more facts, %d after the first transaction", got, log)
		}
		if s.budget.records != 22 {
			t.Errorf("%d records since the last checkpoint, want 22", s.budget.records)
		}
	})
}

func TestUnchangedRecordsAreNotWritten(t *testing.T) {
	var statements atomic.Int64
	cfg := testConfig()
	cfg.hooks.statement = func(string) error { statements.Add(1); return nil }
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	defer s.Close()
	all := graphstoretest.Graph(1, 2, 40)
	mustApply(t, s, all...)
	statements.Store(0)
	mustApply(t, s, all...)
	mustApply(t, s, graphstore.DeleteKey(ada, graphstore.Key{Kind: graphstore.KindFact, Node: "none"}))
	if n := statements.Load(); n != 0 {
		t.Errorf("%d statements to write what is there already", n)
	}
}

// TestNoCheckpointOnAFullDisk: Kuzu ends the process when the disk runs full during a checkpoint.
func TestNoCheckpointOnAFullDisk(t *testing.T) {
	var full atomic.Bool
	cfg := testConfig()
	cfg.CheckpointRecords = 10
	cfg.hooks.freeBytes = func(dir string) (uint64, error) {
		if full.Load() {
			return checkpointMargin - 1<<20, nil // enough for the log
		}
		return freeBytes(dir)
	}
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	mustApply(t, s, some...)
	full.Store(true)
	if err := s.Checkpoint(t.Context()); !errors.Is(err, ErrDisk) || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("got %v, want ErrDisk with sizes", err)
	}
	want := some
	for i := range 30 { // writes go on beyond the count that makes a checkpoint due
		c := factOf(bob, fmt.Sprint(i))
		mustApply(t, s, c)
		want = append(want, c)
	}
	onWriter(t, s, func() { s.budget.bytes = cfg.BufferPoolBytes }) // as if updates had filled the memory: now it must not go on
	if err := s.Apply(t.Context(), []graphstore.Change{factOf(bob, "too much")}); !errors.Is(err, ErrDisk) {
		t.Errorf("apply: got %v, want ErrDisk", err)
	}
	full.Store(false)
	last := factOf(bob, "fits again")
	mustApply(t, s, last)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, s.path, testConfig())
	defer again.Close()
	if got := digestOf(t, again); got != digest(append(want, last)...) {
		t.Error("something was lost on a full disk")
	}
}

// TestNoCommitOnAFullDisk: a commit that fails for want of space is only an error, but closing the file after it ends the
// process. So a transaction that might not fit is refused before it begins, and can be tried again.
func TestNoCommitOnAFullDisk(t *testing.T) {
	var full atomic.Bool
	var statements atomic.Int64
	cfg := testConfig()
	cfg.hooks.freeBytes = func(dir string) (uint64, error) {
		if full.Load() {
			return logMargin, nil
		}
		return freeBytes(dir)
	}
	cfg.hooks.statement = func(string) error { statements.Add(1); return nil }
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	defer s.Close()
	mustApply(t, s, some...)
	full.Store(true)
	statements.Store(0)
	more := factOf(bob, "more")
	if err := s.Apply(t.Context(), []graphstore.Change{more}); !errors.Is(err, ErrDisk) || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("apply: %v, want ErrDisk with sizes", err)
	}
	if n := statements.Load(); n != 0 {
		t.Errorf("%d statements on a full disk", n)
	}
	if got := digestOf(t, s); got != digest(some...) {
		t.Error("the graph changed")
	}
	full.Store(false)
	mustApply(t, s, more)
}

// TestWritesGoOnDuringASlowLoad: a checkpoint that is due waits for the load, writes do not.
func TestWritesGoOnDuringASlowLoad(t *testing.T) {
	cfg := testConfig()
	cfg.CheckpointRecords = 1
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	defer s.Close()
	mustApply(t, s, some...)
	inside, leave := make(chan struct{}), make(chan struct{})
	loaded := make(chan error, 1)
	var seen graphstore.Digest
	go func() {
		loaded <- s.LoadAll(t.Context(), func(c graphstore.Change) error {
			if seen.Records() == 0 {
				close(inside)
				<-leave
			}
			seen.Add(c)
			return nil
		})
	}()
	<-inside
	for i := range 20 {
		mustApply(t, s, factOf(bob, fmt.Sprint(i)))
	}
	close(leave)
	if err := <-loaded; err != nil || seen != digest(some...) {
		t.Errorf("the load saw %d records (%v), want the %d of its beginning", seen.Records(), err, len(some))
	}
}

func TestReadsTimeOut(t *testing.T) {
	cfg := testConfig()
	cfg.ReadTimeout = 50 * time.Millisecond
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	defer s.Close()
	var facts []graphstore.Change
	for i := range 400 {
		facts = append(facts, factOf(ada, fmt.Sprint(i)))
	}
	mustApply(t, s, facts...)
	err := s.read(t.Context(), func(session *session) error { // 64 million rows
		_, err := session.count("MATCH (a:Memory), (b:Memory), (c:Memory) WHERE a.key <> b.key AND b.key <> c.key RETURN count(*)", nil)
		return err
	})
	if !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
	if got := digestOf(t, s); got != digest(facts...) {
		t.Error("the next read is wrong")
	}
}

// TestTextIsCountedAsLeaked: the number is what a supervisor restarts the process by.
func TestTextIsCountedAsLeaked(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), testConfig())
	defer s.Close()
	before := s.Leaked()
	var name string
	for i := 0; len(name) < 10_000; i++ { // no two parts of which are equal
		name += fmt.Sprintf("%09d ", i)
	}
	mustApply(t, s, graphstore.PutTopic(ada, graphstore.Topic{ID: "t", Name: name}))
	if got := s.Leaked() - before; got < 10_000 || got > 11_000 {
		t.Errorf("%d bytes for a name of 10000", got)
	}
}
