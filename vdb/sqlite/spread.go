package sqlite

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/sourcegraph/conc"
)

// helpers bounds the goroutines that help with searches, over all that go on: alone a search has every core, and several
// at once are on the cores already.
type helpers chan struct{}

func newHelpers() helpers { return make(helpers, runtime.GOMAXPROCS(0)-1) }

// spread calls work for 0 to n-1, each once, on the calling goroutine and on as many others as are free, at most most in
// all. worker, from 0 on, is another one for each of them. It is over when all calls are; the error is that of the context,
// whose end leaves out calls.
func (h helpers) spread(ctx context.Context, n, most int, work func(worker, i int)) error {
	var next atomic.Int64
	run := func(worker int) {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			work(worker, i)
		}
	}
	var wg conc.WaitGroup
	for worker := 1; worker < min(n, most) && h.take(); worker++ {
		wg.Go(func() {
			defer h.leave()
			run(worker)
		})
	}
	run(0)
	wg.Wait()
	return ctx.Err()
}

func (h helpers) take() bool {
	select {
	case h <- struct{}{}:
		return true
	default:
		return false
	}
}

func (h helpers) leave() { <-h }
