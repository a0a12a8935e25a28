package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// trio is one graph in three stores: in memory, which is the model, in Kuzu in this process, and in Kuzu in a child.
type trio struct {
	t     *testing.T
	e     *env
	dir   string
	model *graphstoretest.Memory
	kuzu  *kuzu.Store
	child *child.Store
	seq   uint64
}

func newTrio(t *testing.T) *trio {
	t.Helper()
	c := &trio{t: t, dir: t.TempDir(), model: graphstoretest.NewMemory()}
	c.e = &env{ctx: context.Background(), log: slog.New(slog.NewTextHandler(io.Discard, nil)), stderr: io.Discard}
	c.e.cfg.DataDir, c.e.cfg.LogLevel, c.e.cfg.LogFormat = filepath.Join(c.dir, "child"), "error", "text"
	c.open()
	return c
}

func (c *trio) open() {
	c.t.Helper()
	var err error
	if c.kuzu, err = kuzu.Open(filepath.Join(c.dir, "graph.kuzu"), kuzu.Config{BufferPoolBytes: 64 << 20, MaxDBBytes: 1 << 34, Logger: c.e.log}); err != nil {
		c.t.Fatal(err)
	}
	cfg, err := c.e.childConfig(child.Hooks{})
	if err != nil {
		c.t.Fatal(err)
	}
	cfg.HoldEmpty = false // nobody looks at the children here but the comparison
	cfg.BreakerCrashes, cfg.BackoffMin, cfg.BackoffMax = 1_000, time.Millisecond, 50*time.Millisecond
	if c.child, err = child.Start(c.e.ctx, cfg); err != nil {
		c.t.Fatal(err)
	}
}

func (c *trio) close() {
	if err := errors.Join(c.kuzu.Close(), c.child.Close()); err != nil {
		c.t.Error(err)
	}
}

// apply commits the same transaction three times over: all accept it, or all refuse it for the same reason.
func (c *trio) apply(rt *rapid.T, changes []graphstore.Change) {
	c.seq++
	mark := graphstore.Mark{Log: "churn", Seq: c.seq}
	want := c.model.ApplyMarked(c.e.ctx, changes, mark)
	got := c.kuzu.ApplyMarked(c.e.ctx, changes, mark)
	far := c.child.ApplyMarked(c.e.ctx, changes, mark)
	for errors.Is(far, child.ErrChildDied) { // the outcome is unknown: again, as the contract says
		far = c.child.ApplyMarked(c.e.ctx, changes, mark)
	}
	for _, class := range []error{graphstore.ErrBadChange, graphstore.ErrDangling} {
		if errors.Is(got, class) != errors.Is(want, class) || errors.Is(far, class) != errors.Is(want, class) {
			rt.Fatalf("apply: memory %v, kuzu %v, child %v", want, got, far)
		}
	}
	if want == nil && (got != nil || far != nil) {
		rt.Fatalf("apply: kuzu %v, child %v", got, far)
	}
}

// compare compares heads and, with all set, every record.
func (c *trio) compare(rt *rapid.T, all bool) {
	want, err := c.model.Head(c.e.ctx)
	if err != nil {
		rt.Fatal(err)
	}
	for name, store := range map[string]graphstore.Store{"kuzu": c.kuzu, "child": c.child} {
		var got graphstore.Head
		err := retried(func() (err error) { got, err = store.Head(c.e.ctx); return err })
		if err != nil || got.Digest != want.Digest || got.Mark != want.Mark {
			rt.Fatalf("%s: %+v, %v: want %+v", name, got, err, want)
		}
		if !all {
			continue
		}
		var loaded graphstore.Digest
		err = retried(func() error {
			loaded = graphstore.Digest{}
			return store.LoadAll(c.e.ctx, func(ch graphstore.Change) error { loaded.Add(ch); return nil })
		})
		if err != nil || loaded != want.Digest {
			rt.Fatalf("%s: loaded %s, %v: want %s", name, loaded, err, want.Digest)
		}
	}
}

