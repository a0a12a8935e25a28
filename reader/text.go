package reader

import (
	"context"
	"fmt"
)

// Embedder makes the vector of a text, of the collection's dimension: an embed.Client, or anything like it.
type Embedder interface {
	Embed(ctx context.Context, text string) ([]float32, error)
}

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
	vector, err := r.cfg.Embedder.Embed(ctx, q.Text)
	if cause := ctx.Err(); cause != nil {
		return "", "", fmt.Errorf("embed text: %w", cause)
	}
	if err != nil {
		r.log.Warn("text could not be embedded; it is searched by keyword", "err", err)
		return RecallKeyword, fmt.Sprintf("the text could not be embedded: %v", err), nil
	}
	q.Vector = vector
	return by, "", nil
}
