package kuzu

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// factEdits change one thing each of a fact; n makes it differ from fact to fact.
var factEdits = []func(f *graphstore.Fact, n int64){
	func(f *graphstore.Fact, n int64) {
		f.State = []graphstore.State{graphstore.StateSuperseded, graphstore.StateDeleted}[n%2]
	},
	func(f *graphstore.Fact, n int64) { f.Registers.State.Version = math.MaxInt64 - n },
	func(f *graphstore.Fact, n int64) {
		f.Registers.State.Rank = graphstore.RankSuperseded + graphstore.Rank(n%3)
	},
	func(f *graphstore.Fact, n int64) { f.Registers.State.EventID = fmt.Sprint("state event ", n) },
	func(f *graphstore.Fact, n int64) { f.Registers.Base.Version = -1<<60 - n },
	func(f *graphstore.Fact, n int64) {
		f.Registers.Base.Rank = graphstore.RankUpdate + graphstore.Rank(n%2)
	},
	func(f *graphstore.Fact, n int64) { f.Registers.Base.EventID = fmt.Sprint("base event ", n) },
	func(f *graphstore.Fact, n int64) {
		f.Registers.Fields = []graphstore.FieldStamp{{Field: graphstore.FieldAgent, Stamp: graphstore.Stamp{Version: n + 1, EventID: "e"}}}
	},
	func(f *graphstore.Fact, n int64) { f.AgentID = fmt.Sprint("agent ", n) },
	func(f *graphstore.Fact, n int64) { f.SourceID = fmt.Sprint("source ", n%2) },
	func(f *graphstore.Fact, n int64) { f.EpisodeID = "" },
	func(f *graphstore.Fact, n int64) { f.BatchID = strings.Repeat(fmt.Sprint("batch ", n), 100) },
	func(f *graphstore.Fact, n int64) { f.BatchSeq = math.MinInt32 + int32(n) },
	func(f *graphstore.Fact, n int64) { f.MemoryAt = graphstore.Instant(-1 - n) },
	func(f *graphstore.Fact, n int64) { f.ValidFrom = graphstore.Instant(math.MinInt64 + 1 + n) },
	func(f *graphstore.Fact, n int64) { f.ValidTo = graphstore.Instant(math.MaxInt64 - n) },
	func(f *graphstore.Fact, n int64) { f.RecordedAt = 0 },
	func(f *graphstore.Fact, n int64) { f.SupersededBy = fmt.Sprint("f", n) },
	func(f *graphstore.Fact, n int64) { f.SupersededAt = graphstore.Instant(1 + n) },
	func(f *graphstore.Fact, n int64) { f.Registers.State.At = graphstore.Instant(-1 - n) },
	func(f *graphstore.Fact, n int64) { f.Registers.State.Source = fmt.Sprint("state source ", n) },
	func(f *graphstore.Fact, n int64) { f.Registers.Base.At = graphstore.Instant(math.MaxInt64 - n) },
	func(f *graphstore.Fact, n int64) { f.Registers.Base.Source = fmt.Sprint("base source ", n) },
}

// stampEdits are those of a stamp that is a record's only one.
var stampEdits = []func(s *graphstore.Stamp, n int64){
	func(s *graphstore.Stamp, n int64) { s.Version = math.MaxInt64 - n },
	func(s *graphstore.Stamp, n int64) { s.Rank = graphstore.RankUpdate + graphstore.Rank(n%2) },
	func(s *graphstore.Stamp, n int64) { s.EventID = fmt.Sprint("event ", n) },
	func(s *graphstore.Stamp, n int64) { s.At = graphstore.Instant(math.MinInt64 + 1 + n) },
	func(s *graphstore.Stamp, n int64) { s.Source = fmt.Sprint("source ", n) },
}

// schemaEdits and mergeEdits are those of schemas and of rows of the merge log, but for their stamps.
var schemaEdits = []func(c *graphstore.Schema, n int64){
	func(c *graphstore.Schema, n int64) { c.Level = fmt.Sprint("l", n) },
	func(c *graphstore.Schema, n int64) { c.Title = strings.Repeat(fmt.Sprint("title ", n), 50) },
	func(c *graphstore.Schema, n int64) { c.Deleted = true },
}

var mergeEdits = []func(m *graphstore.Merge, n int64){
	func(m *graphstore.Merge, n int64) { m.Step = graphstore.StepRetyped },
	func(m *graphstore.Merge, n int64) { m.Undone = true },
	func(m *graphstore.Merge, n int64) { m.Evidence = fmt.Sprint("evidence ", n) },
	func(m *graphstore.Merge, n int64) { m.MergedName = fmt.Sprint("merged ", n) },
	func(m *graphstore.Merge, n int64) { m.KeptName = fmt.Sprint("kept ", n) },
}

