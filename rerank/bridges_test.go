package rerank_test

import (
	"fmt"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

func TestNeverBridged(t *testing.T) {
	shared := func(entity string) *graphstore.Snapshot {
		g := newGraph(t, spaceOf(t, "u"))
		g.mention("A", entity)
		g.mention("B", entity)
		return g.snapshot()
	}
	pool := poolOf(t, "A:.80 B:.60")
	const apart, tied = "A .8 B .6", "A .845 B .66" // two facts on the entity: W = .5
	cases := []struct {
		name   string
		entity string
		change func(*rerank.Settings)
		speak  []string
		want   string
	}{
		{"a common entity", "acme", nil, nil, tied},
		{"owner", "user", nil, nil, apart},
		{"owner by another name", "self", nil, nil, apart},
		{"owner as configured", "alice", func(s *rerank.Settings) { s.Owners = []string{"alice"} }, nil, apart},
		{"speaker by name", "bob", nil, []string{"bob"}, apart},
		{"speaker by id", "bob", nil, []string{"id-bob"}, apart},
		{"somebody else speaks", "bob", nil, []string{"carol"}, tied},
		{"bridges off", "acme", func(s *rerank.Settings) { s.HubCap = 0 }, nil, apart},
		{"mentions excluded", "acme", func(s *rerank.Settings) { s.SupportExclude = []graphstore.RelationType{graphstore.Mentions} }, nil, apart},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := requestOf(t, pool, shared(c.entity))
			q.Speakers = c.speak
			wantItems(t, mustRank(t, newRanker(t, c.change), q), c.want)
		})
	}
}

// TestTopicOfAnOwnersName: only entities are people; a topic called "self" is a topic.
func TestTopicOfAnOwnersName(t *testing.T) {
	g := newGraph(t, spaceOf(t, "u"))
	g.tag("A", "self")
	g.tag("B", "self")
	// W = .35: A .8+.15*.35*.6, B .6+.15*.35*.8
	wantItems(t, mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "A:.80 B:.60"), g.snapshot())), "A .8315 B .642")
}

func TestBridgeOfAFifthOfAllFacts(t *testing.T) {
	cases := []struct {
		on, facts int
		bridged   bool
	}{
		{20, 20, true},   // up to 20 facts any share is good
		{21, 105, true},  // exactly a fifth
		{21, 104, false}, // more than a fifth
		{40, 300, true},
	}
	for _, c := range cases {
		g := newGraph(t, spaceOf(t, "u"))
		for i := range c.facts {
			id := fmt.Sprint("f", i)
			if g.fact(id); i < c.on {
				g.mention(id, "acme")
			}
		}
		// A tombstone is no fact of the memory: it does not soften the rule.
		g.putFact(graphstore.Fact{ID: "gone", State: graphstore.StateDeleted})
		res := mustRank(t, newRanker(t, nil), requestOf(t, poolOf(t, "f0:.80 f1:.60"), g.snapshot()))
		if got := res.Items[0].Support > 0; got != c.bridged {
			t.Errorf("%d of %d facts on the entity: bridged %v, want %v", c.on, c.facts, got, c.bridged)
		}
	}
}
