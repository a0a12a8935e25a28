package graphstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// drawOrigin draws a stamp that says where it came from, or not.
func drawOrigin(t *rapid.T) graphstore.Stamp {
	return graphstore.Stamp{
		Version: rapid.Int64Range(0, 2).Draw(t, "version"), Rank: graphstore.Rank(rapid.IntRange(0, 6).Draw(t, "rank")),
		EventID: rapid.SampledFrom([]string{"", "e", "e2", sharedUUID}).Draw(t, "event"),
		At:      rapid.SampledFrom([]graphstore.Instant{0, 1, 2, 3, -7}).Draw(t, "at"), // 1, 2, 3 are the times that are the versions 0, 1, 2
		Source:  rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "source"),
	}
}

// drawWorld draws a change of any kind of record, over few ids that all kinds share.
func drawWorld(t *rapid.T, s graphstore.Space) graphstore.Change {
	id := func(label string) string { return rapid.SampledFrom([]string{"a", "b", "c", "user"}).Draw(t, label) }
	edge := graphstore.Edge{Source: id("from"), Target: id("to"), Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.BySchema, ID: id("asserter")},
		Type: rapid.SampledFrom([]graphstore.RelationType{graphstore.DerivedFrom, graphstore.DerivedFromRef, graphstore.DerivedFromRef, graphstore.Mentions, graphstore.Causes}).Draw(t, "type")}
	if edge.Type == graphstore.Mentions || edge.Type == graphstore.Causes {
		edge.Asserter.Kind = graphstore.ByFact
	}
	switch rapid.IntRange(0, 10).Draw(t, "what") {
	case 0:
		f := graphstore.Fact{ID: id("fact"), State: graphstore.State(rapid.IntRange(0, 4).Draw(t, "state")), SourceID: rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "source id"),
			MemoryAt: rapid.SampledFrom([]graphstore.Instant{0, 1, 2, -9}).Draw(t, "memory at"), RecordedAt: rapid.SampledFrom([]graphstore.Instant{0, 1, -9}).Draw(t, "recorded at"),
			SupersededBy: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "by")}
		f.Registers = graphstore.Registers{State: drawOrigin(t), Base: drawOrigin(t)}
		if rapid.Bool().Draw(t, "field") {
			f.Registers = f.Registers.With(graphstore.FieldTags, drawOrigin(t))
		}
		return graphstore.PutFact(s, f)
	case 1:
		e := id("entity")
		return graphstore.PutEntity(s, graphstore.Entity{ID: e, Type: "thing", Name: e, Norm: e})
	case 2:
		return graphstore.PutSchema(s, graphstore.Schema{ID: id("schema"), Level: "l6", Title: id("title"), Deleted: rapid.Bool().Draw(t, "deleted"), Stamp: drawOrigin(t)})
	case 3:
		return graphstore.PutRef(s, graphstore.Ref{ID: id("ref")})
	case 4:
		return graphstore.PutMerge(s, graphstore.Merge{Merged: id("merged"), Kept: id("kept"), Step: graphstore.StepMerged, Undone: rapid.IntRange(0, 3).Draw(t, "undone") == 0,
			Evidence: id("evidence"), MergedName: id("merged name"), Stamp: drawOrigin(t)})
	case 5:
		return graphstore.PutTombstone(s, graphstore.Tombstone{Source: rapid.SampledFrom([]string{"", "a", "user"}).Draw(t, "source"), At: rapid.SampledFrom([]graphstore.Instant{1, -4}).Draw(t, "at")})
	case 6, 7, 8:
		return graphstore.PutEdge(s, edge)
	case 9:
		return graphstore.DeleteKey(s, edge.Normalized().Key())
	default:
		k := graphstore.Key{Kind: graphstore.NodeKind(rapid.IntRange(1, 7).Draw(t, "kind")), Node: id("node")}
		switch k.Kind {
		case graphstore.KindMerge:
			k.Target = id("kept")
		case graphstore.KindTombstone:
			k = graphstore.Tombstone{Source: rapid.SampledFrom([]string{"", "a", "user"}).Draw(t, "source")}.Key()
		}
		return graphstore.DeleteKey(s, k)
	}
}

