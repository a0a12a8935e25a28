package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/internal/server"
)

type compactCmd struct{}

// Run writes the graph's file anew, by the running service or from the files.
func (compactCmd) Run(e *env) (err error) {
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	var c server.Compaction
	if err := cl.call(e.ctx, http.MethodPost, "/v1/admin/compact", nil, &c); err != nil {
		return err
	}
	e.printf("asked %s\n", cl.via)
	e.printf("compacted %d records: %s -> %s in %s\n  digest %s, before and after\n", c.Records, bytesText(c.BytesBefore), bytesText(c.BytesAfter),
		time.Duration(c.TookMS)*time.Millisecond, c.Digest)
	return nil
}

// Compact writes the graph's file anew: what was deleted or replaced leaves no trace in it.
func (s *service) Compact(ctx context.Context) (server.Compaction, error) {
	if s.host == nil {
		return server.Compaction{}, fmt.Errorf("%w: %s", server.ErrNoGraph, s.sw.RerankRule)
	}
	var c server.Compaction
	start := time.Now()
	err := s.host.maintenance.try("compaction", func() (err error) {
		c, err = s.host.compact(ctx)
		return err
	})
	c.TookMS = time.Since(start).Milliseconds()
	return c, err
}

func (h *graphHost) compact(ctx context.Context) (c server.Compaction, err error) {
	g := h.live.Load()
	if _, err := h.View(probeSpace()); err != nil {
		return c, fmt.Errorf("%w: %w", server.ErrNoGraph, err)
	}
	before, err := h.file.Stats(ctx)
	if err != nil {
		return c, fmt.Errorf("count graph: %w", err)
	}
	err = g.Hold(ctx, func(ctx context.Context, held *live.Held) error {
		head, err := h.file.Head(ctx)
		if err != nil {
			return err
		}
		b, err := h.file.build(ctx, head.ID, head.Mark, h.stored(ctx, held))
		if err != nil {
			return err
		}
		if b.head.Digest != head.Digest {
			return fmt.Errorf("compacted graph has digest %s, the graph has %s: left as it is", b.head.Digest, head.Digest)
		}
		c = server.Compaction{BytesBefore: before.Bytes, BytesAfter: b.stats.Bytes, Records: head.Digest.Records(), Digest: head.Digest.String()}
		return h.file.replace(ctx, b)
	})
	return c, err
}

// stored returns all records as the store has them: from memory where it has them all, else read from the store.
func (h *graphHost) stored(ctx context.Context, held *live.Held) records {
	if held.Complete() {
		return recordsOf(held.Records())
	}
	return func(yield func(graphstore.Change) error) error { return h.file.LoadAll(ctx, yield) }
}
