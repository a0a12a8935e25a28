package projector_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

// step is an event or stored facts.
type step struct {
	event  *projector.Event
	stored []projector.StoredFact
}

// genSteps draws the events in any order with stored facts between them, one or more at a time, some of it repeated.
func genSteps(b projectortest.Backfilled) *rapid.Generator[[]step] {
	return rapid.Custom(func(t *rapid.T) []step {
		var steps []step
		for _, ev := range projectortest.GenOrder(b.Events).Draw(t, "order") {
			steps = append(steps, step{event: &ev})
		}
		for _, f := range b.Stored {
			steps = append(steps, step{stored: []projector.StoredFact{f}})
		}
		steps = rapid.Permutation(steps).Draw(t, "steps")
		return append(steps, rapid.SliceOfN(rapid.SampledFrom(steps), 0, 3).Draw(t, "repeats")...)
	})
}

func takeSteps(t *rapid.T, p *projector.Projector, view *graphstore.Snapshot, steps []step) *graphstore.Snapshot {
	t.Helper()
	for _, s := range steps {
		if s.event != nil {
			view = apply(t, p, view, *s.event)
		} else {
			view = applyStored(t, p, view, s.stored...)
		}
	}
	return view
}

// Stored facts that come at any point between events give the graph of the model.
func TestStoredFactsBetweenEvents(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		b := projectortest.GenBackfilled(10, space).Draw(t, "backfilled")
		m := projectortest.NewModel(projectortest.SmallShape())
		view := graphstore.NewSnapshot(space)
		for _, s := range genSteps(b).Draw(t, "steps") {
			view = takeSteps(t, p, view, []step{s})
			if s.event != nil {
				m.Add(*s.event)
			} else {
				m.AddStored(space, s.stored...)
			}
			if diff := m.Diff(view); diff != "" {
				t.Fatalf("after %+v (-model +graph):\n%s", s, diff)
			}
		}
	})
}

// Stored facts of one call are as those of one call each.
func TestStoredFactsAtOnce(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		history := projectortest.GenHistory(8, space).Draw(t, "history")
		stored := projectortest.GenUnversioned().Draw(t, "stored")
		before := inOrder(t, p, space, history)
		each := before
		for _, f := range stored {
			each = applyStored(t, p, each, f)
		}
		wantDigest(t, each, applyStored(t, p, before, stored...))
	})
}

// Stored facts of version 0 complete what events never wrote and override nothing that they did: every part that an
// event of a version above 0 settled is as if there had been none.
func TestStoredFactsOfVersionZeroOverrideNothing(t *testing.T) {
	space, p := user(t, "u"), newProjector(t)
	check(t, func(t *rapid.T) {
		b := projectortest.Backfilled{Events: projectortest.GenHistory(8, space).Draw(t, "history"), Stored: projectortest.GenUnversioned().Draw(t, "stored")}
		without := inOrder(t, p, space, b.Events)
		with := takeSteps(t, p, graphstore.NewSnapshot(space), genSteps(b).Draw(t, "steps"))
		for c := range without.Records() {
			if c.Fact == nil || c.Fact.State == graphstore.StateUnseen { // nothing wrote it
				continue
			}
			got, ok := with.Fact(c.Fact.ID)
			if !ok {
				t.Fatalf("fact %s is gone", c.Fact.ID)
			}
			keepsWhatEventsWrote(t, *c.Fact, got)
		}
	})
}

func keepsWhatEventsWrote(t *rapid.T, was, is graphstore.Fact) {
	t.Helper()
	value := func(f graphstore.Fact, field graphstore.Field) any {
		return map[graphstore.Field]any{
			graphstore.FieldAgent: f.AgentID, graphstore.FieldSource: f.SourceID, graphstore.FieldEpisode: f.EpisodeID,
			graphstore.FieldBatch: f.BatchID, graphstore.FieldMemoryAt: f.MemoryAt, graphstore.FieldValidFrom: f.ValidFrom,
			graphstore.FieldValidTo: f.ValidTo, graphstore.FieldRecordedAt: f.RecordedAt,
		}[field]
	}
	for _, field := range []graphstore.Field{graphstore.FieldAgent, graphstore.FieldSource, graphstore.FieldEpisode, graphstore.FieldBatch,
		graphstore.FieldMemoryAt, graphstore.FieldValidFrom, graphstore.FieldValidTo, graphstore.FieldRecordedAt, graphstore.FieldTags,
		graphstore.FieldEntities, graphstore.FieldRelations, graphstore.FieldNeighbors, graphstore.FieldTriples, graphstore.FieldPoint} {
		stamp := was.Registers.Of(field)
		if stamp.Version > 0 && (is.Registers.Of(field) != stamp || value(is, field) != value(was, field)) {
			t.Fatalf("%s of %s: %v by %+v: an event had written %v by %+v", field, was.ID, value(is, field), is.Registers.Of(field), value(was, field), stamp)
		}
	}
	if was.Registers.Base.Version > 0 && was.Registers.Base != is.Registers.Base {
		t.Fatalf("base of %s: %+v: an event had written %+v", was.ID, is.Registers.Base, was.Registers.Base)
	}
	if was.Registers.State.Version > 0 && (was.Registers.State != is.Registers.State || was.SupersededBy != is.SupersededBy) {
		t.Fatalf("life of %s: %+v: an event had written %+v", was.ID, is, was)
	}
}