// With every kind of record, a snapshot holds what the naive store holds after the same transactions, refuses what it
// refuses, keeps beside the records what follows from them, and leaves every earlier snapshot as it was. What goes takes
// its bytes along.
func TestEveryKindOfRecordMatchesTheNaiveStore(t *testing.T) {
	sp := space(t, "u")
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		store, snap := graphstoretest.NewMemory(), graphstore.NewSnapshot(sp)
		var earlier []*graphstore.Snapshot
		var digests []graphstore.Digest
		for range rapid.IntRange(1, 30).Draw(t, "transactions") {
			changes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) graphstore.Change { return drawWorld(t, sp) }), 1, 5).Draw(t, "changes")
			next, err := snap.With(changes)
			want := store.Apply(ctx, changes)
			if errors.Is(err, graphstore.ErrDangling) != errors.Is(want, graphstore.ErrDangling) ||
				errors.Is(err, graphstore.ErrBadChange) != errors.Is(want, graphstore.ErrBadChange) {
				t.Fatalf("With says %v, the naive store %v", err, want)
			}
			if err != nil {
				refused++
				continue
			}
			earlier, digests = append(earlier, snap), append(digests, snap.Digest())
			snap = next
			head, err := store.Head(ctx)
			if err != nil || head.Digest != snap.Digest() {
				t.Fatalf("digest %s, the naive store's %s, %v", snap.Digest(), head.Digest, err)
			}
			if err := graphstoretest.CheckSnapshot(snap); err != nil {
				t.Fatal(err)
			}
		}
		for i, s := range earlier {
			if err := graphstoretest.CheckSnapshot(s); err != nil || s.Digest() != digests[i] {
				t.Fatalf("snapshot %d changed after it was made: %v", i, err)
			}
		}
		if empty := emptied(t, snap); empty.Bytes() != graphstore.NewSnapshot(sp).Bytes() || empty.Edges() != 0 {
			t.Fatalf("%d bytes of nothing: want the %d of an empty graph", empty.Bytes(), graphstore.NewSnapshot(sp).Bytes())
		}
	})
	if refused == 0 {
		t.Error("no transaction was refused: the changes are too tame")
	}
}

// emptied deletes everything, in one transaction.
func emptied(t *rapid.T, s *graphstore.Snapshot) *graphstore.Snapshot {
	t.Helper()
	var deletes []graphstore.Change
	for c := range s.Records() {
		deletes = append(deletes, graphstore.DeleteKey(s.Space(), c.Key()))
	}
	empty, err := s.With(deletes)
	if err != nil {
		t.Fatal(err)
	}
	return empty
}

