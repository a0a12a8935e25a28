package graphstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

func space(t testing.TB, user string) graphstore.Space {
	t.Helper()
	s, err := graphstore.NewSpace(user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sharedUUID is used as an id of everything, in this spelling and in another, which is another id.
const sharedUUID = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"

// drawChange draws one change over a handful of ids, so that replaces, deletes and dangling edges are frequent.
func drawChange(t *rapid.T, s graphstore.Space) graphstore.Change {
	id := func(label string) string { return fmt.Sprintf("%s%d", label, rapid.IntRange(0, 5).Draw(t, label)) }
	edge := func() graphstore.Edge {
		e := graphstore.Edge{
			Source:   id("f"),
			Type:     rapid.SampledFrom([]graphstore.RelationType{graphstore.Causes, graphstore.CoOccurs, graphstore.Mentions, graphstore.TaggedWith}).Draw(t, "type"),
			Asserter: graphstore.Asserter{Kind: graphstore.AsserterKind(rapid.IntRange(1, 3).Draw(t, "asserter kind")), ID: rapid.SampledFrom([]string{"", "f0", "f1", "f2", "f3", sharedUUID}).Draw(t, "asserter")},
			Weight:   rapid.SampledFrom([]float64{0.25, 0.5, 1}).Draw(t, "weight"),
			Detail:   rapid.SampledFrom([]string{"", "said so", "said otherwise", sharedUUID}).Draw(t, "detail"),
		}
		switch e.Type {
		case graphstore.Mentions:
			e.Target = id("e")
		case graphstore.TaggedWith:
			e.Target = id("t")
		default:
			e.Target = id("f")
		}
		return e
	}
	text := rapid.SampledFrom([]string{"", "b1", "b2", sharedUUID, strings.ToUpper(sharedUUID)})
	at := rapid.SampledFrom([]graphstore.Instant{0, 1, -5, 77})
	stamp := func(label string) graphstore.Stamp {
		return graphstore.Stamp{Version: int64(rapid.IntRange(0, 2).Draw(t, label)), Rank: graphstore.Rank(rapid.IntRange(0, 6).Draw(t, label)), EventID: text.Draw(t, label)}
	}
	fact := func() graphstore.Fact {
		f := graphstore.Fact{
			ID:      id("f"),
			State:   graphstore.State(rapid.IntRange(0, 4).Draw(t, "state")),
			BatchID: text.Draw(t, "batch"),
		}
		if rapid.Bool().Draw(t, "bare") {
			return f
		}
		f.AgentID, f.SourceID, f.EpisodeID = text.Draw(t, "agent"), text.Draw(t, "source"), text.Draw(t, "episode")
		f.MemoryAt, f.ValidFrom, f.RecordedAt = at.Draw(t, "memory at"), at.Draw(t, "valid from"), at.Draw(t, "recorded at")
		f.Registers.Base = stamp("base")
		f.Registers.State = f.Registers.Base
		if rapid.Bool().Draw(t, "rare") {
			f.ValidTo, f.SupersededAt, f.SupersededBy = at.Draw(t, "valid to"), at.Draw(t, "superseded at"), text.Draw(t, "superseded by")
			f.Registers.State = stamp("lifecycle")
			f.Registers = f.Registers.With(graphstore.Field(rapid.SampledFrom([]string{"tags", "own field"}).Draw(t, "field")), stamp("field"))
		}
		return f
	}
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1, 2:
		return graphstore.PutFact(s, fact())
	case 3:
		return graphstore.PutEntity(s, graphstore.Entity{ID: id("e"), Type: text.Draw(t, "type"), Name: id("n"), Norm: rapid.SampledFrom([]string{"n1", "e1", "x"}).Draw(t, "norm"),
			Aliases: rapid.SampledFrom([][]string{nil, {"al", "ias"}}).Draw(t, "aliases"), HardIDs: rapid.SampledFrom([][]graphstore.HardID{nil, {{Kind: "k", Value: "v"}}}).Draw(t, "hard ids")})
	case 4:
		return graphstore.PutTopic(s, graphstore.Topic{ID: id("t"), Name: id("n")})
	case 5, 6, 7:
		return graphstore.PutEdge(s, edge())
	case 8:
		return graphstore.DeleteKey(s, edge().Normalized().Key())
	default:
		return graphstore.DeleteKey(s, graphstore.Key{Kind: graphstore.NodeKind(rapid.IntRange(1, 3).Draw(t, "kind")), Node: id(rapid.SampledFrom([]string{"f", "e", "t"}).Draw(t, "id"))})
	}
}

// A snapshot made by With must hold exactly what the naive map store holds after the same transactions, must refuse
// what it refuses, and must leave every earlier snapshot as it was.
func TestSnapshotMatchesNaiveStore(t *testing.T) {
	sp := space(t, "u")
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		store := graphstoretest.NewMemory()
		snap := graphstore.NewSnapshot(sp)
		type frozen struct {
			snap *graphstore.Snapshot
			was  graphstore.Digest
		}
		var history []frozen
		for range rapid.IntRange(1, 40).Draw(t, "transactions") {
			changes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) graphstore.Change { return drawChange(t, sp) }), 1, 6).Draw(t, "changes")
			next, err := snap.With(changes)
			want := store.Apply(ctx, changes)
			if errors.Is(err, graphstore.ErrDangling) != errors.Is(want, graphstore.ErrDangling) ||
				errors.Is(err, graphstore.ErrBadChange) != errors.Is(want, graphstore.ErrBadChange) {
				t.Fatalf("With says %v, the naive store %v", err, want)
			}
			if err != nil {
				continue
			}
			history = append(history, frozen{snap, snap.Digest()})
			snap = next
			checkAgainst(t, store, snap)
		}
		for i, h := range history {
			if got := h.snap.Digest(); got != h.was {
				t.Fatalf("snapshot %d changed after it was made", i)
			}
		}
	})
}

