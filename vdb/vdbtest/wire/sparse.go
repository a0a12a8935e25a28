package wire

import (
	"math"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// readSparse checks a sparse vector of a point or a query, or makes it of a document.
func (c *collection) readSparse(name string, sparse *pb.SparseVector, doc *pb.Document, embed embedding) (*pb.SparseVector, error) {
	if _, ok := c.sparse[name]; !ok {
		return nil, unknownVector(name)
	}
	if doc != nil {
		return embed(doc)
	}
	if len(sparse.GetIndices()) != len(sparse.GetValues()) {
		return nil, status.Error(codes.InvalidArgument, "Wrong input: Validation error: [values: must be the same length as indices]")
	}
	sorted := slices.Sorted(slices.Values(sparse.GetIndices()))
	if len(slices.Compact(sorted)) != len(sparse.GetIndices()) {
		return nil, status.Error(codes.InvalidArgument, "Wrong input: Validation error: [indices: must be unique]")
	}
	return sparse, nil
}

// overlap returns a function that scores stored sparse vectors by the dot product over the indices both have, and whether
// there is one. With the IDF modifier a query's weights are multiplied by ln((n-df+0.5)/(df+0.5)+1), where n counts the
// vectors of this name of the whole collection, filtered or not, and df those that have the index.
func (c *collection) overlap(name string, query *pb.SparseVector) func(*point) (float32, bool) {
	weights := make(map[uint32]float32, len(query.GetIndices()))
	for i, index := range query.GetIndices() {
		weights[index] = query.GetValues()[i]
	}
	if c.sparse[name].GetModifier() == pb.Modifier_Idf {
		n, having := 0.0, make(map[uint32]float64, len(weights))
		for _, p := range c.points {
			stored := p.vectors[name].GetSparse()
			if stored == nil {
				continue
			}
			n++
			for _, index := range stored.GetIndices() {
				if _, asked := weights[index]; asked {
					having[index]++
				}
			}
		}
		for index := range weights {
			weights[index] *= float32(math.Log((n-having[index]+0.5)/(having[index]+0.5) + 1))
		}
	}
	return func(p *point) (score float32, shares bool) {
		stored := p.vectors[name].GetSparse()
		for i, index := range stored.GetIndices() {
			if weight, ok := weights[index]; ok {
				score += weight * stored.GetValues()[i]
				shares = true
			}
		}
		return score, shares
	}
}
