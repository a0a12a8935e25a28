package graphstoretest

import (
	"context"
	"fmt"
	"sync"

	"github.com/kithgraph/kith/graphstore"
)

// concurrencyCases: many goroutines on one store.
func concurrencyCases() []testCase {
	return []testCase{
		{"concurrent/loads see whole transactions only", wholeTransactions},
		{"concurrent/applies of one space", func(f *fixture) { parallelApplies(f, func(int) graphstore.Space { return ada }) }},
		{"concurrent/applies of many spaces", func(f *fixture) { parallelApplies(f, SpaceName) }},
	}
}

// generation returns the records that the nth transaction leaves in a space: facts that all carry n, and a chain of edges
// that only this generation has.
func generation(s graphstore.Space, n int) (nodes, edges []graphstore.Change) {
	const facts = 6
	id := func(i int) string { return fmt.Sprintf("f%d", i) }
	for i := range facts {
		nodes = append(nodes, graphstore.PutFact(s, graphstore.Fact{ID: id(i), AgentID: fmt.Sprint(n)}))
		if i > 0 {
			by := graphstore.Asserter{Kind: graphstore.ByBatch, ID: fmt.Sprint(n)}
			edges = append(edges, edgeBy(s, id(i-1), graphstore.CoOccurs, id(i), by))
		}
	}
	return nodes, edges
}

// wholeTransactions replaces the graphs of two spaces together, over and over, while readers compare what they see.
func wholeTransactions(f *fixture) {
	const generations, readers = 40, 3
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for {
				if err := oneGeneration(f.Context(), f.store); err != nil {
					f.Errorf("%v", err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	var previous []graphstore.Change
	for n := range generations {
		var tx []graphstore.Change
		var edges []graphstore.Change
		for _, s := range []graphstore.Space{ada, bob} {
			nodes, e := generation(s, n)
			tx, edges = append(tx, nodes...), append(edges, e...)
		}
		tx = append(append(tx, edges...), goneAll(previous)...)
		previous = edges
		if err := f.store.Apply(f.Context(), tx); err != nil {
			f.Errorf("apply generation %d: %v", n, err)
			break
		}
		f.checkpointIf(n%10 == 5)
	}
	close(done)
	wg.Wait()
}

// oneGeneration reads everything and returns an error if it is not exactly one generation of both spaces.
func oneGeneration(ctx context.Context, store graphstore.Store) error {
	got, err := collect(ctx, store.LoadAll)
	if err != nil || len(got) == 0 {
		return err
	}
	n := 0
	if got[0].Fact == nil {
		return fmt.Errorf("first record is %s, want a fact", got[0].Key())
	}
	if _, err := fmt.Sscan(got[0].Fact.AgentID, &n); err != nil {
		return err
	}
	var want []graphstore.Change
	for _, s := range []graphstore.Space{ada, bob} {
		nodes, edges := generation(s, n)
		want = append(append(want, nodes...), edges...)
	}
	sortRecords(want)
	if diff := diffRecords(got, want); diff != "" {
		return fmt.Errorf("a load saw part of a transaction, generation %d %s", n, diff)
	}
	alone, err := collect(ctx, loadSpace(store, ada))
	if err != nil {
		return err
	}
	if len(alone) != len(want)/2 {
		return fmt.Errorf("a load of one space saw %d records, want %d", len(alone), len(want)/2)
	}
	return nil
}

// parallelApplies lets several writers put and delete records of their own.
func parallelApplies(f *fixture, space func(writer int) graphstore.Space) {
	const writers, rounds = 6, 10
	var wg sync.WaitGroup
	results := make([][]graphstore.Change, writers)
	for w := range writers {
		wg.Go(func() {
			s := space(w)
			for r := range rounds {
				id := fmt.Sprintf("w%d-%d", w, r)
				put := []graphstore.Change{fact(s, id), entity(s, id), edge(s, id, graphstore.Mentions, id)}
				if err := f.store.Apply(f.Context(), put); err != nil {
					f.Errorf("writer %d: %v", w, err)
					return
				}
				if r%3 != 0 {
					results[w] = append(results[w], put...)
					continue
				}
				if err := f.store.Apply(f.Context(), goneAll(put)); err != nil {
					f.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	wg.Wait()
	var want []graphstore.Change
	for _, r := range results {
		want = append(want, r...)
	}
	f.want(want...)
}
