package qdrant

import (
	"context"
	"fmt"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// idsPerCall bounds the ids of one request.
const idsPerCall = 1000

// Score implements [vdb.Store]. It is exact whatever [Config.Exact] says: an approximation would leave out points.
func (s *Store) Score(ctx context.Context, q vdb.Query, ids []string) ([]vdb.Match, error) {
	end, err := s.begin(ctx, "score")
	if err != nil {
		return nil, err
	}
	defer end()
	q.Limit = 1 // the contract ignores it
	if len(ids) > vdb.MaxLimit {
		return nil, fmt.Errorf("score: %w: %d ids: want at most %d", vdb.ErrBadQuery, len(ids), vdb.MaxLimit)
	}
	sh, err := s.checked(ctx, q.Validate)
	if err != nil {
		return nil, fmt.Errorf("score: %w", err)
	}
	q.Vector = unit(q.Vector)
	matches, err := s.scoreAll(ctx, sh, q, ids)
	if err != nil {
		return nil, fmt.Errorf("score: %w", err)
	}
	asked := make(map[string]bool, len(ids))
	for _, id := range ids {
		asked[id] = true
	}
	// A point found under the id of one fact may be another one's: its payload says so.
	return slices.DeleteFunc(matches, func(m vdb.Match) bool { return !asked[m.ID] }), nil
}

func (s *Store) scoreAll(ctx context.Context, sh *shape, q vdb.Query, ids []string) ([]vdb.Match, error) {
	_, rest, err := sh.filter(q.Space, q.Filter) // also checks the filter where there are no ids
	if err != nil {
		return nil, err
	}
	var points []*pb.ScoredPoint
	for chunk := range slices.Chunk(ids, idsPerCall) {
		candidates := allCandidates(q.Space, chunk)
		filter, _, err := sh.filter(q.Space, q.Filter, hasIDs(candidates))
		if err != nil {
			return nil, err
		}
		some, err := s.send(ctx, s.nearQuery(q, filter, rest, len(candidates), true))
		if err != nil {
			return nil, err
		}
		points = append(points, some...)
	}
	return s.decodeMatches(points, sh, q, rest, score)
}

// allCandidates are the point ids under which the facts may be stored.
func allCandidates(space graphstore.Space, ids []string) []pointID {
	out := make([]pointID, 0, 2*len(ids))
	for _, id := range ids {
		out = append(out, candidateIDs(space, id)...)
	}
	return out
}
