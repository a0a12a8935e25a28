package vdbtest

import (
	"context"
	"errors"

	"github.com/kithgraph/kith/vdb"
)

// Hybrid implements [vdb.Store]: both searches and the cosines under one lock.
func (m *Memory) Hybrid(ctx context.Context, q vdb.HybridQuery) (vdb.HybridMatches, error) {
	if err := m.enter(ctx, "hybrid search"); err != nil {
		return vdb.HybridMatches{}, err
	}
	defer m.mu.RUnlock()
	if err := errors.Join(q.Validate(m.dim), checkFilter(q.Filter)); err != nil {
		return vdb.HybridMatches{}, err
	}
	dense := m.scoreLocked(q.Query, func(string) bool { return true })
	out := vdb.HybridMatches{Dense: dense[:min(len(dense), q.Limit)], Keyword: m.keywordLocked(q.KeywordQuery())}
	for _, match := range out.Keyword {
		out.Cosines = append(out.Cosines, Cosine(q.Vector, m.points[pointKey{match.Space, match.ID}].Vector))
	}
	return out, nil
}