func retried(call func() error) error {
	for {
		if err := call(); !errors.Is(err, child.ErrChildDied) {
			return err
		}
	}
}

var churnChecks = flag.Int("churn-checks", 0, "random histories of the churn over all stores; 0 takes 2, or 6 with -chaos")

// TestChaosChurn runs random histories of creates, updates, deletes, refused transactions, checkpoints, reopenings, and
// kills of the child over three stores at once, of which the simplest is the model.
func TestChaosChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	checks := full(6, 2)
	if *churnChecks > 0 {
		checks = *churnChecks
	}
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	for name, value := range map[string]string{"rapid.checks": fmt.Sprint(checks), "rapid.seed": fmt.Sprint(seed), "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Printf("chaos: churn over memory, kuzu and child: seed %d, %d histories\n", seed, checks)
	histories, steps, kills := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		c := newTrio(t)
		defer c.close()
		histories++
		rt.Repeat(map[string]func(*rapid.T){
			"put":    func(rt *rapid.T) { steps++; c.apply(rt, drawPuts(rt)) },
			"delete": func(rt *rapid.T) { steps++; c.apply(rt, c.drawDeletes(rt)) },
			"reckless": func(rt *rapid.T) { // mostly refused: an edge or a node that others need, or a key twice
				steps++
				c.apply(rt, append(drawPuts(rt), drawEdge(rt, drawSpace(rt), graphstore.Put), graphstore.DeleteKey(drawSpace(rt), drawNode(rt))))
			},
			"kill": func(rt *rapid.T) {
				if pid := c.child.Health().PID; pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
					kills++
				}
			},
			"checkpoint": func(rt *rapid.T) {
				if err := errors.Join(c.kuzu.Checkpoint(c.e.ctx), retried(func() error { return c.child.Checkpoint(c.e.ctx) })); err != nil {
					rt.Fatal(err)
				}
			},
			"reopen": func(rt *rapid.T) { c.close(); c.open() },
			"load":   func(rt *rapid.T) { c.compare(rt, true) },
			"":       func(rt *rapid.T) { c.compare(rt, false) },
		})
		c.compare(rt, true)
	})
	fmt.Printf("chaos: churn: %d histories, %d transactions, %d kills of the child: all three equal throughout\n", histories, steps, kills)
}

func drawSpace(rt *rapid.T) graphstore.Space {
	space, err := graphstore.NewSpace(rapid.SampledFrom([]string{"ada", "bob"}).Draw(rt, "space"))
	if err != nil {
		rt.Fatal(err)
	}
	return space
}

func drawID(rt *rapid.T, kind string, n int) string {
	return fmt.Sprintf("%s%d", kind, rapid.IntRange(0, n-1).Draw(rt, kind))
}

func drawNode(rt *rapid.T) graphstore.Key {
	switch rapid.IntRange(0, 2).Draw(rt, "kind") {
	case 0:
		return graphstore.Key{Kind: graphstore.KindFact, Node: drawID(rt, "f", 8)}
	case 1:
		return graphstore.Key{Kind: graphstore.KindEntity, Node: drawID(rt, "e", 3)}
	default:
		return graphstore.Key{Kind: graphstore.KindTopic, Node: drawID(rt, "t", 2)}
	}
}

func drawEdge(rt *rapid.T, space graphstore.Space, op graphstore.Op) graphstore.Change {
	e := graphstore.Edge{Source: drawID(rt, "f", 8), Weight: float64(rapid.IntRange(1, 10).Draw(rt, "weight")) / 10,
		Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: drawID(rt, "f", 8)}, Detail: rapid.SampledFrom([]string{"", "x", "ünïcödé \"quoted\""}).Draw(rt, "detail")}
	switch rapid.IntRange(0, 3).Draw(rt, "type") {
	case 0:
		e.Type, e.Target = graphstore.Mentions, drawID(rt, "e", 3)
	case 1:
		e.Type, e.Target = graphstore.TaggedWith, drawID(rt, "t", 2)
	case 2:
		e.Type, e.Target = graphstore.Elaborates, drawID(rt, "f", 8)
	default:
		e.Type, e.Target = graphstore.CoOccurs, drawID(rt, "f", 8)
	}
	c := graphstore.PutEdge(space, e)
	c.Op = op
	return c
}

