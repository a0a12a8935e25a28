package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// recalled is what the vector store found.
type recalled struct {
	matches []vdb.Match
	by      Recall
	note    string // why it is another recall than the one asked for
	now     time.Time
	foreign int
	took    time.Duration

	// Of a hybrid recall, by index of matches: the fused scores, and what they are made of.
	relevance []float64
	channels  []Channels
}

// recall asks the vector store, once, and drops what it must not have returned.
func (r *Reader) recall(ctx context.Context, q Query, by Recall) (recalled, error) {
	start := time.Now()
	out := recalled{by: by, now: r.cfg.Now()}
	filter := q.filter(out.now)
	var err error
	switch by {
	case RecallKeyword:
		out.matches, err = r.vectors.Keyword(ctx, vdb.KeywordQuery{Space: q.Space, Text: q.Text, Filter: filter, Limit: q.Pool})
	case RecallHybrid:
		var both vdb.HybridMatches
		both, err = r.vectors.Hybrid(ctx, vdb.HybridQuery{
			Query: vdb.Query{Space: q.Space, Vector: q.Vector, Filter: filter, Limit: q.Pool}, Text: q.Text,
		})
		if err == nil {
			r.fused(&out, q, both)
		}
	default:
		out.matches, err = r.vectors.Search(ctx, vdb.Query{Space: q.Space, Vector: q.Vector, Filter: filter, Limit: q.Pool})
	}
	out.took = time.Since(start)
	if err != nil {
		return recalled{}, recallError(ctx, err)
	}
	if by != RecallHybrid {
		out.matches, out.foreign = r.ownOnly(q.Space, out.matches)
	}
	return out, nil
}

// ownOnly drops facts of other users, which a vector store must never return, and says so.
func (r *Reader) ownOnly(space graphstore.Space, matches []vdb.Match) (own []vdb.Match, foreign int) {
	own = slices.DeleteFunc(matches, func(m vdb.Match) bool { return m.Space != space })
	if foreign = len(matches) - len(own); foreign > 0 {
		r.logForeign(space, foreign)
	}
	return own, foreign
}

func (r *Reader) logForeign(space graphstore.Space, n int) {
	r.log.Error("vector store returned facts of another user; they were dropped", "user", space.UserID(), "dropped", n)
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
