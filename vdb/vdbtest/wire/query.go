package wire

import (
	"cmp"
	"context"
	"math"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
	"github.com/viterin/vek/vek32"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// defaultQueryLimit is the server's when a query names none.
const defaultQueryLimit = 10

// Query returns the points nearest to a dense vector, or the first ones in id order where there is no query.
func (svc pointsService) Query(_ context.Context, req *pb.QueryPoints) (*pb.QueryResponse, error) {
	result, err := svc.query(req)
	return &pb.QueryResponse{Result: result}, err
}

// QueryBatch answers several queries in their order; one that fails fails them all.
func (svc pointsService) QueryBatch(_ context.Context, req *pb.QueryBatchPoints) (*pb.QueryBatchResponse, error) {
	resp := &pb.QueryBatchResponse{}
	for _, q := range req.GetQueryPoints() {
		q.CollectionName = req.GetCollectionName()
		result, err := svc.query(q)
		if err != nil {
			return nil, err
		}
		resp.Result = append(resp.Result, &pb.BatchResult{Result: result})
	}
	return resp, nil
}

func (svc pointsService) query(req *pb.QueryPoints) ([]*pb.ScoredPoint, error) {
	limit := uint64(defaultQueryLimit)
	if req.Limit != nil {
		limit = req.GetLimit()
	}
	if limit == 0 {
		return nil, errLimit
	}
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	c, err := st.collectionLocked(req.GetCollectionName())
	if err != nil {
		return nil, err
	}
	hits, err := c.rank(req)
	if err != nil {
		return nil, err
	}
	hits = hits[min(req.GetOffset(), uint64(len(hits))):]
	hits = hits[:min(limit, uint64(len(hits)))]
	out := make([]*pb.ScoredPoint, len(hits))
	for i, h := range hits {
		r, err := svc.s.retrieved(c, h.point, req.GetWithPayload(), req.GetWithVectors())
		if err != nil {
			return nil, err
		}
		out[i] = &pb.ScoredPoint{Id: r.Id, Payload: r.Payload, Vectors: r.Vectors, Score: h.score, Version: h.point.version}
	}
	return out, nil
}

// hit is a point with its score.
type hit struct {
	point *point
	score float32
}

// rank returns the points that pass the request's filter and threshold, best first.
func (c *collection) rank(req *pb.QueryPoints) ([]hit, error) {
	if len(req.GetPrefetch()) > 0 {
		return nil, status.Error(codes.Unimplemented, "wire: prefetch is not imitated")
	}
	holds, err := compileFilter(req.GetFilter())
	if err != nil {
		return nil, err
	}
	var hits []hit
	if req.Query == nil {
		for _, key := range c.keys {
			if p := c.points[key]; holds(p) {
				hits = append(hits, hit{point: p})
			}
		}
		return hits, nil
	}
	params, vector, err := c.nearest(req)
	if err != nil {
		return nil, err
	}
	smallerFirst := params.GetDistance() == pb.Distance_Euclid || params.GetDistance() == pb.Distance_Manhattan
	for _, p := range c.points {
		stored := p.vectors[req.GetUsing()]
		if stored == nil || !holds(p) {
			continue
		}
		score := distance(params.GetDistance(), vector, stored.GetDense().GetData())
		if req.ScoreThreshold == nil || better(score, *req.ScoreThreshold, smallerFirst) {
			hits = append(hits, hit{point: p, score: score})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		byScore := cmp.Compare(b.score, a.score)
		if smallerFirst {
			byScore = -byScore
		}
		return cmp.Or(byScore, compareKeys(b.point.key, a.point.key))
	})
	return hits, nil
}

// better is strict: a score equal to the threshold does not pass it.
func better(score, threshold float32, smallerFirst bool) bool {
	if smallerFirst {
		return score < threshold
	}
	return score > threshold
}

// nearest reads the query's dense vector, checked and prepared for the vector it searches.
func (c *collection) nearest(req *pb.QueryPoints) (*pb.VectorParams, []float32, error) {
	params := c.dense[req.GetUsing()]
	if params == nil {
		if c.sparse[req.GetUsing()] != nil {
			return nil, nil, status.Error(codes.Unimplemented, "wire: sparse queries are not imitated")
		}
		return nil, nil, unknownVector(req.GetUsing())
	}
	dense := req.GetQuery().GetNearest().GetDense()
	if dense == nil {
		return nil, nil, status.Error(codes.Unimplemented, "wire: only nearest queries with a dense vector are imitated")
	}
	vector, err := preprocess(params, dense.GetData())
	return params, vector, err
}

// distance is the score the server reports: a similarity for Cosine (of normalised vectors) and Dot, else a distance.
func distance(d pb.Distance, a, b []float32) float32 {
	switch d {
	case pb.Distance_Euclid:
		return vek32.Distance(a, b)
	case pb.Distance_Manhattan:
		var sum float64
		for i := range a {
			sum += math.Abs(float64(a[i]) - float64(b[i]))
		}
		return float32(sum)
	default:
		return vek32.Dot(a, b)
	}
}
