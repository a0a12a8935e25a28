package live_test

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
)

func ExampleGraph() {
	ctx := context.Background()
	ann, err := graphstore.NewSpace("ann")
	if err != nil {
		panic(err)
	}
	graph := live.New(graphstoretest.NewMemory(), live.Config{}) // in a service: over kuzu.Open
	if _, err := graph.View(ann); err != nil {
		fmt.Println(err)
	}
	if err := graph.Load(ctx); err != nil {
		panic(err)
	}
	before, err := graph.View(ann)
	if err != nil {
		panic(err)
	}
	if err := graph.Apply(ctx, []graphstore.Change{graphstore.PutFact(ann, graphstore.Fact{ID: "f", State: graphstore.StateActive})}); err != nil {
		panic(err)
	}
	after, err := graph.View(ann)
	if err != nil {
		panic(err)
	}
	fmt.Println(before.Facts(), after.Facts()) // a snapshot never changes
	// Output:
	// graph is loading
	// 0 1
}
