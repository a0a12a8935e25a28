package live

import (
	"context"
	"iter"

	"github.com/kithgraph/kith/graphstore"
)

// Held is the graph while no change is applied to it. It is good inside the function that [Graph.Hold] runs only.
type Held struct {
	graph     *Graph
	snapshots []*graphstore.Snapshot // of the resident spaces
	resident  bool
}

// Hold runs fn while no change is applied, and returns what it returns. Searches go on, and so do reloads of users that
// are not resident. It is for the owner of the store, to write the store's file anew or to put another in its place.
// fn must not call Snapshot, Apply, ApplyMarked, Load or Hold: they would wait for it. Hold waits for Load.
func (g *Graph) Hold(ctx context.Context, fn func(ctx context.Context, held *Held) error) error {
	if err := g.begin(ctx); err != nil {
		return err
	}
	defer g.writer.unlock()
	h := &Held{graph: g}
	g.dir.RLock()
	for _, e := range g.dir.residents {
		h.snapshots = append(h.snapshots, e.snap)
	}
	h.resident = len(h.snapshots) == len(g.dir.entries)
	g.dir.RUnlock()
	return fn(ctx, h)
}

// Resident reports whether every space is in memory, as it was published last.
func (h *Held) Resident() bool { return h.resident }

// Complete reports whether memory holds exactly what the store has committed: every space is resident, and no commit of
// unknown outcome is pending.
func (h *Held) Complete() bool { return h.resident && !h.graph.writer.unsure }

// Mark returns the last mark that was committed: by ApplyMarked, or before Load.
func (h *Held) Mark() graphstore.Mark { return h.graph.writer.mark }

// Records yields the records of all spaces as published, the nodes of a space before its edges. It is for a graph that is
// [Held.Resident]: of another it yields one empty change, which every store refuses, and nothing else, so that a part
// is never taken for the whole.
func (h *Held) Records() iter.Seq[graphstore.Change] {
	return func(yield func(graphstore.Change) bool) {
		if !h.resident {
			yield(graphstore.Change{})
			return
		}
		for _, s := range h.snapshots {
			for c := range s.Records() {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// Rebuilt says that the store holds exactly [Held.Records] and [Held.Mark] now, because the owner has just written it so:
// whatever outcome was unknown is known. It must only be called on a graph that is [Held.Resident].
func (h *Held) Rebuilt() {
	w := &h.graph.writer
	if !h.resident || (!w.unsure && len(w.heads) == 1) {
		return
	}
	var d graphstore.Digest // what was published of a suspect space may be newer than the digest
	for c := range h.Records() {
		d.Add(c)
	}
	h.graph.dir.settle()
	clear(w.suspect)
	w.releaseAllLocked()
	w.unsure, w.doubt, w.heads = false, nil, possibleDigests{d}
	h.graph.dir.Lock()
	h.graph.dir.digest = d
	h.graph.dir.Unlock()
}
