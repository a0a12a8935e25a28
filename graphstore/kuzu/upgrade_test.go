package kuzu

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
)

// oldDigest is the digest that the program with version 2 of the schema gave of the graph in its file.
const oldDigest = "9f462cfcc0bb68ce56d3e020b7f5348273a1863e12ec11fddb7f7a377c159780-9"

// oldRecords are the records of that file.
func oldRecords() []graphstore.Change {
	stamp := func(v int64, r graphstore.Rank, e string) graphstore.Stamp {
		return graphstore.Stamp{Version: v, Rank: r, EventID: e}
	}
	first := graphstore.Fact{ID: "f1", State: graphstore.StateActive, AgentID: "agent", SourceID: "doc", EpisodeID: "talk", BatchID: "b1",
		BatchSeq: 1, MemoryAt: 1_767_225_600_000_001, ValidFrom: 5, RecordedAt: -7}
	first.Registers = graphstore.Registers{State: stamp(10, graphstore.RankAdd, "e1"), Base: stamp(10, graphstore.RankAdd, "e1")}.
		With(graphstore.FieldTags, stamp(12, graphstore.RankUpdate, "e3"))
	second := graphstore.Fact{ID: "f2", State: graphstore.StateSuperseded, SourceID: "doc", ValidTo: 9, SupersededBy: "f1", SupersededAt: 11}
	second.Registers = graphstore.Registers{State: stamp(11, graphstore.RankSuperseded, "e2"), Base: stamp(9, graphstore.RankAdd, "e0")}
	by := graphstore.Asserter{Kind: graphstore.ByFact, ID: "f1"}
	return []graphstore.Change{graphstore.PutFact(ada, first), graphstore.PutFact(ada, second), graphstore.PutFact(ada, graphstore.Fact{ID: "f3"}),
		graphstore.PutEntity(ada, graphstore.Entity{ID: "person/grace", Type: "person", Name: "Grace", Norm: "grace", Aliases: []string{"G."}, Mentions: 1}),
		graphstore.PutTopic(ada, graphstore.Topic{ID: "ships", Name: "Ships", Facts: 1}),
		graphstore.PutEdge(ada, graphstore.Edge{Source: "f1", Target: "f2", Type: graphstore.Causes, Asserter: by, Weight: 0.5}),
		graphstore.PutEdge(ada, graphstore.Edge{Source: "f2", Target: "f3", Type: graphstore.Related, Weight: 1, Detail: "cousin of",
			Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: "b1"}}),
		graphstore.PutEdge(ada, graphstore.Edge{Source: "f1", Target: "person/grace", Type: graphstore.Mentions, Asserter: by, Weight: 1}),
		graphstore.PutEdge(ada, graphstore.Edge{Source: "f1", Target: "ships", Type: graphstore.TaggedWith, Asserter: by, Weight: 1})}
}

// oldGraph makes the file as that program wrote it, or as the one before did, which had no head.
func oldGraph(t *testing.T, version int, more ...string) (path string) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", "schema-2.cypher"))
	if err != nil {
		t.Fatal(err)
	}
	var statements []string
	for line := range strings.Lines(string(script)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "//") {
			statements = append(statements, line)
		}
	}
	if version == 1 {
		statements = append(statements, oldFile(false)...)
	}
	path = filepath.Join(t.TempDir(), "graph")
	if err := withEngine(path, append(statements, more...)...); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOldFilesAreBroughtUp opens files of the versions before: the graph is the one that it was, by the digest that the old
// program gave it, and takes everything that is new.
func TestOldFilesAreBroughtUp(t *testing.T) {
	fresh := oldRecords()[0].Fact
	fresh.Registers.State.At, fresh.Registers.State.Source = 3, "doc"
	fresh.Registers.Base.At = 4
	changes := []graphstore.Change{graphstore.PutFact(ada, *fresh),
		graphstore.PutSchema(ada, graphstore.Schema{ID: "s", Level: graphstore.LevelSchema, Title: "Ships", Stamp: graphstore.Stamp{Version: 1, At: 5}}),
		graphstore.PutRef(ada, graphstore.Ref{ID: "f9"}), graphstore.PutTombstone(ada, graphstore.Tombstone{Source: "doc", At: 1}),
		graphstore.PutMerge(ada, graphstore.Merge{Merged: "person/g", Kept: "person/grace", Step: graphstore.StepMerged}),
		graphstore.PutEdge(ada, graphstore.Edge{Source: "s", Target: "f1", Type: graphstore.DerivedFrom, Weight: 1,
			Asserter: graphstore.Asserter{Kind: graphstore.BySchema, ID: "s"}})}
	for _, version := range []int{1, 2} {
		path := oldGraph(t, version)
		s := mustOpen(t, path, testConfig())
		if head := headOf(t, s); head.Digest.String() != oldDigest || version == 2 && head.Mark != (graphstore.Mark{Log: "events", Seq: 4}) {
			t.Errorf("version %d: head %+v, want digest %s and the mark", version, head, oldDigest)
		}
		wantRecords(t, s, oldRecords())
		mustApply(t, s, changes...)
		for range 2 {
			wantRecords(t, s, append(oldRecords()[1:], changes...))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = mustOpen(t, path, testConfig())
			if size := fileSize(path + walSuffix); size > 0 {
				t.Errorf("version %d: opening it again wrote %d bytes to the log", version, size)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// wantRecords compares what a store holds; LoadAll compares with the head.
func wantRecords(t *testing.T, s *Store, want []graphstore.Change) {
	t.Helper()
	var got []graphstore.Change
	if err := s.LoadAll(t.Context(), func(c graphstore.Change) error { got = append(got, c); return nil }); err != nil {
		t.Fatal(err)
	}
	byKey := func(a, b graphstore.Change) int { return a.Key().Compare(b.Key()) }
	want = slices.SortedFunc(slices.Values(want), byKey)
	slices.SortFunc(got, byKey)
	sameSpace := gocmp.Comparer(func(a, b graphstore.Space) bool { return a == b })
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), sameSpace); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBringingUpGoesOnWhereItEnded stands for a process that ended between any two statements.
func TestBringingUpGoesOnWhereItEnded(t *testing.T) {
	step := thirdStep()
	for done := 1; done <= len(step); done += 2 {
		s := mustOpen(t, oldGraph(t, 1+done/2%2, step[:done]...), testConfig())
		wantRecords(t, s, oldRecords())
		if head := headOf(t, s); head.Digest.String() != oldDigest {
			t.Errorf("after %d statements: head %+v, want digest %s", done, head, oldDigest)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBringingUpIsSaid expects one warning for a file of an earlier version, at the open that brings it up, and none for others.
func TestBringingUpIsSaid(t *testing.T) {
	var log bytes.Buffer
	cfg := testConfig()
	cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	open := func(path string, want int) {
		t.Helper()
		log.Reset()
		if err := mustOpen(t, path, cfg).Close(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(log.String(), "kith rebuild --from-log"); n != want {
			t.Errorf("%d warnings, want %d: %s", n, want, log.String())
		}
	}
	for _, version := range []int{1, 2} {
		path := oldGraph(t, version)
		open(path, 1)
		open(path, 0)
	}
	open(filepath.Join(t.TempDir(), "new"), 0)
}
