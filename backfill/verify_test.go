package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// Users implements [backfill.Verifiable].
func (g *graph) Users(ctx context.Context) ([]graphstore.Space, error) { return g.store.Spaces(ctx) }

// damage changes the graph behind the back of everybody.
func (g *graph) damage(t fataler, changes ...graphstore.Change) {
	t.Helper()
	if err := g.live.Apply(context.Background(), changes); err != nil {
		t.Fatal(err)
	}
}

// drop removes a fact and its edges, and nothing that follows from that.
func (g *graph) drop(t fataler, user graphstore.Space, id string) {
	t.Helper()
	view := g.view(t, user)
	changes := []graphstore.Change{graphstore.DeleteKey(user, graphstore.Fact{ID: id}.Key())}
	for _, e := range view.EdgesOf(id) {
		changes = append(changes, graphstore.DeleteKey(user, e.Key()))
	}
	g.damage(t, changes...)
}

// flip gives a fact another state, and nothing else.
func (g *graph) flip(t fataler, user graphstore.Space, id string, to graphstore.State) {
	t.Helper()
	f, ok := g.view(t, user).Fact(id)
	if !ok || f.State == to {
		t.Fatalf("no fact %s of another state", id)
	}
	f.State = to
	g.damage(t, graphstore.PutFact(user, f))
}

func (g *graph) view(t fataler, user graphstore.Space) *graphstore.Snapshot {
	t.Helper()
	view, err := g.live.View(user)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// said is an edge in the name of its source.
func said(source, target string, typ graphstore.RelationType, detail string) graphstore.Edge {
	return graphstore.Edge{Source: source, Target: target, Type: typ, Weight: 1, Detail: detail, Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: source}}
}