func checkAgainst(t *rapid.T, store graphstore.Store, snap *graphstore.Snapshot) {
	records := map[graphstore.Key]graphstore.Change{}
	if err := store.Load(context.Background(), snap.Space(), func(c graphstore.Change) error {
		records[c.Key()] = c
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	got := map[graphstore.Key]graphstore.Change{}
	for c := range snap.Records() {
		got[c.Key()] = c
	}
	if diff := cmp.Diff(records, got, cmp.AllowUnexported(graphstore.Space{})); diff != "" {
		t.Fatalf("records (-naive +snapshot):\n%s", diff)
	}
	for k, want := range records {
		if c, ok := snap.Record(k); !ok || !cmp.Equal(want, c, cmp.AllowUnexported(graphstore.Space{})) {
			t.Fatalf("record %s: %v, %t", k, c, ok)
		}
	}
	checkDerived(t, records, snap)
}

// checkDerived recounts what the snapshot keeps beside the records.
func checkDerived(t *rapid.T, records map[graphstore.Key]graphstore.Change, snap *graphstore.Snapshot) {
	present, edges := 0, 0
	members := map[string][]string{}
	onBridge := map[string]map[string]bool{}
	for _, c := range records {
		switch {
		case c.Fact != nil:
			if c.Fact.Present() {
				present++
			}
			members[c.Fact.BatchID] = append(members[c.Fact.BatchID], c.Fact.ID)
		case c.Edge != nil:
			edges++
			if f := records[graphstore.Key{Kind: graphstore.KindFact, Node: c.Edge.Source}]; f.Fact == nil {
				t.Fatalf("edge %s dangles", c.Key())
			} else if _, target := c.Edge.Type.Ends(); target != graphstore.KindFact && f.Fact.Present() {
				k := c.Edge.Type.String() + c.Edge.Target
				if onBridge[k] == nil {
					onBridge[k] = map[string]bool{}
				}
				onBridge[k][c.Edge.Source] = true
			}
		}
	}
	if snap.Present() != present || snap.Edges() != edges {
		t.Fatalf("present %d, edges %d: want %d, %d", snap.Present(), snap.Edges(), present, edges)
	}
	for batch, ids := range members {
		if batch == "" {
			continue
		}
		slices.Sort(ids) // all have BatchSeq 0
		var got []string
		for _, f := range snap.BatchMembers(batch) {
			got = append(got, f.ID)
		}
		if !slices.Equal(got, ids) {
			t.Fatalf("batch %s: %v, want %v", batch, got, ids)
		}
	}
	for _, c := range records {
		if c.Fact == nil {
			continue
		}
		n, _ := snap.Node(c.Fact.ID)
		checkAccessors(t, snap, n, *c.Fact)
		checkEdgesOf(t, records, snap, c.Fact.ID)
		for b := range snap.Bridges(n) {
			info := snap.BridgeInfo(b)
			if want := len(onBridge[b.Type.String()+info.ID]); info.Degree != want {
				t.Fatalf("degree of %s: %d, want %d", info.ID, info.Degree, want)
			}
		}
	}
}

// checkAccessors compares what is read of a node in parts with the fact.
func checkAccessors(t *rapid.T, snap *graphstore.Snapshot, n graphstore.Node, f graphstore.Fact) {
	from, to := snap.Validity(n)
	if snap.ID(n) != f.ID || snap.State(n) != f.State || snap.MemoryAt(n) != f.MemoryAt || snap.IsPresent(n) != f.Present() ||
		from != f.ValidFrom || to != snap.ValidTo(&f) {
		t.Fatalf("parts of %+v: %s, %s, %s, %s to %s", f, snap.ID(n), snap.State(n), snap.MemoryAt(n), from, to)
	}
	for _, agent := range []string{"", "b1", sharedUUID, strings.ToUpper(sharedUUID), "nobody"} {
		if snap.OfAgent(n, agent) != (f.AgentID == agent) {
			t.Fatalf("of agent %q: %t, and its agent is %q", agent, snap.OfAgent(n, agent), f.AgentID)
		}
	}
}

// checkEdgesOf compares the edges at a fact, and the asserters of its links, with the records.
func checkEdgesOf(t *rapid.T, records map[graphstore.Key]graphstore.Change, snap *graphstore.Snapshot, id string) {
	want := map[graphstore.Key]graphstore.Edge{}
	for k, c := range records {
		if _, target := k.Relation.Ends(); k.IsEdge() && (k.Node == id || target == graphstore.KindFact && k.Target == id) {
			want[k] = *c.Edge
		}
	}
	got := map[graphstore.Key]graphstore.Edge{}
	for _, e := range snap.EdgesOf(id) {
		got[e.Key()] = e
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("edges of %s (-naive +snapshot):\n%s", id, diff)
	}
	n, _ := snap.Node(id)
	for _, l := range snap.Links(n) {
		k := graphstore.Key{Relation: l.Type, Node: id, Target: snap.ID(l.To), Asserter: snap.Asserter(n, l)}
		if !l.Out() {
			k.Node, k.Target = k.Target, k.Node
		}
		if e, ok := want[k]; !ok || e.Weight != l.Weight {
			t.Fatalf("link %s of weight %v: the record is %v, %t", k, l.Weight, e, ok)
		}
	}
}

// The digest of two graphs is equal exactly when their records are: it must see every stored field.
func TestDigestSeesEveryField(t *testing.T) {
	sp := space(t, "u")
	fact := graphstore.Fact{ID: "f", State: graphstore.StateActive, AgentID: "a"}
	variants := []graphstore.Change{graphstore.PutFact(sp, fact)}
	edit := func(change func(*graphstore.Fact)) {
		f := fact
		change(&f)
		variants = append(variants, graphstore.PutFact(sp, f))
	}
	edit(func(f *graphstore.Fact) { f.State = graphstore.StateShadowed })
	edit(func(f *graphstore.Fact) { f.AgentID, f.SourceID = "", "a" }) // same bytes, other field
	edit(func(f *graphstore.Fact) { f.BatchSeq = 1 })
	edit(func(f *graphstore.Fact) { f.MemoryAt = graphstore.InstantOfMicros(0) })
	edit(func(f *graphstore.Fact) { f.ValidFrom = graphstore.InstantOfMicros(0) })
	edit(func(f *graphstore.Fact) { f.SupersededBy = "g" })
	edit(func(f *graphstore.Fact) { f.Registers.Base.Version = 1 })
	edit(func(f *graphstore.Fact) { f.Registers.State.EventID = "e" })
	edit(func(f *graphstore.Fact) {
		f.Registers = f.Registers.With(graphstore.FieldTags, graphstore.Stamp{Version: 2})
	})
	variants = append(variants,
		graphstore.PutFact(space(t, "v"), fact),
		graphstore.PutEntity(sp, graphstore.Entity{ID: "f", Aliases: []string{"ab", "c"}}),
		graphstore.PutEntity(sp, graphstore.Entity{ID: "f", Aliases: []string{"a", "bc"}}),
		graphstore.PutTopic(sp, graphstore.Topic{ID: "f"}),
		graphstore.PutEdge(sp, graphstore.Edge{Source: "f", Target: "g", Type: graphstore.Causes, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "f"}, Weight: 1}),
		graphstore.PutEdge(sp, graphstore.Edge{Source: "f", Target: "g", Type: graphstore.Causes, Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: "f"}, Weight: 1}),
	)
	seen := map[string]int{}
	for i, v := range variants {
		var d graphstore.Digest
		d.Add(v)
		if j, dup := seen[d.String()]; dup {
			t.Errorf("variants %d and %d have one digest", i, j)
		}
		seen[d.String()] = i
	}
}

