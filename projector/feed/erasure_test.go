package feed

import (
	"log/slog"
	"testing"

	"github.com/kithgraph/kith/projector"
)

func TestErasuresThatAreNotCarriedOutAreSaid(t *testing.T) {
	js, g, log := newJS(t), newGraph(t), &lines{}
	cfg := fastConfig()
	cfg.Logger = slog.New(log)
	for range 2 { // once per run
		f := run(t, newFeed(t, js, g, cfg))
		for id, typ := range map[string]projector.Type{
			"1": projector.TypeUserForgotten, "2": projector.TypeUserForgotten, "3": projector.TypeSourceRetracted, "4": projector.TypeEntityMerged,
		} {
			publish(t, js, event(id, string(typ), map[string]any{"user_id": userA, "source_id": "s", "kept": map[string]any{"name": "Asha Rao"}, "merged": map[string]any{"name": "Asha"}}))
		}
		f.applied(t)
		f.stop(t)
		if s := f.Status(); s.Deferred != 4 || s.Applied != 4 {
			t.Errorf("status %+v: want 4 events applied and deferred", s)
		}
	}
	if n := log.count("WARN events ask for an erasure"); n != 4 { // two types in two runs; merging entities erases nothing
		t.Errorf("%d warnings, want 4", n)
	}
}
