package kuzu

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

func headOf(t testing.TB, s *Store) graphstore.Head {
	t.Helper()
	h, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// oldFile are statements that make of a file one of schema 1, before there was a head. It had an identity from some time on.
func oldFile(identity bool) []string {
	statements := []string{"DROP TABLE Head", "DROP TABLE Log", "MATCH (m:Meta) SET m.schema_version = 1"}
	if !identity {
		statements = append(statements, "DROP TABLE Identity")
	}
	return statements
}

// TestFileOfSchemaOneGetsAHead: the digest of all it holds, no mark, and the identity that it has or a new one.
func TestFileOfSchemaOneGetsAHead(t *testing.T) {
	for _, identity := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "graph")
		all := graphstoretest.Graph(3, 2, 60)
		s := mustOpen(t, path, testConfig())
		mustApply(t, s, all...)
		id := s.ID()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := withEngine(path, oldFile(identity)...); err != nil {
			t.Fatal(err)
		}
		var first graphstore.Head
		for round := range 2 {
			s := mustOpen(t, path, testConfig())
			h := headOf(t, s)
			if h.Digest != digest(all...) || h.Mark != (graphstore.Mark{}) || (h.ID == id) != identity || h.ID != s.ID() {
				t.Errorf("identity %v: head %+v, want the digest of all and no mark", identity, h)
			}
			if round > 0 && h != first {
				t.Errorf("identity %v: head %+v after %+v", identity, h, first)
			}
			first = h
			if got := digestOf(t, s); got != h.Digest {
				t.Errorf("identity %v: %v is in the file, %v in the head", identity, got, h.Digest)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestHeadOutlivesAKill: what was committed before a process ends without a checkpoint is in the log, the head too.
func TestHeadOutlivesAKill(t *testing.T) {
	cfg := testConfig()
	cfg.hooks.keepLog = true
	path := filepath.Join(t.TempDir(), "graph")
	for n := range uint64(4) {
		s := mustOpen(t, path, cfg)
		want := graphstore.Head{ID: s.ID(), Mark: graphstore.Mark{Log: fmt.Sprint("log ", n/2), Seq: n}}
		want.Digest = digestOf(t, s)
		c := factOf(ada, fmt.Sprint(n))
		if err := s.ApplyMarked(t.Context(), []graphstore.Change{c}, want.Mark); err != nil {
			t.Fatal(err)
		}
		want.Digest.Add(c)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = mustOpen(t, path, cfg)
		if got := headOf(t, s); got != want {
			t.Errorf("transaction %d: head %+v, want %+v", n, got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTableOfHeadsStaysSmall: transactions leave rows until a checkpoint, which leaves one, and one name of a log.
func TestTableOfHeadsStaysSmall(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), testConfig())
	defer s.Close()
	for round := range uint64(3) {
		for n := range uint64(20) {
			mark := graphstore.Mark{Log: fmt.Sprint("log ", n%3), Seq: 100*round + n}
			if err := s.ApplyMarked(t.Context(), nil, mark); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"Head", "Log"} {
			onWriter(t, s, func() {
				if rows, err := s.engine.writer.count("MATCH (h:"+table+") RETURN count(*)", nil); err != nil || rows != 1 {
					t.Errorf("round %d: %d rows in %s, %v, want one", round, rows, table, err)
				}
			})
		}
		if got, want := headOf(t, s).Mark, (graphstore.Mark{Log: "log 1", Seq: 100*round + 19}); got != want {
			t.Errorf("round %d: mark %+v, want %+v", round, got, want)
		}
	}
}

// TestMarkThatIsStoredIsNotWrittenAgain: an applier that has nothing to do may say so as often as it likes.
func TestMarkThatIsStoredIsNotWrittenAgain(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), testConfig())
	defer s.Close()
	mark := graphstore.Mark{Log: "log", Seq: 1}
	if err := s.ApplyMarked(t.Context(), some, mark); err != nil {
		t.Fatal(err)
	}
	before := fileSize(s.path + walSuffix)
	if err := s.ApplyMarked(t.Context(), some, mark); err != nil {
		t.Fatal(err)
	}
	if after := fileSize(s.path + walSuffix); after != before {
		t.Errorf("the log grew from %d to %d bytes", before, after)
	}
}

// TestHeadThatWasChangedIsDamage changes one part of the head, or of what it needs, by hand.
func TestHeadThatWasChangedIsDamage(t *testing.T) {
	for _, damage := range []string{"MATCH (h:Head) SET h.seq = 8", "MATCH (h:Head) SET h.d2 = h.d2 + 1",
		"MATCH (h:Head) SET h.records = 4", "MATCH (h:Head) SET h.log = 0", "MATCH (h:Head) DELETE h",
		"MATCH (l:Log) SET l.name = 'other'", "MATCH (l:Log) DELETE l", "MATCH (m:Meta) SET m.schema_version = 1"} {
		path := filepath.Join(t.TempDir(), "graph")
		s := mustOpen(t, path, testConfig())
		if err := s.ApplyMarked(t.Context(), some, graphstore.Mark{Log: "log", Seq: 7}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := withEngine(path, damage); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path, testConfig()); !errors.Is(err, graphstore.ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", damage, err)
			if err == nil {
				s.Close()
			}
		}
	}
}
