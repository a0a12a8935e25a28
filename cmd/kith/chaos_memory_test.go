package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// residentBytes is the resident memory of a process.
func residentBytes(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64) // 0 where it cannot be read
	return pages * int64(os.Getpagesize())
}

// flatGraph is a graph of fixed size that is rewritten all the time: facts of some users, each with a relation, an entity
// and a topic, whose weights and versions change.
type flatGraph struct {
	rng     *rand.Rand
	version int64
}

const (
	flatUsers = 20
	flatFacts = 100 // per user
	// flatPoints are the facts of a user that the vector store knows: it looks at all of them, and is not what is tried here.
	flatPoints = 10
)

func (f *flatGraph) user(i int) graphstore.Space {
	space, err := graphstore.NewSpace(fmt.Sprintf("user-%d", i))
	if err != nil {
		panic(err) // the names are constants
	}
	return space
}

// write returns changes that rewrite a fact and its edges.
func (f *flatGraph) write(space graphstore.Space, k int) []graphstore.Change {
	f.version++
	id, to := fmt.Sprintf("f%d", k), fmt.Sprintf("f%d", (k+1)%flatFacts)
	by := graphstore.Asserter{Kind: graphstore.ByFact, ID: id}
	fact := graphstore.Fact{ID: id, State: graphstore.StateActive, AgentID: "agent", MemoryAt: 1}
	fact.Registers.Base = graphstore.Stamp{Version: f.version, Rank: graphstore.RankUpdate, EventID: fmt.Sprintf("e%d", f.version)}
	changes := []graphstore.Change{graphstore.PutFact(space, fact)}
	if f.rng.IntN(2) == 0 {
		e := graphstore.Edge{Source: id, Target: to, Type: graphstore.Elaborates, Asserter: by, Weight: (1 + float64(f.version%9)) / 10}
		if f.rng.IntN(4) == 0 {
			changes = append(changes, graphstore.DeleteKey(space, e.Key()))
		} else {
			changes = append(changes, graphstore.PutEdge(space, e))
		}
	}
	return changes
}

func (f *flatGraph) fill(ctx context.Context, apply func(context.Context, []graphstore.Change) error) error {
	for u := range flatUsers {
		var all []graphstore.Change
		for k := range flatFacts {
			all = append(all, graphstore.PutFact(f.user(u), graphstore.Fact{ID: fmt.Sprintf("f%d", k), State: graphstore.StateActive}))
		}
		if err := apply(ctx, all); err != nil {
			return err
		}
	}
	return nil
}

// TestChaosMemory applies and searches for a long time on a graph that does not grow, and looks whether memory does.
func TestChaosMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	applies, searches := full(500_000, 20_000), full(1_000_000, 20_000)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	ctx := context.Background()
	store := graphstoretest.NewMemory()
	g := live.New(store, live.Config{Logger: quiet})
	if err := g.Load(ctx); err != nil {
		t.Fatal(err)
	}
	f := &flatGraph{rng: rand.New(rand.NewPCG(1, 2))}
	if err := f.fill(ctx, g.Apply); err != nil {
		t.Fatal(err)
	}
	r := flatReader(t, f, g, quiet)
	defer r.Close()
	const parts = 5
	var sizes []int64
	start := time.Now()
	for part := range parts {
		var both sync.WaitGroup
		both.Go(func() {
			for range applies / parts {
				if err := g.Apply(ctx, f.write(f.user(f.rng.IntN(flatUsers)), f.rng.IntN(flatFacts))); err != nil {
					t.Error(err)
					return
				}
			}
		})
		both.Go(func() {
			for i := range searches / parts {
				a, err := r.Search(ctx, reader.Query{Space: f.user(i % flatUsers), Vector: []float32{1, 0}, K: 5, Pool: 10})
				if err != nil || len(a.Results) != 5 {
					t.Errorf("search: %d results, %v", len(a.Results), err)
					return
				}
			}
		})
		both.Wait()
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		sizes = append(sizes, int64(m.HeapAlloc))
		fmt.Printf("chaos: memory after %7d applies and %7d searches: heap %5.1f MiB, resident %6.1f MiB, goroutines %d\n", (part+1)*applies/parts,
			(part+1)*searches/parts, float64(m.HeapAlloc)/(1<<20), float64(residentBytes(os.Getpid()))/(1<<20), runtime.NumGoroutine())
	}
	fmt.Printf("chaos: memory: %d applies and %d searches in %s\n", applies, searches, time.Since(start).Round(time.Second))
	if first, last := sizes[0], sizes[parts-1]; last > first+first/10+(2<<20) {
		t.Errorf("heap grew from %d to %d bytes", first, last)
	}
}

