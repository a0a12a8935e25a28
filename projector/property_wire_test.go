package projector_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

// Whatever a producer can put together in Go either is refused or arrives as it was.
func TestMarshalArrivesAsItWas(t *testing.T) {
	space := user(t, "ü user")
	check(t, func(t *rapid.T) {
		for _, ev := range projectortest.GenHistory(3, space).Draw(t, "events") {
			ev.Source = rapid.SampledFrom([]string{"", "writer"}).Draw(t, "source")
			data, err := projector.Marshal(ev, projector.Limits{})
			if err != nil {
				t.Fatalf("Marshal: %v", err)
			}
			got, rejected, err := projector.Decode(data, projector.Limits{})
			if err != nil || len(rejected) > 0 {
				t.Fatalf("Decode %s: %v, rejected %v", data, err, rejected)
			}
			if diff := cmp.Diff(ev, got, cmp.AllowUnexported(graphstore.Space{}), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s (-sent +got):\n%s", data, diff)
			}
		}
	})
}

// What is noted of a fact is what planning counts, kind by kind.
func TestNotesAreWhatPlanningCounts(t *testing.T) {
	space := user(t, "u")
	p := newProjector(t)
	noted := 0
	check(t, func(t *rapid.T) {
		for _, ev := range projectortest.GenHistory(3, space).Draw(t, "events") {
			if _, writes := ev.Data.(projector.FactsWritten); !writes {
				continue
			}
			planned, err := p.Plan(graphstore.NewSnapshot(space), ev)
			if err != nil {
				t.Fatal(err)
			}
			r := planned.Report
			want := map[projector.NoteKind]int{
				projector.NoteDropped: r.BadWeights + r.SelfLinks + r.LowScores + r.ExcessNeighbors + r.BlankNames,
				projector.NoteFolded:  r.Folded,
				projector.NoteRenamed: r.UnknownRelations + r.UnknownEntityTypes,
			}
			got := map[projector.NoteKind]int{projector.NoteDropped: 0, projector.NoteFolded: 0, projector.NoteRenamed: 0}
			for _, n := range p.Notes(ev) {
				if n.Kind != projector.NoteClamped { // planning does not count these
					got[n.Kind]++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%+v (-counted +noted):\n%s", ev.Data, diff)
			}
			noted += got[projector.NoteDropped] + got[projector.NoteFolded] + got[projector.NoteRenamed]
		}
	})
	if noted == 0 {
		t.Error("no event had anything to note: the generator is too tame")
	}
}
