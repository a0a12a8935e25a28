package main

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/kuzu"
	"github.com/kithgraph/kith/projector"
)

// soakReplay is the same work without a stream, a live graph, a store's process and faults, by one goroutine: what each
// part of it takes, and the transactions that it makes.
type soakReplay struct {
	views                            map[graphstore.Space]*graphstore.Snapshot
	transactions                     [][]graphstore.Change
	facts                            int // written
	decode, plan, coalesce, snapshot time.Duration
	commits                          []time.Duration
	raw                              time.Duration // all commits, checkpoints included
}

// replay plans the events in the order of the stream, in transactions of as many events as the path had.
func (s *soakFile) replay(t *testing.T, cfg projector.Config, batches []int) *soakReplay {
	t.Helper()
	plan, err := projector.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &soakReplay{views: map[graphstore.Space]*graphstore.Snapshot{}}
	for rest := s.order; len(rest) > 0; {
		n := len(rest)
		if len(batches) > 0 {
			n, batches = min(n, batches[0]), batches[1:]
		}
		r.transaction(t, plan, s, rest[:n])
		rest = rest[n:]
	}
	return r
}

func (r *soakReplay) transaction(t *testing.T, plan *projector.Projector, s *soakFile, events []int) {
	t.Helper()
	drafts := map[graphstore.Space]*graphstore.Snapshot{}
	var plans [][]graphstore.Change
	for _, i := range events {
		payload := s.payload(t, i)
		start := time.Now()
		ev, rejected, err := projector.Decode(payload, projector.Limits{})
		if err != nil || len(rejected) > 0 {
			t.Fatal(err, rejected)
		}
		r.decode += time.Since(start)
		if w, ok := ev.Data.(projector.FactsWritten); ok {
			r.facts += len(w.Facts)
		}
		start = time.Now()
		plans = append(plans, projectInto(t, plan, r.views, drafts, ev))
		r.plan += time.Since(start)
	}
	start := time.Now()
	all := projector.Coalesce(plans...)
	r.coalesce += time.Since(start)
	if len(all) > 0 {
		r.transactions = append(r.transactions, all)
	}
	start = time.Now()
	for own := range bySpace(all) {
		next, err := viewOf(r.views, own[0].Space).With(own)
		if err != nil {
			t.Fatal(err)
		}
		r.views[own[0].Space] = next
	}
	r.snapshot += time.Since(start)
}

// bySpace yields runs of changes of one space.
func bySpace(all []graphstore.Change) func(yield func([]graphstore.Change) bool) {
	return func(yield func([]graphstore.Change) bool) {
		for len(all) > 0 {
			n := slices.IndexFunc(all, func(c graphstore.Change) bool { return c.Space != all[0].Space })
			if n < 0 {
				n = len(all)
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

func viewOf(views map[graphstore.Space]*graphstore.Snapshot, space graphstore.Space) *graphstore.Snapshot {
	if view, ok := views[space]; ok {
		return view
	}
	return graphstore.NewSnapshot(space)
}

// projectInto plans an event against its draft, and puts what it changes into that.
func projectInto(t *testing.T, plan *projector.Projector, views, drafts map[graphstore.Space]*graphstore.Snapshot, ev projector.Event) []graphstore.Change {
	t.Helper()
	view, ok := drafts[ev.Space]
	if !ok {
		view = viewOf(views, ev.Space)
	}
	planned, err := plan.Plan(view, ev)
	if err != nil {
		t.Fatal(err)
	}
	if drafts[ev.Space], err = view.With(planned.Changes); err != nil {
		t.Fatal(err)
	}
	return planned.Changes
}

// writeRaw writes the transactions with the driver alone, into a new file in this process.
func (r *soakReplay) writeRaw(t *testing.T) graphstore.Digest {
	t.Helper()
	store, err := kuzu.Open(filepath.Join(t.TempDir(), "raw.kuzu"), (&env{log: discardLog()}).kuzuConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	start := time.Now()
	for i, changes := range r.transactions {
		began := time.Now()
		if err := store.ApplyMarked(t.Context(), changes, graphstore.Mark{Log: "soak", Seq: uint64(i + 1)}); err != nil {
			t.Fatal(err)
		}
		r.commits = append(r.commits, time.Since(began))
	}
	r.raw = time.Since(start)
	head, err := store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head.Digest
}