func flatReader(t *testing.T, f *flatGraph, g *live.Graph, log *slog.Logger) *reader.Reader {
	t.Helper()
	vectors := vdbtest.NewMemory(2)
	for u := range flatUsers {
		var points []vdb.Point
		for k := range flatPoints {
			points = append(points, vdb.Point{Space: f.user(u), ID: fmt.Sprintf("f%d", k), Vector: []float32{1, float32(k) / 50}})
		}
		if err := vectors.Upsert(context.Background(), points); err != nil {
			t.Fatal(err)
		}
	}
	r, err := reader.New(vectors, g, reader.Config{Rerank: rerank.DefaultSettings(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestChaosStoreMemory writes through a store's process whose engine leaks: with a limit it is replaced in time, and nothing
// is lost.
func TestChaosStoreMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	e := &env{ctx: context.Background(), log: quiet, stderr: io.Discard}
	e.cfg.DataDir, e.cfg.LogLevel, e.cfg.LogFormat = t.TempDir(), "error", "text"
	cfg, err := e.childConfig(child.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.HoldEmpty = false // nobody looks at the children here
	cfg.Path, cfg.MemoryLimit, cfg.MemoryCheck = filepath.Join(e.cfg.DataDir, "graph.kuzu"), 192<<20, time.Second
	store, err := child.Start(e.ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	f := &flatGraph{rng: rand.New(rand.NewPCG(3, 4))}
	model := graphstoretest.NewMemory()
	if err := errors.Join(f.fill(e.ctx, store.Apply), f.fill(e.ctx, model.Apply)); err != nil {
		t.Fatal(err)
	}
	applied, largest := 0, int64(0)
	for end, next := time.Now().Add(time.Duration(full(24, 3))*time.Second), time.Now(); time.Now().Before(end); {
		merged := map[string]graphstore.Change{}
		for range 100 {
			space := f.user(f.rng.IntN(flatUsers))
			for _, c := range f.write(space, f.rng.IntN(flatFacts)) {
				merged[space.UserID()+c.Key().String()] = c
			}
		}
		var changes []graphstore.Change
		for _, c := range merged {
			changes = append(changes, c)
		}
		if err := errors.Join(store.Apply(e.ctx, changes), model.Apply(e.ctx, changes)); err != nil {
			t.Fatal(err)
		}
		applied += len(changes)
		if time.Now().After(next) {
			next = time.Now().Add(time.Duration(full(5, 1)) * time.Second)
			a, err := store.Account(e.ctx)
			if err != nil {
				t.Fatal(err)
			}
			largest = max(largest, a.RSS)
			fmt.Printf("chaos: store's process after %7d changes: resident %6.1f MiB, leaked %5.1f MiB, replaced %d times\n", applied,
				float64(a.RSS)/(1<<20), float64(a.Leaked)/(1<<20), store.Health().Restarts)
		}
	}
	want, err := model.Head(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.Head(e.ctx); err != nil || got.Digest != want.Digest {
		t.Errorf("%+v, %v: want digest %s", got, err, want.Digest)
	}
	if err := store.Verify(e.ctx); err != nil {
		t.Error(err)
	}
	if *chaosFull && (store.Health().Restarts == 0 || largest > 2*cfg.MemoryLimit) {
		t.Errorf("replaced %d times, at most %d bytes resident: want the limit of %d to have been at work", store.Health().Restarts, largest, cfg.MemoryLimit)
	}
}
