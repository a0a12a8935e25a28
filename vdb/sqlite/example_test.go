package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
)

func ExampleNew() {
	dir, err := os.MkdirTemp("", "kith")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := sqlite.New(filepath.Join(dir, "vectors.db"), sqlite.Config{Dimension: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	ctx := context.Background()
	alice, err := graphstore.NewSpace("alice")
	if err != nil {
		log.Fatal(err)
	}
	err = store.Upsert(ctx, []vdb.Point{
		{Space: alice, ID: "1", Vector: []float32{1, 0}, Payload: vdb.Payload{Content: "Alice drinks coffee", State: "superseded"}},
		{Space: alice, ID: "2", Vector: []float32{3, 4}, Payload: vdb.Payload{Content: "Alice drinks tea"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	matches, err := store.Search(ctx, vdb.Query{Space: alice, Vector: []float32{1, 0}, Limit: 10, Filter: vdb.Filter{
		Match: []vdb.FieldMatch{{Field: vdb.FieldState, Any: []string{vdb.StateActive}}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range matches {
		fmt.Printf("%s %.2f %s\n", m.ID, m.Score, m.Payload.Content) // the cosine of (1, 0) and (3, 4) is 3/5
	}
	// Output: 2 0.60 Alice drinks tea
}