func TestEvidenceOfSchemas(t *testing.T) {
	sp := space(t, "u")
	by := graphstore.Asserter{Kind: graphstore.BySchema, ID: "s"}
	toFact := graphstore.Edge{Source: "s", Target: "f", Type: graphstore.DerivedFrom, Weight: 1, Asserter: by}
	toRef := graphstore.Edge{Source: "s", Target: "f", Type: graphstore.DerivedFromRef, Weight: 1, Asserter: by}
	snap, err := graphstore.NewSnapshot(sp).With([]graphstore.Change{
		graphstore.PutSchema(sp, graphstore.Schema{ID: "s", Level: graphstore.LevelSchema, Title: "T"}), graphstore.PutSchema(sp, graphstore.Schema{ID: "f"}),
		graphstore.PutFact(sp, graphstore.Fact{ID: "f", State: graphstore.StateActive}), graphstore.PutRef(sp, graphstore.Ref{ID: "f"}),
		graphstore.PutEdge(sp, toFact), graphstore.PutEdge(sp, toRef),
	})
	if err != nil {
		t.Fatal(err)
	}
	// A schema, a fact and a ref of one id are three nodes: only "s" has evidence, and it cites both others.
	for _, tt := range []struct {
		what string
		got  []graphstore.Edge
		want []graphstore.Edge
	}{
		{"evidence of s", snap.Evidence("s"), []graphstore.Edge{toFact, toRef}},
		{"evidence of the schema f", snap.Evidence("f"), nil},
		{"cites of f", snap.Cited("f"), []graphstore.Edge{toFact, toRef}},
		{"cites of s", snap.Cited("s"), nil},
		{"edges of the fact f, which are not evidence", snap.EdgesOf("f"), nil},
	} {
		slices.SortFunc(tt.got, func(a, b graphstore.Edge) int { return a.Key().Compare(b.Key()) })
		if diff := cmp.Diff(tt.want, tt.got); diff != "" && len(tt.want)+len(tt.got) > 0 {
			t.Errorf("%s (-want +got):\n%s", tt.what, diff)
		}
	}
	for what, k := range map[string]graphstore.Key{"the fact": {Kind: graphstore.KindFact, Node: "f"}, "the ref": {Kind: graphstore.KindRef, Node: "f"}, "the schema": {Kind: graphstore.KindSchema, Node: "s"}} {
		if _, err := snap.With([]graphstore.Change{graphstore.DeleteKey(sp, k)}); !errors.Is(err, graphstore.ErrDangling) {
			t.Errorf("delete %s while evidence names it: %v: want ErrDangling", what, err)
		}
	}
	for what, e := range map[string]graphstore.Edge{"fact": {Source: "s", Target: "g", Type: graphstore.DerivedFrom}, "ref": {Source: "s", Target: "s", Type: graphstore.DerivedFromRef},
		"schema": {Source: "g", Target: "f", Type: graphstore.DerivedFrom}} {
		e.Weight, e.Asserter = 1, by
		if _, err := snap.With([]graphstore.Change{graphstore.PutEdge(sp, e)}); !errors.Is(err, graphstore.ErrDangling) {
			t.Errorf("evidence without its %s: %v: want ErrDangling", what, err)
		}
	}
}

func TestTombstones(t *testing.T) {
	sp := space(t, "u")
	ofUser, ofSource, ofOdd := graphstore.Tombstone{At: 7}, graphstore.Tombstone{Source: "user", At: 3}, graphstore.Tombstone{Source: "source user", At: -2}
	snap, err := graphstore.NewSnapshot(sp).With([]graphstore.Change{graphstore.PutTombstone(sp, ofUser), graphstore.PutTombstone(sp, ofSource), graphstore.PutTombstone(sp, ofOdd)})
	if err != nil {
		t.Fatal(err)
	}
	// A source named like the user's tombstone, or like the key of another source's, has one of its own.
	for source, want := range map[string]graphstore.Tombstone{"": ofUser, "user": ofSource, "source user": ofOdd} {
		if got, ok := snap.Tombstone(source); !ok || got != want {
			t.Errorf("tombstone of %q: %+v, %t: want %+v", source, got, ok, want)
		}
		gone, err := snap.With([]graphstore.Change{graphstore.DeleteKey(sp, want.Key())})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := gone.Tombstone(source); ok || gone.Digest().Records() != 2 {
			t.Errorf("tombstone of %q is deleted: %t, %d records left", source, !ok, gone.Digest().Records())
		}
	}
	if got, ok := snap.Tombstone("else"); ok {
		t.Errorf("tombstone of a source that has none: %+v", got)
	}
	for at, want := range map[graphstore.Instant]bool{0: true, -1: true, 6: true, 7: true, 8: false} { // without a time: older than any
		if got := ofUser.Covers(at); got != want {
			t.Errorf("a tombstone at 7 covers %d: %t", at, got)
		}
	}
	if early := (graphstore.Tombstone{At: -5}); early.Covers(-4) || !early.Covers(-5) || !early.Covers(0) || early.Covers(1) {
		t.Error("a tombstone before 1970 covers what is not later, and what has no time")
	}
}