func TestCanonicalFactID(t *testing.T) {
	const want = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"
	for _, in := range []string{want, "5C56C793-69F3-4FBF-87E6-C4BF54C28C26", "{5c56c793-69f3-4fbf-87e6-c4bf54c28c26}", "urn:uuid:5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "5c56c79369f34fbf87e6c4bf54c28c26"} {
		if got := graphstore.CanonicalFactID(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	for _, in := range []string{"17", "017", "msg-88", "(5c56c793-69f3-4fbf-87e6-c4bf54c28c26)", "Ünïcode", "zzzzzzzz-69f3-4fbf-87e6-c4bf54c28c26"} {
		if got := graphstore.CanonicalFactID(in); got != in {
			t.Errorf("%q became %q: only UUIDs have other spellings", in, got)
		}
	}
}

// Instants order as times do and survive a round trip, at the epoch too, where the coding leaves its hole.
func TestInstantRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-62135596799e6, 253402300799e6)).Draw(t, "micros")
		other := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-62135596799e6, 253402300799e6)).Draw(t, "other")
		i := graphstore.InstantOfMicros(us)
		if !i.Present() || i.Micros() != us {
			t.Fatalf("%d came back as %d", us, i.Micros())
		}
		if (us < other) != (i < graphstore.InstantOfMicros(other)) {
			t.Fatalf("order of %d and %d is lost", us, other)
		}
		text, err := i.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back graphstore.Instant
		if err := back.UnmarshalText(text); err != nil || back != i {
			t.Fatalf("%s: %v, %v", text, back, err)
		}
	})
}
