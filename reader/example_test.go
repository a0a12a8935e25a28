package reader_test

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// graph is any source of snapshots; in a service it is a live.Graph.
type graph map[graphstore.Space]*graphstore.Snapshot

func (g graph) Acquire(_ context.Context, s graphstore.Space) (*graphstore.Snapshot, error) {
	return g[s], nil
}

// The fact about the outage is less like the query than the one about lunch, but the fact that is most like it caused it.
func ExampleReader_Search() {
	ctx := context.Background()
	ann, err := graphstore.NewSpace("ann")
	if err != nil {
		panic(err)
	}
	vectors := vdbtest.NewMemory(2) // in a service: qdrant.New or sqlite.New
	if err := vectors.Upsert(ctx, []vdb.Point{
		{Space: ann, ID: "deploy", Vector: []float32{0.8, 0.6}, Payload: vdb.Payload{Content: "deployed the new pool on Friday"}},
		{Space: ann, ID: "lunch", Vector: []float32{0.7, 0.714}, Payload: vdb.Payload{Content: "Friday lunch is at one"}},
		{Space: ann, ID: "outage", Vector: []float32{0.62, 0.785}, Payload: vdb.Payload{Content: "bookings were down for an hour"}},
	}); err != nil {
		panic(err)
	}
	snapshot, err := graphstore.NewSnapshot(ann).With([]graphstore.Change{
		graphstore.PutFact(ann, graphstore.Fact{ID: "deploy", State: graphstore.StateActive}),
		graphstore.PutFact(ann, graphstore.Fact{ID: "outage", State: graphstore.StateActive}),
		graphstore.PutEdge(ann, graphstore.Edge{
			Source: "deploy", Target: "outage", Type: graphstore.Causes, Weight: 1,
			Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "outage"},
		}),
	})
	if err != nil {
		panic(err)
	}

	r, err := reader.New(vectors, graph{ann: snapshot}, reader.Config{Rerank: rerank.DefaultSettings()})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	answer, err := r.Search(ctx, reader.Query{Space: ann, Vector: []float32{1, 0}, K: 3})
	if err != nil {
		panic(err)
	}
	for _, result := range answer.Results {
		fmt.Printf("%d -> %d  %.3f  %s\n", result.RankBefore, result.RankAfter, result.GraphScore, result.Payload.Content)
	}
	// Output:
	// 1 -> 1  0.884  deployed the new pool on Friday
	// 3 -> 2  0.728  bookings were down for an hour
	// 2 -> 3  0.700  Friday lunch is at one
}
