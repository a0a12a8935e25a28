package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/panics"

	"github.com/kithgraph/kith/vdb"
)

// Embedder makes the vector of a text, of the collection's dimension: an embed.Client, or anything like it. One that also has a method
// Fault(error) bool tells its own faults, like a server that does not answer, from texts that it refuses; only faults open the
// breaker then. Without the method every error counts as one.
type Embedder interface {
	Embed(ctx context.Context, text string) ([]float32, error)
}

type faulter interface{ Fault(err error) bool }

// find decides which recall answers the query and makes it. A text that needs a vector and cannot have one is searched by
// keyword, and the note says why.
func (r *Reader) find(ctx context.Context, q *Query) (recalled, error) {
	by, note, tried, err := r.prepare(ctx, q)
	if err != nil {
		return recalled{}, err
	}
	found, err := r.recall(ctx, *q, by)
	if wrong := (*vdb.DimensionError)(nil); tried && by != RecallKeyword && errors.As(err, &wrong) {
		// Not the caller's mistake: it sent no vector.
		note = fmt.Sprintf("the embedder does not fit the collection: %v", wrong)
		by = RecallKeyword
		found, err = r.recall(ctx, *q, by)
	}
	if tried && note != "" && errors.Is(err, vdb.ErrUnsupported) {
		return recalled{}, fmt.Errorf("%w: %s, and the collection has no index of words", vdb.ErrUnavailable, note)
	}
	if note != "" && err != nil {
		return recalled{}, fmt.Errorf("%s, so the text was searched by keyword: %w", note, err)
	}
	found.note = note
	return found, err
}

// prepare decides on the recall and embeds the text if that needs a vector; tried says that it asked for one. The error is the
// caller's own cancellation.
func (r *Reader) prepare(ctx context.Context, q *Query) (by Recall, note string, tried bool, err error) {
	if q.Mode == ModeKeyword {
		return RecallKeyword, "", false, nil
	}
	by = RecallDense
	if q.Mode == ModeHybrid {
		by = RecallHybrid
	}
	if len(q.Vector) > 0 {
		return by, "", false, nil
	}
	if r.cfg.Embedder == nil {
		return RecallKeyword, "no vector, and no embeddings endpoint is configured", false, nil
	}
	vector, err := r.embed(ctx, q.Text)
	if cause := ctx.Err(); cause != nil {
		return "", "", true, fmt.Errorf("embed text: %w", cause)
	}
	if err != nil {
		return RecallKeyword, fmt.Sprintf("the text could not be embedded: %v", err), true, nil
	}
	q.Vector = vector
	return by, "", true, nil
}

// embed asks the endpoint, unless it failed some times in a row: a search is not to wait for one that hangs each time.
func (r *Reader) embed(ctx context.Context, text string) ([]float32, error) {
	done, err := r.breakers.embed.Allow()
	if err != nil {
		return nil, fmt.Errorf("the endpoint is not asked after failures in a row: %w", err)
	}
	var vector []float32
	if p := panics.Try(func() { vector, err = r.cfg.Embedder.Embed(ctx, text) }); p != nil {
		r.log.Error("embedder panicked", "err", p.AsError())
		err = fmt.Errorf("%w: %v", errPanic, p.Value)
	}
	if err == nil && len(vector) == 0 {
		err = errors.New("the embedder gave an empty vector")
	}
	switch f, tells := r.cfg.Embedder.(faulter); {
	case err == nil:
		r.embedTrouble.end(r)
		done(nil)
	case ctx.Err() != nil, tells && !f.Fault(err):
		done(errNotItsFault)
	default:
		r.embedTrouble.begin(r, "embed", err)
		done(err)
	}
	return vector, err
}
