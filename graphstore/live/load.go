package live

import (
	"context"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Load reads every space from the store and then lets View and Apply through. It is to be run until it has succeeded once;
// after an error the graph stays closed to both, View reports the error, and Load may be run again.
//
// What does not fit into [Config.MaxBytes] is counted only and read when it is asked for. In either case all of it is
// read once and must add up to the digest of the store's head: otherwise the error is [graphstore.ErrDamaged].
func (g *Graph) Load(ctx context.Context) error {
	if err := g.writer.lock(ctx); err != nil {
		return fmt.Errorf("load graph: %w", err)
	}
	defer g.writer.unlock()
	if g.isLoaded() {
		return nil
	}
	start := time.Now()
	l, head, err := g.loadAll(ctx)
	if err != nil {
		err = fmt.Errorf("load graph: %w", err)
		g.failed.set(err)
		return err
	}
	l.fill(&g.dir)
	g.writer.mark, g.writer.heads = head.Mark, possibleDigests{head.Digest}
	g.failed.err.Store(nil)
	close(g.loaded)
	g.log.Info("graph loaded", "spaces", len(l.spaces), "records", l.digest.Records(), "resident", l.whole, "bytes", g.Usage().Bytes, "took", time.Since(start))
	return nil
}

func (g *Graph) loadAll(ctx context.Context) (*loading, graphstore.Head, error) {
	head, err := g.store.Head(ctx)
	if err != nil {
		return nil, head, err
	}
	l := &loading{max: g.dir.max, whole: true, spaces: map[graphstore.Space]*loadingSpace{}}
	sums := newSummer()
	err = g.store.LoadAll(ctx, func(c graphstore.Change) error {
		sums.add(c)
		return l.add(c)
	})
	l.sums = sums.digests()
	for _, d := range l.sums {
		l.digest.Merge(*d)
	}
	switch {
	case err != nil:
		return nil, head, err
	case l.digest != head.Digest:
		return nil, head, fmt.Errorf("%w: the records have digest %s, the head says %s", graphstore.ErrDamaged, l.digest, head.Digest)
	}
	return l, head, nil
}

// loading is one pass over all records.
type loading struct {
	max    int64
	spaces map[graphstore.Space]*loadingSpace
	bytes  int64 // of the builders
	whole  bool  // all spaces are being built; once they do not fit, none is
	digest graphstore.Digest
	sums   map[graphstore.Space]*graphstore.Digest
}

type loadingSpace struct {
	builder *graphstore.Builder // nil unless whole
	counts  Counts
	bytes   int64 // estimate from the records
}

func (l *loading) add(c graphstore.Change) error {
	s, ok := l.spaces[c.Space]
	if !ok {
		s = &loadingSpace{}
		if l.whole {
			s.builder = graphstore.NewBuilder(graphstore.NewSnapshot(c.Space))
		}
		l.spaces[c.Space] = s
	}
	s.counts.count(c)
	s.bytes += graphstore.EstimateBytes(c)
	if !l.whole {
		return nil
	}
	before := s.builder.Bytes()
	if err := s.builder.Add(c); err != nil {
		return fmt.Errorf("%w: %w", graphstore.ErrDamaged, err)
	}
	l.bytes += s.builder.Bytes() - before
	if l.max > 0 && l.bytes > l.max {
		l.whole = false
		for _, s := range l.spaces {
			s.builder = nil
		}
	}
	return nil
}

// fill writes the outcome into the directory.
func (l *loading) fill(d *directory) {
	d.Lock()
	defer d.Unlock()
	d.resetLocked()
	d.digest = l.digest
	for space, s := range l.spaces {
		e := d.entryLocked(space)
		d.countLocked(e, s.counts)
		e.digest = *l.sums[space]
		d.estimateLocked(e, s.bytes)
		if l.whole {
			d.keepLocked(e, s.builder.Snapshot())
			s.builder = nil
		}
	}
}
