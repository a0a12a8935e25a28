package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// exhume looks for the dead letters of what the feed had settled and a replay could not project. What has none may be in the
// graph that was there, by a version that accepted it, and is not in the one that was made.
func (r *Replay) exhume(ctx context.Context, out *Replayed) error {
	if len(out.settled) == 0 {
		return nil
	}
	index := deadIndex{js: r.js}
	if err := index.update(ctx, out.Extent.created); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("look for dead letters: %w", err)
	}
	unburied := map[uint64]bool{}
	for _, p := range out.settled {
		if !index.buried(p) {
			unburied[p.Seq] = true
		}
	}
	out.settled = nil
	out.Unburied += len(unburied)
	for i := range out.Problems {
		p := &out.Problems[i]
		p.Unburied = p.Unburied || unburied[p.Seq]
	}
	return nil
}

// buried reports whether a problem is among the dead letters, whole or each part of it.
func (x *deadIndex) buried(p Problem) bool {
	if x.knows(deadKey{p.Seq, wholeEvent}) {
		return true
	}
	for _, key := range p.keys {
		if !x.knows(key) {
			return false
		}
	}
	return true
}