// drawPuts returns nodes with edges between them, each key once.
func drawPuts(rt *rapid.T) []graphstore.Change {
	space := drawSpace(rt)
	all := map[graphstore.Key]graphstore.Change{}
	put := func(c graphstore.Change) { all[c.Key()] = c }
	for range rapid.IntRange(1, 6).Draw(rt, "edges") {
		c := drawEdge(rt, space, graphstore.Put)
		if c.Edge.Source == c.Edge.Target {
			continue
		}
		put(c)
		put(drawFact(rt, space, c.Edge.Source))
		switch c.Edge.Type {
		case graphstore.Mentions:
			put(graphstore.PutEntity(space, graphstore.Entity{ID: c.Edge.Target, Type: "person", Norm: c.Edge.Target, Mentions: rapid.IntRange(0, 9).Draw(rt, "mentions")}))
		case graphstore.TaggedWith:
			put(graphstore.PutTopic(space, graphstore.Topic{ID: c.Edge.Target, Name: c.Edge.Target, Facts: rapid.IntRange(0, 9).Draw(rt, "facts")}))
		default:
			put(drawFact(rt, space, c.Edge.Target))
		}
	}
	return inOrder(all)
}

// inOrder returns changes in the order of their keys, so that a seed means the same run every time.
func inOrder(all map[graphstore.Key]graphstore.Change) []graphstore.Change {
	changes := slices.Collect(maps.Values(all))
	slices.SortFunc(changes, func(a, b graphstore.Change) int { return a.Key().Compare(b.Key()) })
	return changes
}

func drawFact(rt *rapid.T, space graphstore.Space, id string) graphstore.Change {
	f := graphstore.Fact{ID: id, State: graphstore.State(rapid.IntRange(0, 4).Draw(rt, "state")), BatchID: rapid.SampledFrom([]string{"", "b1", "b2"}).Draw(rt, "batch"),
		MemoryAt: graphstore.Instant(rapid.Int64Range(0, 3).Draw(rt, "at"))}
	f.Registers.Base = graphstore.Stamp{Version: rapid.Int64Range(0, 5).Draw(rt, "version"), Rank: graphstore.RankAdd, EventID: drawID(rt, "ev", 4)}
	return graphstore.PutFact(space, f)
}

// drawDeletes deletes some nodes of the model's graph with all their edges, or some edges alone.
func (c *trio) drawDeletes(rt *rapid.T) []graphstore.Change {
	space := drawSpace(rt)
	var edges []graphstore.Change
	if err := c.model.Load(c.e.ctx, space, func(ch graphstore.Change) error {
		if ch.Edge != nil {
			edges = append(edges, ch)
		}
		return nil
	}); err != nil {
		rt.Fatal(err)
	}
	slices.SortFunc(edges, func(a, b graphstore.Change) int { return a.Key().Compare(b.Key()) })
	all := map[graphstore.Key]graphstore.Change{}
	gone := func(k graphstore.Key) { all[k] = graphstore.DeleteKey(space, k) }
	if len(edges) > 0 && rapid.Bool().Draw(rt, "edge alone") {
		gone(edges[rapid.IntRange(0, len(edges)-1).Draw(rt, "which")].Key())
	} else {
		node := drawNode(rt)
		gone(node)
		for _, e := range edges {
			source, target := e.Edge.Type.Ends()
			if (node == graphstore.Key{Kind: source, Node: e.Edge.Source}) || (node == graphstore.Key{Kind: target, Node: e.Edge.Target}) {
				gone(e.Key())
			}
		}
	}
	return inOrder(all)
}
