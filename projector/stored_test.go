package projector

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

func TestStoredStateOfUnknownVersionOverridesNoEvent(t *testing.T) {
	p := mustNew(t, Config{})
	first := add("a")
	first.Version = Some[int64](0)
	ev := event(t, "e1", 10, written(first))
	for state, alone := range map[graphstore.State]graphstore.State{
		graphstore.StateDeleted: graphstore.StateDeleted, graphstore.StateSuperseded: graphstore.StateSuperseded,
		graphstore.StateShadowed: graphstore.StateShadowed, graphstore.StateActive: graphstore.StateActive,
	} {
		stored := []StoredFact{{FactWrite: FactWrite{ID: "a", AgentID: Some("agent")}, State: state}}
		empty := graphstore.NewSnapshot(mustSpace(t, "u"))
		before := applyStored(t, p, empty, stored)
		if got := fact(t, before, "a").State; got != alone {
			t.Errorf("stored as %s alone: %s, want %s", state, got, alone)
		}
		before, _ = apply(t, p, before, ev)
		after, _ := apply(t, p, empty, ev)
		after = applyStored(t, p, after, stored)
		if diff := cmp.Diff(allRecords(before), allRecords(after), eventOptions); diff != "" {
			t.Errorf("stored as %s before and after the event (-before +after):\n%s", state, diff)
		}
		if got := fact(t, after, "a").State; got != graphstore.StateActive {
			t.Errorf("stored as %s, added by an event of version 0: %s, want active", state, got)
		}
	}
}

func TestStoredFactSupersededByItselfIsRefused(t *testing.T) {
	const id = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"
	facts := []StoredFact{{FactWrite: FactWrite{ID: id}, State: graphstore.StateSuperseded, SupersededBy: "5C56C79369F34FBF87E6C4BF54C28C26"}}
	_, err := mustNew(t, Config{}).PlanStored(graphstore.NewSnapshot(mustSpace(t, "u")), facts)
	var bad *FieldError
	if !errors.As(err, &bad) || bad.Path != "facts[0].superseded_by" {
		t.Errorf("got %v, want an error of facts[0].superseded_by", err)
	}
}

func applyStored(t *testing.T, p *Projector, view *graphstore.Snapshot, facts []StoredFact) *graphstore.Snapshot {
	t.Helper()
	planned, err := p.PlanStored(view, facts)
	if err != nil {
		t.Fatal(err)
	}
	view, err = view.With(planned.Changes)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// A point that says nothing but who and which is there: its fact has a node, whatever comes before or after.
func TestStoredFactThatSaysNothing(t *testing.T) {
	p, empty := mustNew(t, Config{}), graphstore.NewSnapshot(mustSpace(t, "u"))
	bare := []StoredFact{{FactWrite: FactWrite{ID: "a"}, UpdatedAt: graphstore.InstantOfMicros(5)}}
	update := FactWrite{ID: "a", Op: OpUpdate}
	update.Version, update.Tags, update.SourceID = Some[int64](3), Some([]string{"tea"}), Some("mail")
	for name, c := range map[string]struct {
		events []Event
		want   graphstore.State
	}{
		"alone":                     {nil, graphstore.StateActive},
		"named by another":          {[]Event{event(t, "e1", 10, written(related("b", RelationRef{To: "a"})))}, graphstore.StateActive},
		"shadowed":                  {[]Event{event(t, "e1", 10, FactShadowed{FactID: "a", Version: Some[int64](0)})}, graphstore.StateShadowed},
		"deleted":                   {[]Event{event(t, "e1", 10, FactDeleted{FactID: "a", Version: Some[int64](0)})}, graphstore.StateDeleted},
		"its update was withdrawn":  {[]Event{event(t, "e1", 10, written(update)), event(t, "e2", 20, SourceRetracted{SourceID: "mail"})}, graphstore.StateActive},
		"forgotten":                 {[]Event{event(t, "e1", 10, UserForgotten{})}, graphstore.StateUnseen},
		"stored after a forgetting": {[]Event{event(t, "e1", 4, UserForgotten{})}, graphstore.StateActive},
	} {
		first, last := applyStored(t, p, empty, bare), empty
		for _, ev := range c.events {
			first, _ = apply(t, p, first, ev)
			last, _ = apply(t, p, last, ev)
		}
		last = applyStored(t, p, last, bare)
		if diff := cmp.Diff(allRecords(first), allRecords(last), eventOptions); diff != "" {
			t.Errorf("%s: before and after the events (-before +after):\n%s", name, diff)
		}
		f, _ := last.Fact("a")
		if f.State != c.want {
			t.Errorf("%s: %s, want %s", name, f.State, c.want)
		}
		again, err := p.PlanStored(last, bare)
		if err != nil || len(again.Changes) != 0 {
			t.Errorf("%s, again: %v, %d changes", name, err, len(again.Changes))
		}
	}
}
