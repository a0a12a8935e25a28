package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/vdb"
)

// TestBackfillSearches searches a service at a constant rate without a backfill, while one goes on, and while a slow one does. It asserts
// no times: they are those of the machine, whose processors the searches, the service and the test share.
func TestBackfillSearches(t *testing.T) {
	fullProofOnly(t)
	c := collection{users: 20, points: 24_000, dim: 384, group: 8}
	s := c.storeIn(t, inFile)
	queries := c.queries(t)
	for _, p := range []struct {
		name string
		req  *backfill.Request
	}{
		{"no backfill", nil},
		{"a backfill as fast as it can", &backfill.Request{}},
		{"a backfill of 1,000 points a second", &backfill.Request{Rate: 1_000}},
		{"a backfill of 200 points a second", &backfill.Request{Rate: 200}},
	} {
		w := &killed{t: t, dir: s.dataDir(t), killCase: killCase{kind: inFile, service: true}}
		w.g, w.cl = serveGroup(t, w.dir, s.env...)
		w.cl.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
		w.quiet(0)
		searchAtRate(w.cl, queries, 50, 2*time.Second, nil) // so that the vectors of all users have been read
		var going func() bool
		if p.req != nil {
			w.begun = w.post(*p.req)
			going = func() bool { return w.now().Running }
		}
		l := searchAtRate(w.cl, queries, 200, 20*time.Second, going)
		if l.failed > 0 || len(l.took) == 0 {
			t.Errorf("%s: %d of %d searches failed", p.name, l.failed, len(l.took))
		}
		points := int64(0)
		if p.req != nil {
			points = w.now().Report.Scanned
		}
		proofSays("searches beside %-36s %5d at 200/s, %d failed: p50 %6.2f ms, p99 %7.2f ms, max %7.2f ms; %d of %d points read meanwhile", p.name+":", len(l.took), l.failed,
			float64(l.percentile(.5))/1e6, float64(l.percentile(.99))/1e6, float64(l.percentile(1))/1e6, points, c.points)
		w.g.stopGroup(t)
	}
}

// now asks how far the backfill is.
func (w *killed) now() (b server.Backfill) {
	w.t.Helper()
	if err := w.cl.call(context.Background(), http.MethodGet, "/v1/backfills/"+w.begun.Report.ID, nil, &b); err != nil {
		w.t.Fatal(err)
	}
	return b
}

// queries are searches for what is near some points of each user.
func (c collection) queries(t *testing.T) (queries []server.SearchRequest) {
	t.Helper()
	i := 0
	err := c.each(func(points []vdb.Point) error {
		for _, p := range points {
			if i < 10*c.users {
				queries = append(queries, server.SearchRequest{UserID: p.Space.UserID(), Vector: p.Vector})
			}
			i++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return queries
}

// searchAtRate searches at a rate, whatever the answers take, for a while or for as long as something goes on that is asked after twice a
// second. Times are from when a search was due.
func searchAtRate(cl *client, queries []server.SearchRequest, perSecond int, during time.Duration, going func() bool) (l load) {
	var mu sync.Mutex
	var all sync.WaitGroup
	begin, every := time.Now(), time.Second/time.Duration(perSecond)
	for i := 0; time.Duration(i)*every < during; i++ {
		due := begin.Add(time.Duration(i) * every)
		time.Sleep(time.Until(due))
		if going != nil && i > 0 && i%(perSecond/2) == 0 && !going() {
			break
		}
		all.Go(func() {
			a, err := cl.search(context.Background(), queries[i%len(queries)])
			if err == nil && !slices.ContainsFunc(a.Results, func(r server.Result) bool { return r.Score > 0.99 }) { // the point itself
				err = errors.New("the nearest point was not found")
			}
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			l.took = append(l.took, took)
			if err != nil {
				l.failed++
			}
		})
	}
	all.Wait()
	return l
}
