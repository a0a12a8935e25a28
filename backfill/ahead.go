package backfill

import (
	"context"

	"github.com/sourcegraph/conc"

	"github.com/kithgraph/kith/vdb"
)

// ahead reads the next page while the present one is worked on. No page is a turn of the graph.
type ahead struct {
	r    *run
	work conc.WaitGroup
	next chan fetched // holds the next page, when it is there
	stop context.CancelFunc
}

type fetched struct {
	page  vdb.Page
	bytes int64
	err   error
}

// readAhead begins to read the page at the cursor.
func (r *run) readAhead(ctx context.Context) *ahead {
	ctx, stop := context.WithCancel(ctx)
	a := &ahead{r: r, next: make(chan fetched, 1), stop: stop}
	a.begin(ctx, r.cp.Cursor)
	return a
}

func (a *ahead) begin(ctx context.Context, after string) {
	most := a.r.size.limit(a.r.req.Rate)
	a.work.Go(func() {
		var f fetched
		f.page, f.bytes, f.err = a.r.fetch(ctx, after, most)
		a.next <- f
	})
}

// read returns the page that was begun, and begins the one after it.
func (a *ahead) read(ctx context.Context) (vdb.Page, error) {
	f := <-a.next
	if f.err != nil {
		return f.page, f.err
	}
	a.r.saw(&f.page, f.bytes)
	if f.page.Next != "" {
		a.begin(ctx, f.page.Next)
	}
	return f.page, nil
}

// end stops reading.
func (a *ahead) end() {
	a.stop()
	a.work.Wait()
}