func verifyWith(t fataler, points backfill.Points, g backfill.Graph, cfg backfill.Config, req backfill.VerifyRequest) backfill.VerifyReport {
	t.Helper()
	cfg.Dir, cfg.Logger = "unused", slog.New(slog.DiscardHandler)
	b, err := backfill.New(points, g, newProjector(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	v, err := b.Verify(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func verify(t fataler, points backfill.Points, g backfill.Graph, req backfill.VerifyRequest) backfill.VerifyReport {
	t.Helper()
	return verifyWith(t, points, g, backfill.Config{}, req)
}

// wantDrift compares what was found with lines of kind, user and id.
func wantDrift(t *testing.T, v backfill.VerifyReport, want ...string) {
	t.Helper()
	var got []string
	for _, d := range v.Examples {
		got = append(got, fmt.Sprint(d.Kind, " ", d.UserID, " ", d.ID))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("drift (-want +got):\n%s%+v", diff, v.Examples)
	}
}

// storedFacts are points with all that a payload can hold, for two users of the same ids.
func storedFacts(t fataler) []vdb.Point {
	t.Helper()
	var points []vdb.Point
	for _, user := range []string{"ada", "bob"} {
		for i := range 12 {
			p := vdb.Point{Space: space(t, user), ID: fmt.Sprint("f", i), Vector: []float32{1, float32(i)}}
			p.Payload = vdb.Payload{
				AgentID: "a", Version: int64(i % 3), BatchID: fmt.Sprint("b", i/4), Tags: []string{"tea", fmt.Sprint("t", i)},
				MemoryAt: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), CreatedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
				Extra: map[string]any{"entities": []any{"Ada", map[string]any{"name": fmt.Sprint("Town ", i/2), "type": "place"}}, "batch_seq": int64(i % 4)},
			}
			if i%3 == 1 {
				p.Payload.Extra["relations"] = []any{map[string]any{"to": fmt.Sprint("f", i-1), "type": "causes"}, map[string]any{"to": "elsewhere", "type": "related"}}
			}
			points = append(points, p)
		}
	}
	points[7].Payload.Extra["superseded_by"], points[7].Payload.ValidTo = "f6", time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	points[7].Payload.State, points[8].Payload.State, points[9].Payload.State = "superseded", "shadowed", "deleted"
	return points
}

// A graph that a backfill has made agrees with its points: with their neighbours too.
func TestVerifyOfABackfill(t *testing.T) {
	g := newGraph(t)
	store := newPoints(t, storedFacts(t)...)
	before := verify(t, store, g, backfill.VerifyRequest{})
	if before.Drift[backfill.DriftMissingNode] != 24 || before.Coverage != 0 || before.Clean {
		t.Errorf("of an empty graph: %+v", before)
	}
	must(t, t.TempDir(), store, g, backfill.Request{})
	digest := g.live.Digest()
	for _, neighbors := range []bool{false, true} {
		v := verify(t, store, g, backfill.VerifyRequest{Neighbors: neighbors, Repair: true})
		if !v.Clean || v.Drifted != 0 || v.Coverage != 1 || v.Points != 24 || v.Users != 2 || g.live.Digest() != digest {
			t.Errorf("neighbors %v: %+v", neighbors, v)
		}
	}
}

// What is damaged is what is found, a dry run changes nothing, a repair restores the digest, and then nothing is found.
func TestVerifyFindsAndRepairsDamage(t *testing.T) {
	points := storedFacts(t)
	store, user := newPoints(t, points...), space(t, "ada")
	tag := said("f3", "tea2", graphstore.TaggedWith, "tea2")
	for name, c := range map[string]struct {
		damage func(g *graph)
		want   []string
	}{
		"a node without relations is dropped":      {func(g *graph) { g.drop(t, user, "f5") }, []string{"missing_node ada f5"}},
		"a node that another one names is dropped": {func(g *graph) { g.drop(t, user, "f0") }, []string{"missing_node ada f0", "missing_contribution ada f1"}},
		"a node that names others is dropped":      {func(g *graph) { g.drop(t, user, "f10") }, []string{"missing_node ada f10"}},
		"states are flipped": {func(g *graph) {
			g.flip(t, user, "f2", graphstore.StateShadowed)
			g.flip(t, user, "f7", graphstore.StateActive)
		}, []string{"state ada f2", "state ada f7"}},
		"a deleted fact is shown": {func(g *graph) { g.flip(t, user, "f9", graphstore.StateActive) }, []string{"state ada f9"}},
		"a tag and its topic are added": {func(g *graph) {
			g.damage(t, graphstore.PutTopic(user, graphstore.Topic{ID: "tea2", Name: "tea2", Facts: 1}), graphstore.PutEdge(user, tag))
		}, []string{"stale_contribution ada f3"}},
		"a relation is added to a fact without any": {func(g *graph) { g.damage(t, graphstore.PutEdge(user, said("f0", "f5", graphstore.Causes, ""))) }, []string{"stale_contribution ada f0"}},
		"a relation is taken away":                  {func(g *graph) { g.damage(t, graphstore.DeleteKey(user, said("f1", "f0", graphstore.Causes, "").Key())) }, []string{"missing_contribution ada f1"}},
		"a batch and the spine get edges": {func(g *graph) {
			g.damage(t, graphstore.PutEdge(user, graphstore.Edge{Source: "f0", Target: "f5", Type: graphstore.CoOccurs, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: "b0"}}),
				graphstore.PutEdge(user, graphstore.Edge{Source: "f0", Target: "f4", Type: graphstore.TemporalNext, Weight: 1, Asserter: graphstore.Asserter{Kind: graphstore.BySpine}}))
		}, []string{"derived_edge ada f0", "derived_edge ada f0"}},
		"an entity and a topic of nobody": {func(g *graph) {
			g.damage(t, graphstore.PutEntity(user, graphstore.Entity{ID: "thing:nobody", Type: "thing", Name: "Nobody", Norm: "nobody", Mentions: 2}), graphstore.PutTopic(user, graphstore.Topic{ID: "lost", Name: "lost"}))
		}, []string{"orphan ada lost", "orphan ada thing:nobody"}},
		"counts": {func(g *graph) {
			topic, _ := g.view(t, user).Topic("tea")
			topic.Facts += 3
			g.damage(t, graphstore.PutTopic(user, topic))
		}, []string{"count ada tea"}},
		"a field": {func(g *graph) {
			f, _ := g.view(t, user).Fact("f4")
			f.AgentID = "b"
			g.damage(t, graphstore.PutFact(user, f))
		}, []string{"field ada f4"}},
		"another fact retired it": {func(g *graph) {
			f, _ := g.view(t, user).Fact("f7")
			f.SupersededBy = "f2"
			g.damage(t, graphstore.PutFact(user, f))
		}, []string{"field ada f7"}},
		"an end that readers do not see, since it is retired before": {func(g *graph) {
			f, _ := g.view(t, user).Fact("f7")
			f.ValidTo = graphstore.InstantOf(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
			g.damage(t, graphstore.PutFact(user, f))
		}, []string{"field ada f7"}},
		"nothing knows who wrote it": {func(g *graph) {
			f, _ := g.view(t, user).Fact("f4")
			f.Registers.Fields = nil
			g.damage(t, graphstore.PutFact(user, f))
		}, []string{"field ada f4"}},
		"nothing knows who retired it": {func(g *graph) {
			f, _ := g.view(t, user).Fact("f8")
			f.Registers.State = graphstore.Stamp{}
			g.damage(t, graphstore.PutFact(user, f))
		}, []string{"field ada f8"}},
		"a fact nobody stored": {func(g *graph) {
			g.damage(t, graphstore.PutFact(user, graphstore.Fact{ID: "ghost", State: graphstore.StateActive,
				Registers: graphstore.Registers{Base: graphstore.Stamp{Version: 3, Rank: graphstore.RankAdd, EventID: "e"}, State: graphstore.Stamp{Version: 3, Rank: graphstore.RankAdd, EventID: "e"}}}))
		}, []string{"no_point ada ghost"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGraph(t)
			must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
			digest, foreign := g.live.Digest(), g.view(t, space(t, "bob"))
			c.damage(g)
			damaged := g.live.Digest()
			found := verify(t, store, g, backfill.VerifyRequest{})
			wantDrift(t, found, c.want...)
			dry := verify(t, store, g, backfill.VerifyRequest{Repair: true, DryRun: true})
			wantDrift(t, dry, c.want...)
			if g.live.Digest() != damaged || found.Clean || dry.Clean || len(dry.Written)+len(dry.Removed) == 0 {
				t.Errorf("a dry run changed something, or says nothing: %+v", dry)
			}
			done := verify(t, store, g, backfill.VerifyRequest{Repair: true})
			wantDrift(t, done, c.want...)
			if !done.Clean || done.Repaired != 1 || !cmp.Equal(done.Written, dry.Written) || !cmp.Equal(done.Removed, dry.Removed) {
				t.Errorf("repair: %+v, dry run %+v", done, dry)
			}
			if g.live.Digest() != digest {
				t.Errorf("digest %s after the repair, want %s", g.live.Digest(), digest)
			}
			if g.view(t, space(t, "bob")) != foreign {
				t.Error("the graph of another user was touched")
			}
			if again := verify(t, store, g, backfill.VerifyRequest{}); !again.Clean || again.Drifted != 0 {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// wroteFacts are events that wrote the points of a user, with the same versions, before the points were stored.
func wroteFacts(t fataler, g *graph, points []vdb.Point) {
	t.Helper()
	proj := newProjector(t)
	for i, p := range points {
		w := projector.FactWrite{ID: p.ID, Op: projector.OpAdd, Version: projector.Some(int64(i + 5)), AgentID: projector.Some(p.Payload.AgentID),
			Tags: projector.Some(p.Payload.Tags), MemoryAt: projector.Some(graphstore.InstantOf(p.Payload.MemoryAt)),
			Entities: projector.Some([]projector.EntityRef{{Name: "Grace", Type: "person"}})}
		ev, err := projector.NewEvent(fmt.Sprint("e", i), "test", time.Date(2026, 3, 1, 0, 0, i, 0, time.UTC), p.Space.UserID(), projector.FactsWritten{Facts: []projector.FactWrite{w}, BatchID: "batch"})
		if err != nil {
			t.Fatal(err)
		}
		g.event(t, proj, ev)
	}
}

func eventPoints(t fataler) []vdb.Point {
	t.Helper()
	points := storedFacts(t)
	for i := range points {
		pay := &points[i].Payload
		pay.Version, pay.State, pay.BatchID, pay.Extra, pay.CreatedAt = int64(i+5), "", "", map[string]any{}, time.Time{}
	}
	return points
}

// The same of a graph that events made: all but a dropped node comes back to the byte, and that with the words of its point.
func TestVerifyOfEvents(t *testing.T) {
	points := eventPoints(t)
	store, g, user := newPoints(t, points...), newGraph(t), space(t, "ada")
	wroteFacts(t, g, points)
	digest := g.live.Digest()
	if v := verify(t, store, g, backfill.VerifyRequest{}); !v.Clean || v.Coverage != 1 || v.Points != 24 {
		t.Fatalf("before the damage: %+v", v)
	}
	g.flip(t, user, "f2", graphstore.StateDeleted)
	g.damage(t, graphstore.DeleteKey(user, said("f3", "t3", graphstore.TaggedWith, "").Key()), graphstore.PutEdge(user, said("f4", "t5", graphstore.TaggedWith, "t5")),
		graphstore.PutEntity(user, graphstore.Entity{ID: "thing:nobody", Type: "thing", Name: "Nobody", Norm: "nobody"}))
	v := verify(t, store, g, backfill.VerifyRequest{Repair: true})
	wantDrift(t, v, "state ada f2", "missing_contribution ada f3", "stale_contribution ada f4", "orphan ada thing:nobody")
	if !v.Clean || g.live.Digest() != digest {
		t.Errorf("digest %s, want %s: %+v", g.live.Digest(), digest, v)
	}

	g.drop(t, user, "f6")
	v = verify(t, store, g, backfill.VerifyRequest{Repair: true})
	if f, ok := g.view(t, user).Fact("f6"); v.Drift[backfill.DriftMissingNode] != 1 || !v.Clean || !ok || f.State != graphstore.StateActive || f.AgentID != "a" {
		t.Errorf("dropped: %+v, %+v", v, f)
	}
	if v := verify(t, store, g, backfill.VerifyRequest{}); !v.Clean || v.Drifted != 0 {
		t.Errorf("at last: %+v", v)
	}
}

// A memory that writes its point first and its event later never looks drifted, whenever both fall between the looks; a node that is
// really missing does.
func TestVerifyBetweenEvents(t *testing.T) {
	points, user := eventPoints(t), space(t, "ada")
	mem, g := newPoints(t, points...), newGraph(t)
	wroteFacts(t, g, points)
	g.drop(t, user, "f6")
	proj, n := newProjector(t), 0
	write := func(id string, version int64, tags ...string) {
		n++
		ev, err := projector.NewEvent(fmt.Sprint("late", n), "test", time.Date(2026, 4, 1, 0, 0, n, 0, time.UTC), "ada", projector.FactsWritten{Facts: []projector.FactWrite{
			{ID: id, Op: projector.OpAdd, Version: projector.Some(version), Tags: projector.Some(tags)}}})
		if err != nil {
			t.Fatal(err)
		}
		g.event(t, proj, ev)
	}
	store := func(id string, version int64, tags ...string) {
		p := vdb.Point{Space: user, ID: id, Vector: []float32{1, 2}, Payload: vdb.Payload{Version: version, Tags: tags}}
		if err := mem.Upsert(context.Background(), []vdb.Point{p}); err != nil {
			t.Fatal(err)
		}
	}
	store("new", 7, "x")     // its event is on its way
	store("f2", 900, "y")    // likewise, of a fact that is known
	write("early", 8, "new") // its point is on its way
	pages := &pages{Store: mem, most: 5}
	scrolls := 0
	pages.before = func() error {
		if scrolls++; scrolls == 2 { // f10 was on the first page of the first look
			store("f10", 901, "z")
			write("f10", 901, "z")
		}
		return nil
	}
	cfg := backfill.Config{CaughtUp: func(context.Context) error {
		write("new", 7, "x")
		write("f2", 900, "y")
		store("early", 8, "new")
		return nil
	}}
	v := verifyWith(t, pages, g, cfg, backfill.VerifyRequest{UserID: "ada"})
	wantDrift(t, v, "missing_node ada f6")
	if v.Passed < 3 {
		t.Errorf("%d found once: want new, f2 and early at least: %+v", v.Passed, v)
	}
}

// A sample is of some users, the same for the same seed; of the others nothing is said.
func TestVerifySample(t *testing.T) {
	store, g := newPoints(t, clustered(t, 6, 5)...), newGraph(t)
	first := verify(t, store, g, backfill.VerifyRequest{Sample: 2})
	again := verify(t, store, g, backfill.VerifyRequest{Sample: 2, Seed: first.Request.Seed})
	if first.Users != 2 || first.AllUsers != 6 || first.Drift[backfill.DriftMissingNode] != 10 || !cmp.Equal(first.Examples, again.Examples) {
		t.Errorf("%+v, again %+v", first, again)
	}
	repaired := verify(t, store, g, backfill.VerifyRequest{Sample: 2, Seed: first.Request.Seed, Repair: true})
	if n := g.live.Counts(); n.Spaces != 2 || n.Present != 10 || !repaired.Clean {
		t.Errorf("%d users, %d facts: want those of the sample: %+v", n.Spaces, n.Present, repaired)
	}
}

// A user with more points than are to be looked at is looked at in part, the same part at each look; what is found there is found and
// repaired, and of the rest nothing is said.
func TestVerifyInPart(t *testing.T) {
	points, user := clustered(t, 1, 50), space(t, "user-0")
	store, g := newPoints(t, append(points, vdb.Point{Space: space(t, "lone"), ID: "l", Vector: points[0].Vector})...), newGraph(t)
	must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
	// 10 of 50 points are scanned and 10 of the other 40 facts looked up.
	whole := verify(t, store, g, backfill.VerifyRequest{Points: 10})
	if !whole.Clean || whole.Partial != 1 || whole.Points != 11 || whole.Unlooked != 30 || whole.Users != 2 || whole.Coverage != 1 {
		t.Errorf("before the damage: %+v", whole)
	}
	if v := verify(t, store, g, backfill.VerifyRequest{Points: 50}); v.Partial != 0 || v.Points != 51 {
		t.Errorf("of exactly so many: %+v", v)
	}
	page, err := store.Scroll(context.Background(), vdb.ScrollQuery{Space: user, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	dropped := page.Points[3].ID
	g.drop(t, user, dropped)
	by := graphstore.Stamp{Version: 3, Rank: graphstore.RankAdd, EventID: "e"}
	for i := range 40 {
		g.damage(t, graphstore.PutFact(user, graphstore.Fact{ID: fmt.Sprint("ghost-", i), State: graphstore.StateActive, Registers: graphstore.Registers{Base: by, State: by}}))
	}
	var told []backfill.VerifyReport
	cfg := backfill.Config{Verifying: func(v backfill.VerifyReport) { told = append(told, v) }}
	v := verifyWith(t, store, g, cfg, backfill.VerifyRequest{Points: 10, Seed: 1, Repair: true})
	// Of 80 facts that are not among the scanned, half are ghosts.
	ghosts := v.Drift[backfill.DriftNoPoint]
	if !v.Clean || v.Partial != 1 || v.Drift[backfill.DriftMissingNode] != 1 || ghosts < 1 || ghosts > 9 || len(told) == 0 || told[0].AllUsers != 2 {
		t.Errorf("%+v, told %+v", v, told)
	}
	if f, ok := g.view(t, user).Fact(dropped); !ok || !f.Present() {
		t.Error("what was found is not repaired")
	}
	rest := verify(t, store, g, backfill.VerifyRequest{Repair: true})
	if !rest.Clean || rest.Drift[backfill.DriftNoPoint] != 40-ghosts || rest.Partial != 0 {
		t.Errorf("%d ghosts were found, then %+v", ghosts, rest)
	}
}

// The coverage of a part is that of the points that were read, not of the facts that were looked up because the graph has them.
func TestCoverageOfAPart(t *testing.T) {
	store, g, user := newPoints(t, clustered(t, 1, 200)...), newGraph(t), space(t, "user-0")
	must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
	page, err := store.Scroll(context.Background(), vdb.ScrollQuery{Space: user, Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 200; i += 2 {
		g.drop(t, user, page.Points[i].ID)
	}
	if v := verify(t, store, g, backfill.VerifyRequest{}); v.Coverage != 0.5 || v.Points != 200 {
		t.Errorf("of all: %v of %d, want 0.5 of 200", v.Coverage, v.Points)
	}
	if v := verify(t, store, g, backfill.VerifyRequest{Points: 50}); v.Coverage != 0.5 || v.Points != 50 || v.Partial != 1 || v.Unlooked != 100 {
		t.Errorf("of a part: %v of %d, want 0.5 of 50: %+v", v.Coverage, v.Points, v)
	}
}

// How far a verification is is told within a user, too.
func TestVerifyTellsHowFarItIs(t *testing.T) {
	store, g := &slow{pages{Store: newPoints(t, clustered(t, 1, 60)...), most: 10}, 250 * time.Millisecond}, newGraph(t)
	var points []int64
	cfg := backfill.Config{Verifying: func(v backfill.VerifyReport) { points = append(points, v.Points) }}
	verifyWith(t, store, g, cfg, backfill.VerifyRequest{UserID: "user-0"})
	// Before the user, and after each of six pages, 250 ms apart; then the second look, for what was found.
	if len(points) < 7 || points[0] != 0 || points[1] != 10 || points[6] != 60 {
		t.Errorf("points read: %v", points)
	}
}

// Where the mapping finds no user, or the collection is another one, nothing is removed.
func TestVerifyRepairsNothingForAnotherCollection(t *testing.T) {
	g, points := newGraph(t), eventPoints(t)
	wroteFacts(t, g, points)
	digest := g.live.Digest()
	vector := []float32{1, 2}
	for name, c := range map[string]struct {
		store   backfill.Points
		user    string
		refused string
	}{
		"no fact":              {noFacts{newPoints(t, points...)}, "", "none of the 24 points of the collection is a fact"},
		"no fact, of one user": {noFacts{newPoints(t, points...)}, "ada", "none of the 24 points of the collection is a fact"},
		"other users":          {newPoints(t, vdb.Point{Space: space(t, "eve"), ID: "x", Vector: vector}), "", "no fact of the graph has a point"},
		"other facts":          {newPoints(t, vdb.Point{Space: space(t, "ada"), ID: "x", Vector: vector}), "", "no fact of the graph has a point"},
		"no points, of one":    {newPoints(t), "ada", "the collection has no points"},
		"another user":         {newPoints(t, vdb.Point{Space: space(t, "bob"), ID: "x", Vector: vector}), "ada", ""},
	} {
		req := backfill.VerifyRequest{UserID: c.user, Repair: true}
		b, err := backfill.New(c.store, g, newProjector(t), backfill.Config{Dir: "unused", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		dry := req
		dry.DryRun = true
		if v, err := b.Verify(context.Background(), dry); err != nil || v.Drift[backfill.DriftNoPoint] == 0 {
			t.Errorf("%s: a dry run: %v %+v", name, err, v)
		}
		if c.refused == "" {
			continue
		}
		if _, err := b.Verify(context.Background(), req); !errors.Is(err, backfill.ErrBadRequest) || !strings.Contains(err.Error(), c.refused) || g.live.Digest() != digest {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Where nothing would be removed nothing is refused: a graph that has only tombstones, or nothing.
	forgotten, err := projector.NewEvent("f", "test", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "zed", projector.UserForgotten{})
	if err != nil {
		t.Fatal(err)
	}
	tombs := newGraph(t)
	tombs.event(t, newProjector(t), forgotten)
	others := newPoints(t, vdb.Point{Space: space(t, "bob"), ID: "x", Vector: vector})
	if v := verify(t, others, tombs, backfill.VerifyRequest{Repair: true}); !v.Clean || v.Written["fact"] != 1 {
		t.Errorf("a graph of tombstones: %+v", v)
	}
	if v := verify(t, newPoints(t), newGraph(t), backfill.VerifyRequest{Repair: true}); !v.Clean {
		t.Errorf("nothing and nothing: %+v", v)
	}
	// A user whose points are all gone, in a collection that has others, is another thing.
	v := verify(t, newPoints(t, vdb.Point{Space: space(t, "bob"), ID: "x", Vector: vector}), g, backfill.VerifyRequest{UserID: "ada", Repair: true})
	if !v.Clean || v.Drift[backfill.DriftNoPoint] != 12 {
		t.Errorf("%+v", v)
	}
}

// noFacts is a collection in whose points the mapping finds no user.
type noFacts struct{ vdb.Store }

func (n noFacts) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	if !q.AllSpaces {
		return vdb.Page{}, nil
	}
	page, err := n.Store.Scroll(ctx, q)
	for _, p := range page.Points {
		page.Skipped = append(page.Skipped, p.ID+": no user")
	}
	page.Points = nil
	return page, err
}

func (noFacts) Get(context.Context, graphstore.Space, []string, bool) ([]vdb.Point, error) {
	return nil, nil
}

// A collection without any point is more likely a wrong one than a reason to remove everything.
func TestVerifyRepairsNothingForAnEmptyStore(t *testing.T) {
	g, points := newGraph(t), eventPoints(t)
	wroteFacts(t, g, points)
	digest := g.live.Digest()
	b, err := backfill.New(newPoints(t), g, newProjector(t), backfill.Config{Dir: "unused"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := b.Verify(context.Background(), backfill.VerifyRequest{})
	if err != nil || v.Drift[backfill.DriftNoPoint] != 24 || len(v.Examples) != 20 || v.Coverage != 1 {
		t.Errorf("%v: %+v", err, v)
	}
	if _, err := b.Verify(context.Background(), backfill.VerifyRequest{Repair: true}); !errors.Is(err, backfill.ErrBadRequest) || g.live.Digest() != digest {
		t.Errorf("repair: %v", err)
	}
}

func TestVerifyBadRequests(t *testing.T) {
	b, err := backfill.New(newPoints(t), newGraph(t), newProjector(t), backfill.Config{Dir: "unused"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		req  backfill.VerifyRequest
		says string
	}{
		{backfill.VerifyRequest{Sample: -1}, "sample -1"},
		{backfill.VerifyRequest{Points: -1}, "points -1"},
		{backfill.VerifyRequest{Sample: 3, UserID: "u"}, "not together with a user"},
		{backfill.VerifyRequest{DryRun: true}, "dry_run"},
		{backfill.VerifyRequest{Seed: 5}, "seed 5"},
		{backfill.VerifyRequest{UserID: "a\x00b"}, "user"},
		{backfill.VerifyRequest{Memory: 7}, "memory 7"},
	} {
		if _, err := b.Verify(context.Background(), c.req); !errors.Is(err, backfill.ErrBadRequest) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.req, err)
		}
	}
}
