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
	"google.golang.org/protobuf/proto"
)

// defaultQueryLimit is the server's when a query names none.
const defaultQueryLimit = 10

// Query returns the points nearest to a dense vector, or the first ones in id order where there is no query.
func (svc pointsService) Query(_ context.Context, req *pb.QueryPoints) (*pb.QueryResponse, error) {
	result, err := svc.query(req)
	return &pb.QueryResponse{Result: result}, err
}

// QueryBatch answers several queries in their order, of one state of the collection; one that fails fails them all.
func (svc pointsService) QueryBatch(_ context.Context, req *pb.QueryBatchPoints) (*pb.QueryBatchResponse, error) {
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	c, err := st.collectionLocked(req.GetCollectionName())
	if err != nil {
		return nil, err
	}
	resp := &pb.QueryBatchResponse{}
	passing := c.passingOnce()
	for _, q := range req.GetQueryPoints() {
		result, err := svc.queryLocked(c, q, passing)
		if err != nil {
			return nil, err
		}
		resp.Result = append(resp.Result, &pb.BatchResult{Result: result})
	}
	return resp, nil
}

func (svc pointsService) query(req *pb.QueryPoints) ([]*pb.ScoredPoint, error) {
	st := &svc.s.store
	st.RLock()
	defer st.RUnlock()
	c, err := st.collectionLocked(req.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return svc.queryLocked(c, req, c.passing)
}

func (svc pointsService) queryLocked(c *collection, req *pb.QueryPoints, passing passing) ([]*pb.ScoredPoint, error) {
	limit := uint64(defaultQueryLimit)
	if req.Limit != nil {
		limit = req.GetLimit()
	}
	if limit == 0 {
		return nil, errLimit
	}
	hits, err := c.rank(req, svc.s.embedQuery, passing)
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

// passing returns the points that pass a filter, in id order.
type passing func(*pb.Filter) ([]*point, error)

func (c *collection) passing(f *pb.Filter) ([]*point, error) {
	holds, err := compileFilter(f)
	if err != nil {
		return nil, err
	}
	var points []*point
	for _, key := range c.keys {
		if p := c.points[key]; holds(p) {
			points = append(points, p)
		}
	}
	return points, nil
}

// passingOnce looks for the points of each filter once; the server, too, puts queries of one filter together.
func (c *collection) passingOnce() passing {
	known := map[string][]*point{}
	return func(f *pb.Filter) ([]*point, error) {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(f)
		if err != nil {
			return nil, err
		}
		points, ok := known[string(text)]
		if !ok {
			if points, err = c.passing(f); err != nil {
				return nil, err
			}
			known[string(text)] = points
		}
		return points, nil
	}
}

// hit is a point with its score.
type hit struct {
	point *point
	score float32
}

// rank returns the points that pass the request's filter and threshold, best first: of all points, or of those that its
// prefetches find.
func (c *collection) rank(req *pb.QueryPoints, embed embedding, passing passing) ([]hit, error) {
	points, err := passing(req.GetFilter())
	if err != nil {
		return nil, err
	}
	if len(req.GetPrefetch()) > 0 {
		found, err := c.prefetch(req, embed, passing)
		if err != nil {
			return nil, err
		}
		points = slices.DeleteFunc(slices.Clone(points), func(p *point) bool { return !found[p.key] })
	}
	var hits []hit
	if req.Query == nil {
		for _, p := range points {
			hits = append(hits, hit{point: p})
		}
		return hits, nil
	}
	scoreOf, smallerFirst, err := c.scorer(req, embed)
	if err != nil {
		return nil, err
	}
	for _, p := range points {
		score, ok := scoreOf(p)
		if ok && (req.ScoreThreshold == nil || better(score, *req.ScoreThreshold, smallerFirst)) {
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

// prefetch returns the points that any of the request's prefetches finds within its limit. The request's own filter holds
// for each of them as well.
func (c *collection) prefetch(req *pb.QueryPoints, embed embedding, passing passing) (map[pointKey]bool, error) {
	passes, err := compileFilter(req.GetFilter())
	if err != nil {
		return nil, err
	}
	found := map[pointKey]bool{}
	for _, p := range req.GetPrefetch() {
		hits, err := c.rank(&pb.QueryPoints{
			Prefetch: p.GetPrefetch(), Query: p.GetQuery(), Using: p.Using, Filter: p.GetFilter(), ScoreThreshold: p.ScoreThreshold,
		}, embed, passing)
		if err != nil {
			return nil, err
		}
		hits = slices.DeleteFunc(hits, func(h hit) bool { return !passes(h.point) })
		limit := uint64(defaultQueryLimit)
		if p.Limit != nil {
			limit = p.GetLimit()
		}
		for _, h := range hits[:min(limit, uint64(len(hits)))] {
			found[h.point.key] = true
		}
	}
	return found, nil
}

// better is strict: a score equal to the threshold does not pass it.
func better(score, threshold float32, smallerFirst bool) bool {
	if smallerFirst {
		return score < threshold
	}
	return score > threshold
}

// scorer reads the query's vector, checked and prepared for the vector it searches, and returns a function that scores
// points, and whether they have a score: a vector of the name, a sparse one with an index in common.
func (c *collection) scorer(req *pb.QueryPoints, embed embedding) (scoreOf func(*point) (float32, bool), smallerFirst bool, err error) {
	input, using := req.GetQuery().GetNearest(), req.GetUsing()
	if input.GetSparse() != nil || input.GetDocument() != nil {
		sparse, err := c.readSparse(using, input.GetSparse(), input.GetDocument(), embed)
		if err != nil {
			return nil, false, err
		}
		return c.overlap(using, sparse), false, nil
	}
	params := c.dense[using]
	switch {
	case params == nil && c.sparse[using] != nil:
		return nil, false, status.Error(codes.InvalidArgument, "Wrong input: Conversion between sparse and regular vectors failed")
	case params == nil:
		return nil, false, unknownVector(using)
	case input.GetDense() == nil:
		return nil, false, status.Error(codes.Unimplemented, "wire: only nearest queries with a dense or a sparse vector are imitated")
	}
	vector, err := preprocess(params, input.GetDense().GetData())
	if err != nil {
		return nil, false, err
	}
	d := params.GetDistance()
	return func(p *point) (float32, bool) {
		stored := p.vectors[using]
		if stored == nil {
			return 0, false
		}
		return distance(d, vector, stored.GetDense().GetData()), true
	}, d == pb.Distance_Euclid || d == pb.Distance_Manhattan, nil
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
