package rerank_test

import (
	"fmt"
	"log"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// exampleSearch is a search that found two facts of the memory.
func exampleSearch() (*rerank.Ranker, rerank.Request) {
	space, err := graphstore.NewSpace("alice")
	if err != nil {
		log.Fatal(err)
	}
	ranker, err := rerank.New(rerank.DefaultSettings())
	if err != nil {
		log.Fatal(err)
	}
	return ranker, rerank.Request{
		Space: space,
		Graph: exampleGraph(space),
		Pool: []rerank.Candidate{
			{Space: space, ID: "deadline-moved", Cosine: 0.80},
			{Space: space, ID: "lunch-plan", Cosine: 0.66},
		},
		Now: graphstore.InstantOf(time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC)),
	}
}

// exampleAnswer is what the vector store says of the ids it is asked about.
func exampleAnswer(space graphstore.Space, ids []string) []rerank.Candidate {
	cosines := map[string]float64{"vendor-late": 0.62, "vendor-office": 0.30}
	var scored []rerank.Candidate
	for _, id := range ids {
		scored = append(scored, rerank.Candidate{Space: space, ID: id, Cosine: cosines[id]})
	}
	return scored
}

func ExampleRanker_Rerank() {
	ranker, request := exampleSearch()
	request.Pool = append(request.Pool, exampleAnswer(request.Space, []string{"vendor-late"})...)
	res, err := ranker.Rerank(request)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range res.Items {
		fmt.Printf("%s: cosine %.2f, support %.3f, graph score %.3f\n", item.ID, item.Score, item.Support, item.GraphScore)
	}
	fmt.Println("edges:", res.Diagnostics.Edges)
	// Output:
	// deadline-moved: cosine 0.80, support 0.558, graph score 0.884
	// vendor-late: cosine 0.62, support 0.720, graph score 0.728
	// lunch-plan: cosine 0.66, support 0.000, graph score 0.660
	// edges: [{causes 1}]
}

func ExampleRanker_Nominate() {
	ranker, request := exampleSearch()
	ranked, err := ranker.Rerank(request)
	if err != nil {
		log.Fatal(err)
	}
	nominated, err := ranker.Nominate(request, ranked)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range nominated.Nominees {
		fmt.Printf("%v by %s: %.3f\n", n.Path, n.Via, n.Relaxed)
	}
	fmt.Println("to ask the vector store about:", nominated.IDs())
	// Output:
	// [deadline-moved vendor-late] by causes: 0.720
	// [deadline-moved vendor-late vendor-office] by causes: 0.216
	// to ask the vector store about: [vendor-late vendor-office]
}

func ExampleRanker_Admit() {
	ranker, request := exampleSearch()
	ranked, err := ranker.Rerank(request)
	if err != nil {
		log.Fatal(err)
	}
	nominated, err := ranker.Nominate(request, ranked)
	if err != nil {
		log.Fatal(err)
	}
	expansion, err := ranker.Admit(request, ranked, nominated, exampleAnswer(request.Space, nominated.IDs()), 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, place := range expansion.Places {
		fmt.Println(place.ID())
		for _, a := range place.Attached {
			fmt.Printf("  %s: %.3f of its own, %.3f by its tie, %.3f to stay below; gate passed by %.2f, %d of %d\n",
				a.ID, a.Parts.Base, a.Parts.Tie, a.Parts.Held, a.Margin, a.QuotaPlace, a.Quota)
		}
	}
	for _, no := range expansion.Refused {
		fmt.Printf("not %s: %s, missed by %.2f\n", no.ID, no.Reason, -no.Margin)
	}
	// Output:
	// deadline-moved
	//   vendor-late: 0.620 of its own, 0.216 by its tie, -0.036 to stay below; gate passed by 0.02, 1 of 6
	// lunch-plan
	// not vendor-office: gate, missed by 0.30
}

func ExampleRanker_Paths() {
	ranker, request := exampleSearch()
	request.Pool = append(request.Pool, rerank.Candidate{Space: request.Space, ID: "vendor-office", Cosine: 0.55})
	ranked, err := ranker.Rerank(request)
	if err != nil {
		log.Fatal(err)
	}
	expansion, err := ranker.Admit(request, ranked, rerank.Nominations{}, nil, 10) // nothing is added
	if err != nil {
		log.Fatal(err)
	}
	found, err := ranker.Paths(rerank.PathQuery{Request: request, Expansion: expansion, K: 10})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range found.Paths {
		fmt.Printf("%s, strength %.2f, score %.3f\n", p.String(), p.Strength, p.Score)
	}
	fmt.Println("nobody but the graph spoke for:", found.Unconfirmed)
	// Output:
	// vendor-office -related- vendor-late -causes-> deadline-moved, strength 0.27, score 0.179
	// nobody but the graph spoke for: [vendor-late]
}