// entityEdits are those of entities.
var entityEdits = []func(e *graphstore.Entity, n int64){
	func(e *graphstore.Entity, n int64) { e.Type = fmt.Sprint("type", n%2) },
	func(e *graphstore.Entity, n int64) { e.Name = fmt.Sprint("Näme ", n) },
	func(e *graphstore.Entity, n int64) { e.Norm = fmt.Sprint("norm ", n) },
	func(e *graphstore.Entity, n int64) { e.Aliases = []string{"a", fmt.Sprint("b", n)} },
	func(e *graphstore.Entity, n int64) {
		e.HardIDs = []graphstore.HardID{{Kind: "mail", Value: fmt.Sprint(n)}}
	},
	func(e *graphstore.Entity, n int64) { e.Mentions = int(n) + 100 },
}

// editsFrom returns records, and what they become: for each edit three records that only it changes, and three that all change.
func editsFrom() (before, after []graphstore.Change) {
	add := func(was, is graphstore.Change) { before, after = append(before, was), append(after, is) }
	var no int64
	for i := range len(factEdits) + 1 {
		for range 3 {
			no++
			f := graphstore.Fact{ID: fmt.Sprint("f", no), State: graphstore.StateActive, EpisodeID: "episode", RecordedAt: 5}
			was := graphstore.PutFact(ada, f)
			for j, edit := range factEdits {
				if j == i || i == len(factEdits) {
					edit(&f, no)
				}
			}
			add(was, graphstore.PutFact(ada, f))
		}
	}
	for i := range len(entityEdits) + 1 {
		for range 3 {
			no++
			e := graphstore.Entity{ID: fmt.Sprint("e", no), Type: "thing", Norm: "norm"}
			was := graphstore.PutEntity(ada, e)
			for j, edit := range entityEdits {
				if j == i || i == len(entityEdits) {
					edit(&e, no)
				}
			}
			add(was, graphstore.PutEntity(ada, e))
		}
	}
	minorEditsFrom(add)
	for i := range 3 {
		topic := graphstore.Topic{ID: fmt.Sprint("t", i), Name: "topic", Facts: i}
		was := graphstore.PutTopic(ada, topic)
		topic.Facts, topic.Name = 7*i+1, fmt.Sprint("topic ", i)
		add(was, graphstore.PutTopic(ada, topic))
	}
	for i := range 3 {
		by := graphstore.Asserter{Kind: graphstore.BySchema, ID: "batch"}
		for target, typ := range map[string]graphstore.RelationType{fmt.Sprint("f", i+10): graphstore.DerivedFrom, "ref": graphstore.DerivedFromRef} {
			e := graphstore.Edge{Source: fmt.Sprint("s", i), Target: target, Type: typ, Weight: 1, Asserter: by}
			was := graphstore.PutEdge(ada, e)
			e.Weight, e.Detail = 1/float64(i+3), fmt.Sprint("detail ", i)
			add(was, graphstore.PutEdge(ada, e))
		}
		for _, target := range []string{fmt.Sprint("f", i+10), "e" + fmt.Sprint(3*len(factEdits)+4+i), fmt.Sprint("t", i)} {
			e := graphstore.Edge{Source: fmt.Sprint("f", i+1), Target: target, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: "batch"},
				Type: map[byte]graphstore.RelationType{'f': graphstore.Causes, 'e': graphstore.Mentions, 't': graphstore.TaggedWith}[target[0]]}
			was := graphstore.PutEdge(ada, e)
			e.Weight, e.Detail = 1/float64(i+3), fmt.Sprint("detail ", i)
			add(was, graphstore.PutEdge(ada, e))
		}
	}
	return before, after
}

// minorEditsFrom is editsFrom of the kinds of which there are few. It has schemas s0 to s2 and a ref among them.
func minorEditsFrom(add func(was, is graphstore.Change)) {
	ref := graphstore.PutRef(ada, graphstore.Ref{ID: "ref"})
	add(ref, ref)
	var no int64
	for i := range len(stampEdits) + max(len(schemaEdits), len(mergeEdits)) {
		for range 3 {
			schema := graphstore.Schema{ID: fmt.Sprint("s", no), Level: graphstore.LevelSchema}
			merge := graphstore.Merge{Merged: fmt.Sprint("m", no), Kept: "k", Step: graphstore.StepMerged}
			tombstone := graphstore.Tombstone{Source: fmt.Sprint(no), At: 1}
			was := []graphstore.Change{graphstore.PutSchema(ada, schema), graphstore.PutMerge(ada, merge), graphstore.PutTombstone(ada, tombstone)}
			if i < len(stampEdits) {
				stampEdits[i](&schema.Stamp, no)
				stampEdits[i](&merge.Stamp, no)
			} else {
				i := i - len(stampEdits)
				mergeEdits[i](&merge, no)
				schemaEdits[i%len(schemaEdits)](&schema, no)
			}
			tombstone.At = graphstore.Instant(math.MaxInt64 - no)
			for j, is := range []graphstore.Change{graphstore.PutSchema(ada, schema), graphstore.PutMerge(ada, merge), graphstore.PutTombstone(ada, tombstone)} {
				add(was[j], is)
			}
			no++
		}
	}
}

