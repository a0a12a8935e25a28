package qdrant

import (
	"context"
	"errors"
	"fmt"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

	"github.com/kithgraph/kith/vdb"
)

// Bounds of one request of several queries. Servers have none for its bytes, proxies before them often have 4 MiB. All of it
// has to be answered within one timeout.
const (
	maxBatchQueries = 128
	maxBatchBytes   = 3 << 20
)

// assumedIDBytes is what a point without payload and vector is taken to need in an answer.
const assumedIDBytes = 256

// ask is one of several queries, on its way.
type ask struct {
	at     int
	q      vdb.Query // with a vector of length 1
	filter *pb.Filter
	rest   residual
	limit  int // what the server is asked for this time
}

// SearchMany implements [vdb.Store]: the queries go in one request, or in several where one would be too large or its answer
// would. Those with points of equal score beyond what was asked for are asked again, together, as Search does.
func (s *Store) SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error) {
	end, err := s.begin(ctx, "search many")
	if err != nil {
		return nil, err
	}
	defer end()
	sh, err := s.checked(ctx, func(dim int) error { return vdb.ValidateMany(queries, dim) })
	if err != nil {
		return nil, fmt.Errorf("search many: %w", err)
	}
	asks, err := asksOf(sh, queries)
	if err != nil {
		return nil, fmt.Errorf("search many: %w", err)
	}
	out := make([][]vdb.Match, len(queries))
	for len(asks) > 0 {
		if asks, err = s.round(ctx, sh, asks, out); err != nil {
			return nil, fmt.Errorf("search many: %w", err)
		}
	}
	return out, nil
}

func asksOf(sh *shape, queries []vdb.Query) ([]ask, error) {
	asks := make([]ask, len(queries))
	for i, q := range queries {
		filter, rest, err := sh.filter(q.Space, q.Filter)
		if err != nil {
			return nil, fmt.Errorf("queries[%d]: %w", i, err)
		}
		q.Vector = unit(q.Vector)
		asks[i] = ask{at: i, q: q, filter: filter, rest: rest, limit: q.Limit + tieSlack}
	}
	return asks, nil
}

// round asks the server once for each query, and returns those that are to be asked again, for more.
func (s *Store) round(ctx context.Context, sh *shape, asks []ask, out [][]vdb.Match) (again []ask, err error) {
	most := maxBatchQueries
	for len(asks) > 0 {
		batch := s.batch(sh, asks[:min(most, len(asks))])
		answers, err := s.sendBatch(ctx, batch...)
		if errors.Is(err, errTooLarge) && len(batch) > 1 {
			most = len(batch) / 2
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, points := range answers {
			a := asks[i]
			matches, err := s.decodeMatches(points, sh, a.q, a.rest, score)
			if err != nil {
				return nil, err
			}
			if complete(points, matches, a.q.Limit, a.limit) {
				out[a.at] = matches[:min(len(matches), a.q.Limit)]
				continue
			}
			a.limit *= 2
			again = append(again, a)
		}
		asks = asks[len(batch):]
	}
	return again, nil
}

// batch writes the first of the queries, at least one, as many as one request should have: no more than its bounds, and than
// half of an answer of the largest size should hold the answers to.
func (s *Store) batch(sh *shape, asks []ask) []*pb.QueryPoints {
	var batch []*pb.QueryPoints
	bytes, answer := 0, 0
	for _, a := range asks {
		req := s.nearQuery(a.q, a.filter, a.rest, a.limit, s.cfg.Exact)
		bytes += proto.Size(req)
		answer += a.limit * assumedBytes(a, sh.dim)
		if len(batch) > 0 && (bytes > maxBatchBytes || answer > s.cfg.MaxMessageBytes/2) {
			break
		}
		batch = append(batch, req)
	}
	return batch
}

// assumedBytes is what a point of the answer is taken to need.
func assumedBytes(a ask, dim int) int {
	bytes := assumedPointBytes
	if a.q.NoPayload && len(a.rest) == 0 {
		bytes = assumedIDBytes
	}
	if a.q.WithVectors {
		bytes += 4 * dim
	}
	return bytes
}
