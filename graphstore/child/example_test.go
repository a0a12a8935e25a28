package child_test

import (
	"context"
	"fmt"
	"os"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// The parent's side: start the child, use it like any store, close it.
func ExampleStart() {
	ctx := context.Background()
	store, err := child.Start(ctx, child.Config{
		// A real program names its own command here, for example {"/usr/bin/kith", "store"}.
		Command: []string{os.Args[0]}, Env: []string{"KITH_TEST_ROLE=memory"},
		Path: "/var/lib/kith/graph",
		Hooks: child.Hooks{
			Quarantined: func(q child.Quarantine) { fmt.Println("rebuild: the graph is now in", q.Dir) },
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	ada, err := graphstore.NewSpace("ada")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := store.Apply(ctx, []graphstore.Change{graphstore.PutFact(ada, graphstore.Fact{ID: "f1"})}); err != nil {
		fmt.Println(err) // errors.Is(err, child.ErrChildDied): apply again
		return
	}
	fmt.Println(store.Spaces(ctx))
	// Output: [ada] <nil>
}

// The child's side: what the hidden command of the program does.
func ExampleServe() {
	open := func(path string) (graphstore.Store, error) {
		s, err := kuzu.Open(path, kuzu.Config{})
		if err != nil {
			return nil, err // and not s: a nil *kuzu.Store is not a nil Store
		}
		return s, nil
	}
	err := child.Serve(open, child.ServeConfig{
		Errors: child.Errors{InUse: kuzu.ErrInUse, Foreign: kuzu.ErrForeign, NewerSchema: kuzu.ErrNewerSchema,
			Machine: []error{kuzu.ErrDisk}},
	})
	fmt.Println(err) // nobody started this process as a child
	// Output: store child: this command is started by the program itself, not by hand
}
