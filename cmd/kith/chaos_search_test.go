package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// load is what a client saw that searched at a fixed rate, whatever the answers took.
type load struct {
	took           []time.Duration // from when a search was due to its answer
	failed, ranked int
}

func (l load) percentile(p float64) time.Duration {
	slices.Sort(l.took)
	return l.took[min(len(l.took)-1, int(p*float64(len(l.took))))]
}

// searchAt searches at a rate for a while.
func (w *world) searchAt(perSecond int, during time.Duration) load {
	var mu sync.Mutex
	var l load
	var all sync.WaitGroup
	begin, every := time.Now(), time.Second/time.Duration(perSecond)
	for i := 0; ; i++ {
		due := begin.Add(time.Duration(i) * every)
		if due.Sub(begin) >= during {
			break
		}
		time.Sleep(time.Until(due))
		all.Go(func() {
			a, err := w.cl.search(context.Background(), searchRequest(fmt.Sprintf("user-%d", i%5)))
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			l.took = append(l.took, took)
			if err != nil || len(a.Results) != 2 {
				l.failed++
				w.t.Logf("search %d: %d results, %v", i, len(a.Results), err)
			} else if rankedByGraph(a) {
				l.ranked++
			}
		})
	}
	all.Wait()
	return l
}

// firstLines returns a file with the first lines of another.
func firstLines(t *testing.T, file string, n int) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfterN(string(data), "\n", n+1)
	out := filepath.Join(t.TempDir(), "first.jsonl")
	if err := os.WriteFile(out, []byte(strings.Join(lines[:min(n, len(lines))], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// trickle publishes events at a rate until it is stopped; the function that stops it returns how many it published.
func (w *world) trickle(file string, perSecond int) (stop func() int) {
	w.t.Helper()
	p, done := w.publisher()
	data, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	published := make(chan int, 1)
	go func() {
		n := 0
		tick := time.NewTicker(time.Second / time.Duration(perSecond))
		defer tick.Stop()
		for line := range strings.Lines(string(data)) {
			select {
			case <-ctx.Done():
				published <- n
				return
			case <-tick.C:
			}
			if results, err := p.PublishBatch(context.Background(), slices.Values([][]byte{[]byte(line)})); err != nil || results[0].Err != nil {
				w.t.Errorf("publish: %v %v", err, results)
				break
			}
			n++
		}
		published <- n
	}()
	return func() int {
		cancel()
		n := <-published
		done()
		return n
	}
}

// TestChaosSearches searches 200 times a second while events flow, first undisturbed, then with the store's process killed
// every two seconds.
func TestChaosSearches(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	seconds := full(12, 4)
	w := newWorld(t, rand.New(rand.NewPCG(1, 1)), 2_000)
	w.start()
	eventually(t, w.p, func() bool { h, err := w.health(); return err == nil && h.Pending == 0 && h.GraphLoaded })
	trickled := writeUsers(t, 5, full(10_000, 2_000)/5)
	stop := w.trickle(trickled, 100)
	calm := w.searchAt(200, time.Duration(seconds)*time.Second)
	killing, endKilling := context.WithCancel(context.Background())
	kills := make(chan int, 1)
	go func() {
		n := 0
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-killing.Done():
				kills <- n
				return
			case <-tick.C:
				if h, err := w.health(); err == nil && h.StorePID > 0 && syscall.Kill(h.StorePID, syscall.SIGKILL) == nil {
					n++
				}
			}
		}
	}()
	stormy := w.searchAt(200, time.Duration(seconds)*time.Second)
	endKilling()
	killed, published := <-kills, stop()
	for name, l := range map[string]load{"undisturbed": calm, "killed every 2 s": stormy} {
		fmt.Printf("chaos: searches, store %-16s  %5d at 200/s  errors %d  ranked %5d  p50 %6.2f ms  p99 %6.2f ms  max %6.2f ms\n", name, len(l.took), l.failed, l.ranked,
			float64(l.percentile(.5))/1e6, float64(l.percentile(.99))/1e6, float64(l.percentile(1))/1e6)
	}
	fmt.Printf("chaos: %d kills, %d events published meanwhile\n", killed, published)
	if calm.failed+stormy.failed > 0 || killed < seconds/4 { // a busy machine takes longer than two seconds for a new process
		t.Errorf("errors %d undisturbed, %d with %d kills", calm.failed, stormy.failed, killed)
	}
	if stormy.ranked < len(stormy.took)*9/10 {
		t.Errorf("%d of %d searches were ranked by the graph while its store was killed", stormy.ranked, len(stormy.took))
	}
	w.events += published
	w.want, _ = expectedGraph(t, w.file, firstLines(t, trickled, published))
	var o outcome
	w.settled(&o)
	if !o.equal {
		t.Errorf("%d records lost", o.lost)
	}
}
