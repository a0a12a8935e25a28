package vdbtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kithgraph/kith/vdb"
)

var lifecycleParts = []part{
	{"Context/cancelled: the error says so and nothing is written", contextCancelled},
	{"Context/past its deadline", contextDeadline},
	{"Close/every later call is refused, a second Close is not", closed},
	{"Close/during calls", closeDuringCalls},
	{"Concurrency/writers and readers of many users", concurrent},
}

func contextCancelled(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "no-such", 2, 0, vdb.Payload{Content: "coffee"}))
	ctx, cancel := context.WithCancel(e.Context())
	cancel()
	for name, call := range calls(u, 2, e.h.Features.Keyword) {
		if err := call(ctx, st); !errors.Is(err, context.Canceled) {
			e.Errorf("%s: got error %v, want context.Canceled", name, err)
		}
	}
	sameIDs(e.T, "points after the cancelled calls", []string{"no-such"}, pointIDs(e.scrollAll(st, vdb.ScrollQuery{Space: u, Limit: 9})))
}

func contextDeadline(e *env) {
	st, u := e.open(2), e.space("u")
	ctx, cancel := context.WithDeadline(e.Context(), time.Unix(0, 0))
	defer cancel()
	for name, call := range calls(u, 2, e.h.Features.Keyword) {
		if err := call(ctx, st); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, vdb.ErrUnavailable) {
			e.Errorf("%s: got error %v, want context.DeadlineExceeded or ErrUnavailable", name, err)
		}
	}
}

func closed(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Content: "coffee"}))
	if err := st.Close(); err != nil {
		e.Fatalf("close: %v", err)
	}
	for name, call := range calls(u, 2, e.h.Features.Keyword) {
		if err := call(e.Context(), st); !errors.Is(err, vdb.ErrClosed) {
			e.Errorf("%s: got error %v, want ErrClosed", name, err)
		}
	}
	if err := st.Close(); err != nil {
		e.Errorf("second close: %v", err)
	}
}

func closeDuringCalls(e *env) {
	st, u := e.open(8), e.space("u")
	e.upsert(st, Points(41, u, 200, 8)...)
	started := make(chan struct{}, 100)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				m, err := st.Search(e.Context(), vdb.Query{Space: u, Vector: Vector(1, 8), Limit: 10})
				switch {
				case errors.Is(err, vdb.ErrClosed):
					return
				case err != nil:
					e.Errorf("search during close: %v", err)
					return
				case len(m) != 10:
					e.Errorf("%d matches during close, want 10", len(m))
					return
				}
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 20 {
		<-started
	}
	if err := st.Close(); err != nil {
		e.Errorf("close: %v", err)
	}
	wg.Wait()
}

// concurrent lets every worker write its own user's points and read them back at once, while all of them search a user
// that one of them rewrites.
func concurrent(e *env) {
	const workers, rounds, each, dim = 6, 8, 10, 8
	st, shared := e.open(dim), e.space("shared")
	base := Points(43, shared, 50, dim)
	e.upsert(st, base...)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			own := e.space(fmt.Sprint("worker ", w))
			for r := range rounds {
				points := Points(uint64(1000*w+r), own, each, dim)
				if err := st.Upsert(e.Context(), points); err != nil {
					e.Errorf("upsert: %v", err)
					return
				}
				got, err := st.Get(e.Context(), own, pointIDs(points), true)
				if err != nil {
					e.Errorf("get: %v", err)
					return
				}
				samePoints(e.T, "what the worker just wrote", points, got)
				if w == 0 { // the same points again: no answer of others may change
					err = st.Upsert(e.Context(), base[r:2*r+1])
				} else {
					err = st.Delete(e.Context(), own, pointIDs(points[:each/2]))
				}
				if err != nil {
					e.Errorf("write: %v", err)
				}
				q := vdb.Query{Space: shared, Vector: Vector(uint64(r), dim), Limit: 20}
				m, err := st.Search(e.Context(), q)
				if err != nil {
					e.Errorf("search: %v", err)
					return
				}
				checkNearest(e.T, "the shared user", base, q, m)
			}
		})
	}
	wg.Wait()
}