// fixedColumns are those that are the same in all records, or in all of one key.
var fixedColumns = []string{"Memory.layer", "MergeLog.merged", "MergeLog.kept"}

// TestManyChangesAtOnceAreThoseOfEach changes every column of every kind of record, in one transaction and in one each, and
// compares both with the records as they should be, from the log and from the file.
func TestManyChangesAtOnceAreThoseOfEach(t *testing.T) {
	before, after := editsFrom()
	want := digest(after...)
	for _, batch := range []bool{true, false} {
		set := make(map[string]bool) // columns that a statement for many set
		cfg := testConfig()
		cfg.hooks.forceBatch, cfg.hooks.keepLog = batch, true
		cfg.hooks.statement = func(query string) error {
			if head, sets, ok := strings.Cut(query, " SET "); ok && strings.HasPrefix(head, "UNWIND") {
				for one := range strings.SplitSeq(strings.TrimSuffix(sets, " RETURN count(*)"), ", ") {
					name, _, _ := strings.Cut(one, " = ")
					_, table, _ := strings.Cut(head, "n:")
					set[strings.TrimSuffix(table, " {id: the_id})")+name[1:]] = true
				}
			}
			return nil
		}
		s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
		mustApply(t, s, before...)
		if batch {
			mustApply(t, s, after...)
		} else {
			for _, c := range after {
				mustApply(t, s, c)
			}
		}
		if got := digestOf(t, s); got != want {
			t.Errorf("batch %t: got %v, want %v", batch, got, want)
		}
		for _, table := range nodeTables() {
			for _, c := range table.columns[nodeHead:] {
				if name := table.name + "." + c.name; !slices.Contains(fixedColumns, name) && set[name] != batch {
					t.Errorf("batch %t: column %s was set by a statement for many: %t", batch, name, set[name])
				}
			}
		}
		for range 2 { // replayed from the log, then from the file
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = mustOpen(t, s.path, cfg)
			if got := digestOf(t, s); got != want {
				t.Errorf("batch %t, opened again: got %v, want %v", batch, got, want)
			}
			if err := s.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUpdatesCostThePoolNoMoreThanEstimated compares what Kuzu says of its pool with the estimate, for changes that lie
// together and far apart, and wants that of 4,096 facts in a row to be that of the two or three vectors of a column in which
// they lie.
func TestUpdatesCostThePoolNoMoreThanEstimated(t *testing.T) {
	facts := make([]graphstore.Fact, 20_000)
	edge := func(i int, weight float64) graphstore.Change {
		return edgeOf(ada, facts[i].ID, facts[(i+9973)%len(facts)].ID, weight)
	}
	var all, edges []graphstore.Change
	for i := range facts {
		facts[i] = graphstore.Fact{ID: fmt.Sprint(i), State: graphstore.StateActive}
		all = append(all, graphstore.PutFact(ada, facts[i]))
	}
	for i := range facts {
		edges = append(edges, edge(i, 1))
	}
	path := filepath.Join(t.TempDir(), "graph")
	if _, _, err := Build(t.Context(), path, BuildConfig{Config: testConfig()}, recordsOf(append(all, edges...))); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, testConfig())
	defer s.Close()
	used := func() (bytes int64) {
		onWriter(t, s, func() {
			query := "CALL bm_info() RETURN CAST(mem_usage AS INT64)"
			if err := s.engine.writer.query(query, nil, func(row []any) (err error) { bytes, err = cell[int64](row, 0); return err }); err != nil {
				t.Fatal(err)
			}
		})
		return bytes
	}
	round := int64(0)
	update := func(n, step int) (cost, estimate int64) {
		round++
		var changes []graphstore.Change
		for i := range n {
			f := &facts[i*step]
			f.Registers.State.Version = round
			f.BatchSeq = int32(round)
			changes = append(changes, graphstore.PutFact(ada, *f))
			if step > 1 {
				changes = append(changes, edge(i*step, 1/float64(round+1)))
			}
		}
		before, was := used(), s.budget.bytes
		mustApply(t, s, changes...)
		return used() - before, s.budget.bytes - was
	}
	for _, c := range []struct{ n, step int }{{4096, 1}, {30, 600}, {2, 9000}} {
		update(c.n, c.step) // pages of the file come into the pool
		cost, estimate := update(c.n, c.step)
		t.Logf("%d facts, every %d.: %d KiB, estimate %d KiB", c.n, c.step, cost>>10, estimate>>10)
		if cost > estimate {
			t.Errorf("%d facts, every %d.: %d KiB of the pool, estimate %d KiB", c.n, c.step, cost>>10, estimate>>10)
		}
	}
	// Three vectors at most of three columns (the version stands in two), and the head.
	if _, estimate := update(4096, 1); estimate > 9*numberVectorBytes+createBytes {
		t.Errorf("estimate of 4096 facts in a row: %d KiB", estimate>>10)
	}
}
