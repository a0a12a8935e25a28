package qdrant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// tieSlack is how many matches beyond the limit a search asks for at first. The server cuts a group of equal scores
// anywhere; asking until the group ends lets the smallest ids win, so that equal queries have equal answers.
const tieSlack = 16

// maxTies is how many points a search looks at for the sake of ties.
const maxTies = 2 * vdb.MaxLimit

// Search implements [vdb.Store].
func (s *Store) Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error) {
	end, err := s.begin(ctx, "search")
	if err != nil {
		return nil, err
	}
	defer end()
	sh, err := s.checked(ctx, q.Validate)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	matches, err := s.nearest(ctx, sh, q)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return matches[:min(len(matches), q.Limit)], nil
}

// nearest returns at least q.Limit matches if there are so many, complete up to the score of the last of these.
func (s *Store) nearest(ctx context.Context, sh *shape, q vdb.Query) ([]vdb.Match, error) {
	filter, rest, err := sh.filter(q.Space, q.Filter)
	if err != nil {
		return nil, err
	}
	q.Vector = unit(q.Vector)
	for limit := q.Limit + tieSlack; ; limit *= 2 {
		points, err := s.send(ctx, s.nearQuery(q, filter, rest, limit, s.cfg.Exact))
		if err != nil {
			return nil, err
		}
		matches, err := s.decodeMatches(points, sh, q, rest, score)
		if err != nil {
			return nil, err
		}
		if complete(points, matches, q.Limit, limit) {
			return matches, nil
		}
	}
}

// complete reports whether the points that the server gave for a limit hold the best wanted matches, ties included: they
// are all there are, or the last of them scores less than the last match wanted.
func complete(points []*pb.ScoredPoint, matches []vdb.Match, wanted, limit int) bool {
	if len(points) < limit {
		return true
	}
	last := float64(points[len(points)-1].GetScore())
	return len(matches) >= wanted && (limit > maxTies || matches[wanted-1].Score > last)
}

// nearQuery asks for the points nearest to the vector, which has length 1.
func (s *Store) nearQuery(q vdb.Query, filter *pb.Filter, rest residual, limit int, exact bool) *pb.QueryPoints {
	return &pb.QueryPoints{
		CollectionName: s.cfg.Collection,
		Query:          pb.NewQueryDense(q.Vector),
		Using:          s.using(),
		Filter:         filter,
		Limit:          pb.PtrOf(uint64(limit)),
		WithPayload:    s.withPayload(q, rest),
		WithVectors:    s.withVectors(q.WithVectors),
		Params:         &pb.SearchParams{Exact: pb.PtrOf(exact)},
	}
}

func (s *Store) send(ctx context.Context, req *pb.QueryPoints) ([]*pb.ScoredPoint, error) {
	return rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) ([]*pb.ScoredPoint, error) { return s.client.Query(ctx, req) })
}

func (s *Store) using() *string {
	if s.cfg.VectorName == "" {
		return nil
	}
	return pb.PtrOf(s.cfg.VectorName)
}

// withPayload asks for payloads or, where these are not wanted, for as much of them as says whose point it is and which fact.
func (s *Store) withPayload(q vdb.Query, rest residual) *pb.WithPayloadSelector {
	if !q.NoPayload || len(rest) > 0 {
		return pb.NewWithPayload(true)
	}
	return pb.NewWithPayloadInclude(s.fields.paths[vdb.FieldUserID].String(), idField)
}

// withVectors asks for the searched vector only, where it has a name, or for none.
func (s *Store) withVectors(with bool) *pb.WithVectorsSelector {
	if with && s.cfg.VectorName != "" {
		return pb.NewWithVectorsInclude(s.cfg.VectorName)
	}
	return pb.NewWithVectors(with)
}

// score is a point's score as a cosine, out of whose range single precision may be by a rounding.
func score(p *pb.ScoredPoint) float64 { return max(-1, min(1, float64(p.GetScore()))) }

// decodeMatches reads an answer and puts it into the order of the contract. One fact found under both of its point ids
// counts once.
func (s *Store) decodeMatches(
	points []*pb.ScoredPoint, sh *shape, q vdb.Query, rest residual, score func(*pb.ScoredPoint) float64,
) ([]vdb.Match, error) {
	matches := make([]vdb.Match, 0, len(points))
	for _, p := range points {
		fact, ok, err := s.decodeFact(p, sh, q.Space, q.WithVectors)
		if err != nil {
			return nil, err
		}
		if ok && rest.holds(fact.Payload) {
			if q.NoPayload {
				fact.Payload = vdb.Payload{}
			}
			matches = append(matches, vdb.Match{Point: fact, Score: score(p)})
		}
	}
	slices.SortFunc(matches, func(a, b vdb.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	seen := make(map[string]bool, len(matches))
	return slices.DeleteFunc(matches, func(m vdb.Match) bool {
		repeated := seen[m.ID]
		seen[m.ID] = true
		return repeated
	}), nil
}

// errOtherUser means that the server did not honour the filter.
var errOtherUser = errors.New("the server answered with a point of another user: the answer is discarded")

// decodeFact reads a point of a user. A point that the filter lets pass, because the user is one of several in its
// payload, but that is no fact of one user is left out, which is warned of once.
func (s *Store) decodeFact(p stored, sh *shape, space graphstore.Space, withVectors bool) (vdb.Point, bool, error) {
	fact, reason := s.fields.decodePoint(p)
	if reason != "" {
		s.warnUnreadable(reason)
		return vdb.Point{}, false, nil
	}
	if fact.Space != space {
		return vdb.Point{}, false, errOtherUser
	}
	if withVectors {
		vector, err := decodeVector(p.GetVectors(), s.cfg.VectorName, sh.dim)
		if err != nil {
			return vdb.Point{}, false, fmt.Errorf("point %s: %w", graphstore.Shorten(fact.ID), err)
		}
		fact.Vector = vector
	}
	return fact, true, nil
}

func (s *Store) warnUnreadable(reason string) {
	s.unreadable.Do(func() { s.log.Warn("some points are no facts and are left out of answers", "first", reason) })
}