// Registers survive their text, with and without what is known of where the writes came from.
func TestRegistersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := graphstore.Registers{State: drawOrigin(t), Base: drawOrigin(t)}
		for _, f := range rapid.SliceOfDistinct(rapid.SampledFrom([]graphstore.Field{graphstore.FieldTags, graphstore.FieldAgent, "own"}), rapid.ID).Draw(t, "fields") {
			r = r.With(f, drawOrigin(t))
		}
		text, err := r.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back graphstore.Registers
		if err := back.UnmarshalText(text); err != nil || !back.Equal(r) {
			t.Fatalf("%s: %+v, %v: want %+v", text, back, err, r)
		}
	})
	for _, text := range []string{`{"s":[1,2]}`, `{"b":[1,2,"e",4]}`, `{"b":[1,2,"e",4,"s",6]}`, `{"b":[1,2,"e","4","s"]}`, `[]`} {
		var r graphstore.Registers
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%s: %+v: want an error", text, r)
		}
	}
}

// The digest sees every part of the records that are neither facts, entities nor topics.
func TestDigestSeesEveryFieldOfMinorRecords(t *testing.T) {
	sp := space(t, "u")
	stamp := graphstore.Stamp{Version: 1, Rank: graphstore.RankAdd, EventID: "e"}
	schema := graphstore.Schema{ID: "x", Stamp: stamp}
	merge := graphstore.Merge{Merged: "x", Kept: "y", Stamp: stamp}
	variants := []graphstore.Change{graphstore.PutRef(sp, graphstore.Ref{ID: "x"}), graphstore.PutTombstone(sp, graphstore.Tombstone{Source: "x", At: 1}),
		graphstore.PutTombstone(sp, graphstore.Tombstone{Source: "x", At: 2}), graphstore.PutTombstone(sp, graphstore.Tombstone{At: 1})}
	for _, edit := range []func(*graphstore.Stamp){func(*graphstore.Stamp) {}, func(s *graphstore.Stamp) { s.Version++ }, func(s *graphstore.Stamp) { s.Rank++ },
		func(s *graphstore.Stamp) { s.EventID = "f" }, func(s *graphstore.Stamp) { s.At = 1 }, func(s *graphstore.Stamp) { s.Source = "e" }} {
		s, m, f := schema, merge, graphstore.Fact{ID: "x", Registers: graphstore.Registers{Base: stamp}}
		edit(&s.Stamp)
		edit(&m.Stamp)
		edit(&f.Registers.Base)
		variants = append(variants, graphstore.PutSchema(sp, s), graphstore.PutMerge(sp, m), graphstore.PutFact(sp, f))
	}
	for _, edit := range []func(*graphstore.Schema){func(s *graphstore.Schema) { s.Level = "t" }, func(s *graphstore.Schema) { s.Title = "t" }, func(s *graphstore.Schema) { s.Deleted = true }} {
		s := schema
		edit(&s)
		variants = append(variants, graphstore.PutSchema(sp, s))
	}
	for _, edit := range []func(*graphstore.Merge){func(m *graphstore.Merge) { m.Merged, m.Kept = "y", "x" }, func(m *graphstore.Merge) { m.Step = "t" }, func(m *graphstore.Merge) { m.Undone = true },
		func(m *graphstore.Merge) { m.Evidence = "t" }, func(m *graphstore.Merge) { m.MergedName = "t" }, func(m *graphstore.Merge) { m.KeptName = "t" }} {
		m := merge
		edit(&m)
		variants = append(variants, graphstore.PutMerge(sp, m))
	}
	seen := map[graphstore.Digest]string{}
	for _, v := range variants {
		var d graphstore.Digest
		d.Add(v)
		if had, dup := seen[d]; dup {
			t.Errorf("one digest of %s and %s", had, v.Key())
		}
		seen[d] = fmt.Sprint(v.Key())
	}
}
