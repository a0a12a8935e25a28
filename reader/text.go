package reader

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Embedder makes the vector of a text, of the collection's dimension: an embed.Client, or anything like it.
type Embedder interface {
	Embed(ctx context.Context, text string) ([]float32, error)
}

// faulter is an [Embedder] that can tell its own faults, like a server that does not answer, from texts that it refuses. Without it
// every error counts as a fault.
type faulter interface{ Fault(err error) bool }

// prepare decides which recall answers the query and embeds its text if that needs a vector. A text that cannot be embedded is
// searched by keyword, and note says why. The error is the caller's own cancellation.
func (r *Reader) prepare(ctx context.Context, q *Query) (by Recall, note string, err error) {
	if q.Mode == ModeKeyword {
		return RecallKeyword, "", nil
	}
	by = RecallDense
	if q.Mode == ModeHybrid {
		by = RecallHybrid
	}
	if len(q.Vector) > 0 {
		return by, "", nil
	}
	if r.cfg.Embedder == nil {
		return RecallKeyword, "no vector, and no embeddings endpoint is configured", nil
	}
	vector, err := r.embed(ctx, q.Text)
	if cause := ctx.Err(); cause != nil {
		return "", "", fmt.Errorf("embed text: %w", cause)
	}
	if err != nil {
		return RecallKeyword, fmt.Sprintf("the text could not be embedded: %v", err), nil
	}
	q.Vector = vector
	return by, "", nil
}

// embed asks the endpoint, unless it failed some times in a row: a search is not to wait for one that hangs each time.
func (r *Reader) embed(ctx context.Context, text string) ([]float32, error) {
	done, err := r.breakers.embed.Allow()
	if err != nil {
		return nil, fmt.Errorf("the endpoint is not asked after failures in a row: %w", err)
	}
	start := time.Now()
	vector, err := r.cfg.Embedder.Embed(ctx, text)
	switch f, tells := r.cfg.Embedder.(faulter); {
	case err == nil:
		r.embedTrouble.end(r)
		done(nil)
	case ctx.Err() != nil, tells && !f.Fault(err):
		done(errNotItsFault)
	default:
		r.embedTrouble.begin(r, StageEmbed, err)
		done(fmt.Errorf("after %s: %w", time.Since(start).Round(time.Millisecond), err))
	}
	if err == nil && len(vector) == 0 {
		err = errors.New("the embedder gave an empty vector")
	}
	return vector, err
}
