package rerank_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/rerank"
)

// TestOneRankerForAll: many requests at once, of different pools, do not see each other's working memory.
func TestOneRankerForAll(t *testing.T) {
	r := newRanker(t, nil)
	type job struct {
		q    rerank.Request
		want rerank.Result
		near rerank.Nominations
	}
	var jobs []job
	for i := range 8 {
		pool, edges := "A:.80 B:.62 C:.70", "A-B co_occurs 1; A>X causes 1"
		for extra := range i * 5 {
			pool += fmt.Sprintf(" e%03d:.%d", extra, 50-extra%20)
			edges += fmt.Sprintf("; A-e%03d related .%d; e%03d-y%03d causes 1", extra, 1+extra%9, extra, extra)
		}
		q := requestOf(t, poolOf(t, pool), graphOf(t, edges))
		want := mustRank(t, r, q)
		near, err := r.Nominate(q, want)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job{q, want, near})
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for round := range 8 {
				j := jobs[(worker+round)%len(jobs)]
				res, err := r.Rerank(j.q)
				if err != nil {
					t.Error(err)
					return
				}
				near, err := r.Nominate(j.q, res)
				if diff := cmp.Diff(j.want, res) + cmp.Diff(j.near, near); err != nil || diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
					return
				}
			}
		})
	}
	wg.Wait()
}
