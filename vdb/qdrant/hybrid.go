package qdrant

import (
	"context"
	"errors"
	"fmt"
	"math"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// Hybrid implements [vdb.Store]: one request of three queries to the server. The lists are not fused there: the scores of
// a fusion say nothing of relevance, and depend on the number of shards.
func (s *Store) Hybrid(ctx context.Context, q vdb.HybridQuery) (vdb.HybridMatches, error) {
	end, err := s.begin(ctx, "hybrid search")
	if err != nil {
		return vdb.HybridMatches{}, err
	}
	defer end()
	sh, err := s.checked(ctx, q.Validate)
	if err == nil && sh.noKeyword != nil {
		err = s.noKeyword(sh)
	}
	if err != nil {
		return vdb.HybridMatches{}, fmt.Errorf("hybrid search: %w", err)
	}
	var out vdb.HybridMatches
	if words := s.words.query(q.Text); words != nil {
		out, err = s.both(ctx, sh, q, words)
	} else {
		out.Dense, err = s.nearest(ctx, sh, q.Query)
	}
	if err != nil {
		return vdb.HybridMatches{}, fmt.Errorf("hybrid search: %w", err)
	}
	out.Dense = out.Dense[:min(len(out.Dense), q.Limit)]
	out.Keyword = out.Keyword[:min(len(out.Keyword), q.Limit)]
	out.Cosines = out.Cosines[:len(out.Keyword)]
	return out, nil
}

// both returns both lists, each as nearest and worded do, and the cosines of the second. It asks again, for more, while
// one of the two is not complete.
func (s *Store) both(ctx context.Context, sh *shape, q vdb.HybridQuery, words *pb.Query) (vdb.HybridMatches, error) {
	filter, rest, err := sh.filter(q.Space, q.Filter)
	if err != nil {
		return vdb.HybridMatches{}, err
	}
	q.Vector = unit(q.Vector)
	for limit := q.Limit + tieSlack; ; limit *= 2 {
		near := s.nearQuery(q.Query, filter, rest, limit, s.cfg.Exact)
		worded := s.wordQuery(words, filter, limit)
		answers, err := s.sendBatch(ctx, near, worded, s.cosineQuery(sh, near, worded))
		if err != nil {
			return vdb.HybridMatches{}, err
		}
		var out vdb.HybridMatches
		if out.Dense, err = s.decodeMatches(answers[0], sh, q.Query, rest, score); err != nil {
			return vdb.HybridMatches{}, err
		}
		if out.Keyword, err = s.decodeWorded(answers[1], sh, q.KeywordQuery(), rest); err != nil {
			return vdb.HybridMatches{}, err
		}
		if complete(answers[0], out.Dense, q.Limit, limit) && complete(answers[1], out.Keyword, q.Limit, limit) {
			out.Cosines = cosinesOf(out.Keyword, answers[2])
			return out, nil
		}
	}
}

// cosineQuery asks for the cosines of what the query for words finds: the dense query over nothing but that. Each shard
// answers for the points that are the best of its own, so that the best of all are among the answers of as many shards.
// It is exact, as an approximation would leave out points. The filter stands at both places, since not every server passes
// it on.
func (s *Store) cosineQuery(sh *shape, near, worded *pb.QueryPoints) *pb.QueryPoints {
	return &pb.QueryPoints{
		CollectionName: s.cfg.Collection,
		Prefetch: []*pb.PrefetchQuery{{
			Query: worded.Query, Using: worded.Using, Filter: worded.Filter, Limit: worded.Limit, ScoreThreshold: worded.ScoreThreshold,
		}},
		Query:       near.Query,
		Using:       near.Using,
		Filter:      near.Filter,
		Limit:       pb.PtrOf(worded.GetLimit() * sh.shards),
		WithPayload: pb.NewWithPayload(false),
		WithVectors: pb.NewWithVectors(false),
		Params:      &pb.SearchParams{Exact: pb.PtrOf(true)},
	}
}

// cosinesOf looks the matches up in an answer without payloads.
func cosinesOf(matches []vdb.Match, answer []*pb.ScoredPoint) []float64 {
	known := make(map[pointID]float64, len(answer))
	for _, p := range answer {
		if id, ok := pointIDOf(p.GetId()); ok {
			known[id] = score(p)
		}
	}
	cosines := make([]float64, len(matches))
	for i, m := range matches {
		cosines[i] = math.NaN()
		for _, id := range candidateIDs(m.Space, m.ID) {
			if cosine, ok := known[id]; ok {
				cosines[i] = cosine
				break
			}
		}
	}
	return cosines
}

var errShortBatch = errors.New("the server answered another number of queries than it was asked")

// sendBatch makes several queries in one request.
func (s *Store) sendBatch(ctx context.Context, queries ...*pb.QueryPoints) ([][]*pb.ScoredPoint, error) {
	req := &pb.QueryBatchPoints{CollectionName: s.cfg.Collection, QueryPoints: queries}
	results, err := rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) ([]*pb.BatchResult, error) { return s.client.QueryBatch(ctx, req) })
	if err != nil {
		return nil, err
	}
	if len(results) != len(queries) {
		return nil, fmt.Errorf("%w: %d of %d", errShortBatch, len(results), len(queries))
	}
	answers := make([][]*pb.ScoredPoint, len(results))
	for i, r := range results {
		answers[i] = r.GetResult()
	}
	return answers, nil
}
