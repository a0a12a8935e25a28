package graphstoretest

import (
	"errors"

	"github.com/kithgraph/kith/graphstore"
)

var errYield = errors.New("the reader has had enough")

// loadCases: reading. That loads agree with what was written is part of every other case.
func loadCases() []testCase {
	return []testCase{
		{"load/empty store", func(f *fixture) { f.want() }},
		{"load/unknown space yields nothing", func(f *fixture) {
			f.apply(village(bob)...)
			got, err := collect(f.Context(), loadSpace(f.store, ada)) // "ada" is a prefix of bob's user id
			if err != nil || len(got) != 0 {
				f.Errorf("got %d records, error %v", len(got), err)
			}
		}},
		{"load/no space is refused", func(f *fixture) {
			f.apply(village(ada)...)
			got, err := collect(f.Context(), loadSpace(f.store, graphstore.Space{}))
			if !errors.Is(err, graphstore.ErrNoSpace) || len(got) != 0 {
				f.Errorf("got %d records, error %v, want ErrNoSpace", len(got), err)
			}
		}},
		{"load/yield ends it", func(f *fixture) {
			all := village(ada)
			f.apply(all...)
			for _, load := range []loader{f.store.LoadAll, loadSpace(f.store, ada)} {
				for stop := 1; stop <= len(all); stop++ {
					n := 0
					err := load(f.Context(), func(graphstore.Change) error {
						if n++; n == stop {
							return errYield
						}
						return nil
					})
					if err != errYield || n != stop { //nolint:errorlint // the contract: returned as it is
						f.Fatalf("stop at %d: %d yields, error %v, want %v as it is", stop, n, err, errYield)
					}
				}
			}
			f.want(all...)
		}},
		{"load/what is yielded is the reader's", func(f *fixture) {
			want := []graphstore.Change{graphstore.PutFact(ada, fullFact("f1")), graphstore.PutEntity(ada, fullEntity("e1")),
				edge(ada, "f1", graphstore.Mentions, "e1")}
			f.apply(want...)
			got, err := collect(f.Context(), f.store.LoadAll)
			if err != nil {
				f.Fatal(err)
			}
			f.apply(goneAll(want)...) // what a reader holds does not change with the store
			if diff := diffRecords(got, sortedCopy(want)); diff != "" {
				f.Errorf("records of an earlier load %s", diff)
			}
		}},
		{"load/more than one page", func(f *fixture) {
			all := Graph(5, 2, 300)
			f.apply(all...)
			f.want(all...)
		}},
	}
}

func sortedCopy(records []graphstore.Change) []graphstore.Change {
	out := append([]graphstore.Change(nil), records...)
	sortRecords(out)
	return out
}
