package rerank_test

import (
	"fmt"
	"log"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// exampleGraph is a memory of four facts: the deadline moved because the vendor was late; something is known of the
// vendor's office; lunch is another matter.
func exampleGraph(space graphstore.Space) *graphstore.Snapshot {
	active := func(id string) graphstore.Change {
		return graphstore.PutFact(space, graphstore.Fact{ID: id, State: graphstore.StateActive})
	}
	g, err := graphstore.NewSnapshot(space).With([]graphstore.Change{
		active("deadline-moved"), active("vendor-late"), active("vendor-office"), active("lunch-plan"),
		graphstore.PutEdge(space, graphstore.Edge{
			Source: "vendor-late", Target: "deadline-moved", Type: graphstore.Causes, Weight: 1,
			Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "deadline-moved"},
		}),
		graphstore.PutEdge(space, graphstore.Edge{
			Source: "vendor-late", Target: "vendor-office", Type: graphstore.Related, Weight: 1,
			Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "vendor-late"},
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	return g
}

func Example() {
	space, err := graphstore.NewSpace("alice")
	if err != nil {
		log.Fatal(err)
	}
	ranker, err := rerank.New(rerank.DefaultSettings())
	if err != nil {
		log.Fatal(err)
	}
	res, err := ranker.Rerank(rerank.Request{
		Space: space,
		Graph: exampleGraph(space),
		Pool: []rerank.Candidate{ // what the vector store returned, best first
			{Space: space, ID: "deadline-moved", Cosine: 0.80},
			{Space: space, ID: "lunch-plan", Cosine: 0.66},
			{Space: space, ID: "vendor-late", Cosine: 0.62},
			{Space: space, ID: "old-deadline", Cosine: 0.60, State: "superseded"},
		},
		Now: graphstore.InstantOf(time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC)),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range res.Items {
		fmt.Printf("%d (was %d) %-14s %.3f\n", item.RankAfter, item.RankBefore, item.ID, item.GraphScore)
	}
	fmt.Println("removed:", res.Removed[0].ID, res.Removed[0].Reason)
	// Output:
	// 1 (was 1) deadline-moved 0.884
	// 2 (was 3) vendor-late    0.728
	// 3 (was 2) lunch-plan     0.660
	// removed: old-deadline state
}

func ExampleRanker_Rerank_explain() {
	space, err := graphstore.NewSpace("alice")
	if err != nil {
		log.Fatal(err)
	}
	ranker, err := rerank.New(rerank.DefaultSettings())
	if err != nil {
		log.Fatal(err)
	}
	res, err := ranker.Rerank(rerank.Request{
		Space: space,
		Graph: exampleGraph(space),
		Pool: []rerank.Candidate{
			{Space: space, ID: "deadline-moved", Cosine: 0.80},
			{Space: space, ID: "vendor-late", Cosine: 0.62},
		},
		Now:     graphstore.InstantOf(time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC)),
		Explain: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	item := res.Items[1]
	fmt.Printf("%s: %.3f + %.3f\n", item.ID, item.Base, item.Boost())
	for _, s := range item.Explanation.Supporters {
		fmt.Printf("  %s by %s, weight %.2f, its score %.2f: +%.3f\n", s.ID, s.Top, s.Weight, s.Sent, s.Share)
	}
	// Output:
	// vendor-late: 0.620 + 0.108
	//   deadline-moved by causes, weight 0.90, its score 0.80: +0.108
}

func ExampleProfileSettings() {
	s, err := rerank.ProfileSettings(rerank.ProfileReference)
	if err != nil {
		log.Fatal(err)
	}
	s.Beta = 7 // an operator's slip
	_, err = rerank.New(s)
	fmt.Println(err)
	// Output: rerank settings: MEMORY_GRAPH_PROPAGATE_BETA 7: want 0 to 1
}

// Example_expansion adds facts that the vector search missed, and shows how the results connect. A real caller asks its
// vector store where this one asks a map.
func Example_expansion() {
	space, err := graphstore.NewSpace("alice")
	if err != nil {
		log.Fatal(err)
	}
	ranker, err := rerank.New(rerank.DefaultSettings())
	if err != nil {
		log.Fatal(err)
	}
	request := rerank.Request{
		Space: space,
		Graph: exampleGraph(space),
		Pool: []rerank.Candidate{
			{Space: space, ID: "deadline-moved", Cosine: 0.80},
			{Space: space, ID: "lunch-plan", Cosine: 0.66},
		},
		Now: graphstore.InstantOf(time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC)),
	}
	ranked, err := ranker.Rerank(request)
	if err != nil {
		log.Fatal(err)
	}
	nominated, err := ranker.Nominate(request, ranked)
	if err != nil {
		log.Fatal(err)
	}
	cosines := map[string]float64{"vendor-late": 0.62}
	var scored []rerank.Candidate
	for _, id := range nominated.IDs() {
		scored = append(scored, rerank.Candidate{Space: space, ID: id, Cosine: cosines[id]})
	}
	expansion, err := ranker.Admit(request, ranked, nominated, scored, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, place := range expansion.Places {
		fmt.Println(place.ID())
		for _, a := range place.Attached {
			fmt.Printf("  with %s by %s, score %.2f\n", a.ID, a.Via, a.GraphScore)
		}
	}
	found, err := ranker.Paths(rerank.PathQuery{
		Request: request, Expansion: expansion, Nominated: nominated, Scored: scored, K: 10,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range found.Paths {
		fmt.Printf("%s (%.2f)\n", p.String(), p.Score)
	}
	// Output:
	// deadline-moved
	//   with vendor-late by causes, score 0.80
	// lunch-plan
	// vendor-late -causes-> deadline-moved (0.63)
}
