package rerank_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

func TestProfiles(t *testing.T) {
	std, err := rerank.ProfileSettings(rerank.ProfileDefault)
	if err != nil {
		t.Fatal(err)
	}
	// The table of the specification, row by row.
	if std.Beta != .15 || std.Iterations != 1 || std.SupportCap != 1 || std.SenderFloor != .30 || std.WeightMax != .95 ||
		std.HubCap != 50 || std.EpisodeRecall || std.EpisodeWeight != .7 || std.CalLo != 0 || std.CalHi != 1 {
		t.Errorf("default profile: %+v", std)
	}
	priors := map[graphstore.RelationType]float64{
		graphstore.Causes: .90, graphstore.Elaborates: .90, graphstore.SameSeries: .85, graphstore.Contrasts: .70,
		graphstore.TemporalNext: .70, graphstore.CoOccurs: .55, graphstore.Episode: .55, graphstore.Related: .50,
		graphstore.Mentions: .50, graphstore.TaggedWith: .35, graphstore.SemanticNeighbor: .35,
	}
	if diff := cmp.Diff(priors, std.Priors); diff != "" {
		t.Errorf("priors (-want +got):\n%s", diff)
	}
	reference, err := rerank.ProfileSettings(rerank.ProfileReference)
	if err != nil {
		t.Fatal(err)
	}
	want := std
	want.SenderFloor, want.SupportExclude = 0, nil
	if diff := cmp.Diff(want, reference, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("reference differs in more than floor and exclusions (-want +got):\n%s", diff)
	}
	if _, err := rerank.ProfileSettings("best"); err == nil || !strings.Contains(err.Error(), `MEMORY_GRAPH_PROFILE "best"`) {
		t.Errorf("unknown profile: %v", err)
	}
}

func TestSettingsNameEveryViolation(t *testing.T) {
	s := rerank.DefaultSettings()
	s.CalLo, s.CalHi = -2, math.NaN()
	s.Beta, s.Iterations, s.SupportCap, s.SenderFloor = 1.5, 6, 0, -.1
	s.SupportExclude = []graphstore.RelationType{99}
	s.WeightMax, s.HubCap, s.EpisodeWeight = 2, -1, math.Inf(1)
	s.Priors[graphstore.Causes] = 1.1
	s.Owners = []string{"Alice", ""}
	_, err := rerank.New(s)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"MEMORY_GRAPH_CAL_LO -2: want -1 to 1", "MEMORY_GRAPH_CAL_HI NaN", "MEMORY_GRAPH_PROPAGATE_BETA 1.5: want 0 to 1",
		"MEMORY_GRAPH_PROPAGATE_ITERS 6: want 1 to 5", "MEMORY_GRAPH_SUPPORT_CAP 0: want a number above 0",
		"MEMORY_GRAPH_SENDER_FLOOR -0.1", "MEMORY_GRAPH_SUPPORT_EXCLUDE relation(99)", "MEMORY_GRAPH_WMAX 2",
		"MEMORY_GRAPH_PRIORS causes 1.1: want 0 to 1", `MEMORY_GRAPH_OWNERS "Alice"`, `MEMORY_GRAPH_OWNERS ""`,
		"MEMORY_GRAPH_HUB_CAP -1: want 0 to 10000", "MEMORY_EPISODE_RECALL_WEIGHT +Inf",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
}

func TestSettingsAreCopied(t *testing.T) {
	s := rerank.DefaultSettings()
	r, err := rerank.New(s)
	if err != nil {
		t.Fatal(err)
	}
	q := requestOf(t, poolOf(t, "A:.80 B:.60"), graphOf(t, "A>B causes 1"))
	want := mustRank(t, r, q)
	s.Priors[graphstore.Causes] = 0
	s.SupportExclude[0] = graphstore.Causes
	if diff := cmp.Diff(want, mustRank(t, r, q)); diff != "" {
		t.Errorf("later changes of the settings showed (-want +got):\n%s", diff)
	}
}

func TestPriorsSwitchTypesOff(t *testing.T) {
	pool, g := poolOf(t, "A:.80 B:.60"), graphOf(t, "A>B causes 1")
	off := newRanker(t, func(s *rerank.Settings) { s.Priors[graphstore.Causes] = 0 })
	wantItems(t, mustRank(t, off, requestOf(t, pool, g)), "A .8 B .6")
	unlisted := newRanker(t, func(s *rerank.Settings) { delete(s.Priors, graphstore.Causes) })
	// causes then counts as related: B .6 + .15*.5*.8
	wantItems(t, mustRank(t, unlisted, requestOf(t, pool, g)), "A .845 B .66")
	none := newRanker(t, func(s *rerank.Settings) { s.Priors = nil })
	wantItems(t, mustRank(t, none, requestOf(t, pool, g)), "A .845 B .66")
}
