package qdrant

import (
	"context"
	"fmt"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// Keyword implements [vdb.Store] by the collection's sparse vector of words, see [Config.Keyword].
func (s *Store) Keyword(ctx context.Context, q vdb.KeywordQuery) ([]vdb.Match, error) {
	end, err := s.begin(ctx, "keyword")
	if err != nil {
		return nil, err
	}
	defer end()
	sh, err := s.checked(ctx, func(int) error { return q.Validate() })
	if err != nil {
		return nil, fmt.Errorf("keyword: %w", err)
	}
	matches, err := s.worded(ctx, sh, q)
	if err != nil {
		return nil, fmt.Errorf("keyword: %w", err)
	}
	return matches[:min(len(matches), q.Limit)], nil
}

// worded returns at least q.Limit matches if there are so many, complete up to the score of the last of these.
func (s *Store) worded(ctx context.Context, sh *shape, q vdb.KeywordQuery) ([]vdb.Match, error) {
	if sh.noKeyword != nil {
		return nil, s.noKeyword(sh)
	}
	filter, rest, err := sh.filter(q.Space, q.Filter)
	words := s.words.query(q.Text)
	if err != nil || words == nil {
		return nil, err
	}
	for limit := q.Limit + tieSlack; ; limit *= 2 {
		points, err := s.send(ctx, s.wordQuery(words, filter, limit))
		if err != nil {
			return nil, err
		}
		matches, err := s.decodeWorded(points, sh, q, rest)
		if err != nil {
			return nil, err
		}
		if complete(points, matches, q.Limit, limit) {
			return matches, nil
		}
	}
}

// noKeyword is the error of a search by words in a collection that has none.
func (s *Store) noKeyword(sh *shape) error {
	return fmt.Errorf("qdrant collection %q: %w", s.cfg.Collection, sh.noKeyword)
}

// wordQuery asks for the points that have one of the words.
func (s *Store) wordQuery(words *pb.Query, filter *pb.Filter, limit int) *pb.QueryPoints {
	return &pb.QueryPoints{
		CollectionName: s.cfg.Collection,
		Query:          words,
		Using:          pb.PtrOf(s.cfg.SparseVector),
		Filter:         filter,
		Limit:          pb.PtrOf(uint64(limit)),
		ScoreThreshold: pb.PtrOf(float32(0)), // a point's score is above it, or it has none of them
		WithPayload:    pb.NewWithPayload(true),
		WithVectors:    pb.NewWithVectors(false),
	}
}

// decodeWorded reads the answer to a wordQuery.
func (s *Store) decodeWorded(points []*pb.ScoredPoint, sh *shape, q vdb.KeywordQuery, rest residual) ([]vdb.Match, error) {
	matches, err := s.decodeMatches(points, sh, vdb.Query{Space: q.Space}, rest, wordScore)
	return slices.DeleteFunc(matches, func(m vdb.Match) bool { return !(m.Score > 0) }), err
}

// wordScore is a point's score as BM25, which has no upper bound.
func wordScore(p *pb.ScoredPoint) float64 { return float64(p.GetScore()) }
