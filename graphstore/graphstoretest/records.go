package graphstoretest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
)

// recordOptions compare changes by content: a missing list is an empty one.
var recordOptions = gocmp.Options{
	cmpopts.EquateEmpty(),
	gocmp.Comparer(func(a, b graphstore.Space) bool { return a == b }),
}

// loader is a read of a store: Load of one space or LoadAll.
type loader func(ctx context.Context, yield func(graphstore.Change) error) error

func loadSpace(s graphstore.Store, space graphstore.Space) loader {
	return func(ctx context.Context, yield func(graphstore.Change) error) error { return s.Load(ctx, space, yield) }
}

// collect returns what a load yields, sorted, after checking what the contract says of every load: Put changes, valid,
// each record once, nodes before edges.
func collect(ctx context.Context, load loader) ([]graphstore.Change, error) {
	var got []graphstore.Change
	seen := make(map[spaceKey]bool)
	edges := false
	err := load(ctx, func(c graphstore.Change) error {
		k := keyOf(c)
		switch {
		case c.Op != graphstore.Put:
			return fmt.Errorf("yielded a change of op %d: %s", c.Op, k.key)
		case seen[k]:
			return fmt.Errorf("yielded twice: %s in %s", k.key, k.space)
		case edges && !k.key.IsEdge():
			return fmt.Errorf("yielded a node after an edge: %s", k.key)
		}
		seen[k], edges = true, k.key.IsEdge()
		got = append(got, c)
		return c.Validate()
	})
	sortRecords(got)
	return got, err
}

func sortRecords(records []graphstore.Change) {
	slices.SortFunc(records, func(a, b graphstore.Change) int {
		return cmp.Or(cmp.Compare(a.Space.UserID(), b.Space.UserID()), a.Key().Compare(b.Key()))
	})
}

// diffRecords returns how two sorted sets of records differ, or nothing.
func diffRecords(got, want []graphstore.Change) string {
	if digest(got) == digest(want) {
		return ""
	}
	if diff := gocmp.Diff(want, got, recordOptions); diff != "" {
		return "(-want +got):\n" + diff
	}
	return fmt.Sprintf("digests differ, records do not: got %s, want %s", digest(got), digest(want))
}

func digest(records []graphstore.Change) graphstore.Digest {
	var d graphstore.Digest
	for _, c := range records {
		d.Add(c)
	}
	return d
}
