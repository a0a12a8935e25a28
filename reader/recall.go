package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kithgraph/kith/vdb"
)

// recalled is what the vector store found.
type recalled struct {
	matches []vdb.Match
	by      Recall
	foreign int
	took    time.Duration
}

// recall asks the vector store and drops what it must not have returned.
func (r *Reader) recall(ctx context.Context, q Query) (recalled, error) {
	start := time.Now()
	out := recalled{by: RecallDense}
	var err error
	if len(q.Vector) > 0 {
		out.matches, err = r.vectors.Search(ctx, vdb.Query{Space: q.Space, Vector: q.Vector, Filter: q.filter(r.cfg.Now()), Limit: q.Pool})
	} else {
		out.by = RecallKeyword
		out.matches, err = r.vectors.Keyword(ctx, vdb.KeywordQuery{Space: q.Space, Text: q.Text, Filter: q.filter(r.cfg.Now()), Limit: q.Pool})
	}
	out.took = time.Since(start)
	if err != nil {
		return recalled{}, recallError(ctx, err)
	}
	out.matches = slices.DeleteFunc(out.matches, func(m vdb.Match) bool {
		if m.Space == q.Space {
			return false
		}
		out.foreign++
		return true
	})
	if out.foreign > 0 {
		r.log.Error("vector store returned facts of another user; they were dropped", "user", q.Space.UserID(), "dropped", out.foreign)
	}
	return out, nil
}

// recallError makes the store's error the reader's: the caller's own cancellation first, then the caller's mistakes.
func recallError(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("search vectors: %w", errors.Join(cause, err))
	}
	if errors.Is(err, vdb.ErrBadQuery) {
		return err // it says what is wrong with the query, which is all there is to say
	}
	return fmt.Errorf("search vectors: %w", err)
}

// plainAnswer is the recall's order, cut at k.
func plainAnswer(matches []vdb.Match, k int) Answer {
	n := min(k, len(matches))
	results := make([]Result, n)
	for i, m := range matches[:n] {
		results[i] = Result{ID: m.ID, Score: m.Score, Base: m.Score, GraphScore: m.Score, RankBefore: i + 1, RankAfter: i + 1, Payload: m.Payload}
	}
	return Answer{Results: results}
}
