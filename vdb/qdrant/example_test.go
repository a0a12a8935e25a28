package qdrant_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/qdrant"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

func ExampleNew() {
	server, err := wire.New(wire.Options{}) // in place of a Qdrant server
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = server.Close() }()

	store, err := qdrant.New(qdrant.Config{
		URL:              "http://" + server.Addr(),
		Collection:       "facts",
		CreateCollection: true,
		Dimension:        2,
		Fields:           map[string]string{vdb.FieldUserID: "metadata.user_id"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()

	ctx := context.Background()
	alice, err := graphstore.NewSpace("alice")
	if err != nil {
		log.Fatal(err)
	}
	err = store.Upsert(ctx, []vdb.Point{
		{Space: alice, ID: "msg-1", Vector: []float32{1, 0}, Payload: vdb.Payload{Content: "Alice drinks coffee."}},
		{Space: alice, ID: "msg-2", Vector: []float32{3, 4}, Payload: vdb.Payload{Content: "Alice works in Berlin."}},
	})
	if err != nil {
		log.Fatal(err)
	}
	matches, err := store.Search(ctx, vdb.Query{Space: alice, Vector: []float32{1, 0}, Limit: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range matches {
		fmt.Printf("%s %.1f %s\n", m.ID, m.Score, m.Payload.Content)
	}
	// Output:
	// msg-1 1.0 Alice drinks coffee.
	// msg-2 0.6 Alice works in Berlin.
}
