package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// ErrNoSeed reports that a [Seed] is larger than the memory there is: the graph has to be loaded from its store.
var ErrNoSeed = errors.New("graph is larger than the memory for it")

// Seed is the graph that somebody is writing a store with: with it a [Graph] over the store is loaded without reading what
// was just written. It is safe for concurrent use.
type Seed struct {
	mu        sync.Mutex
	max       int64
	snapshots []seeded
	bytes     int64
	over      bool // it has become too large, and holds nothing any more
}

type seeded struct {
	snap   *graphstore.Snapshot
	digest graphstore.Digest
}

// NewSeed returns an empty one that holds at most so many bytes of snapshots; 0 is no bound.
func NewSeed(maxBytes int64) *Seed { return &Seed{max: maxBytes} }

// Add takes in the graph of a space, once each; an empty one is none. It hashes all of it.
func (s *Seed) Add(snap *graphstore.Snapshot) {
	s.mu.Lock()
	s.bytes += snap.Bytes()
	if s.over = s.over || (s.max > 0 && s.bytes > s.max); s.over {
		s.snapshots = nil
	}
	over := s.over
	s.mu.Unlock()
	if over {
		return
	}
	digest := snap.Digest()
	if digest.Records() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.snapshots = append(s.snapshots, seeded{snap, digest})
	}
}

// LoadSeed is [Graph.Load] by a seed, which must not be used afterwards. If the seed does not add up to the digest of the store's
// head, the error is [graphstore.ErrDamaged], if it is larger than [Config.MaxBytes] or its own bound, [ErrNoSeed]; then the graph is not
// loaded, and Load may be run.
func (g *Graph) LoadSeed(ctx context.Context, seed *Seed) error {
	if err := g.writer.lock(ctx); err != nil {
		return fmt.Errorf("load graph: %w", err)
	}
	defer g.writer.unlock()
	if g.isLoaded() {
		return nil
	}
	start := time.Now()
	seed.mu.Lock()
	defer seed.mu.Unlock()
	if seed.over || (g.dir.max > 0 && seed.bytes > g.dir.max) {
		return fmt.Errorf("load graph: %w", ErrNoSeed)
	}
	head, err := g.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("load graph: %w", err)
	}
	var sum graphstore.Digest
	for _, s := range seed.snapshots {
		sum.Merge(s.digest)
	}
	if sum != head.Digest {
		return fmt.Errorf("load graph: %w: what was written has digest %s, the head says %s", graphstore.ErrDamaged, sum, head.Digest)
	}
	g.dir.plant(seed.snapshots, sum)
	g.writer.mark, g.writer.heads = head.Mark, possibleDigests{head.Digest}
	g.failed.err.Store(nil)
	close(g.loaded)
	g.log.Info("graph loaded", "spaces", len(seed.snapshots), "records", sum.Records(), "resident", true, "bytes", g.Usage().Bytes, "took", time.Since(start))
	return nil
}

// plant makes snapshots resident that fit, in an empty directory.
func (d *directory) plant(snapshots []seeded, sum graphstore.Digest) {
	d.Lock()
	defer d.Unlock()
	d.resetLocked()
	d.digest = sum
	for _, s := range snapshots {
		e := d.entryLocked(s.snap.Space())
		d.countLocked(e, countsOf(s.snap))
		e.digest = s.digest
		d.keepLocked(e, s.snap)
	}
}
