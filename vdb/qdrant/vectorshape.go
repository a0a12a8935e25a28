package qdrant

import (
	"cmp"
	"maps"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// vectorShapes lists the vectors of a collection.
func vectorShapes(params *pb.CollectionParams) []vdb.VectorShape {
	var out []vdb.VectorShape
	dense := maps.Clone(params.GetVectorsConfig().GetParamsMap().GetMap())
	if unnamed := params.GetVectorsConfig().GetParams(); unnamed != nil {
		dense = map[string]*pb.VectorParams{"": unnamed}
	}
	for name, v := range dense {
		shape := vdb.VectorShape{Name: name, Kind: vdb.VectorDense, Dimension: int(v.GetSize()), Distance: v.GetDistance().String()}
		if v.GetMultivectorConfig() != nil {
			shape.Kind = vdb.VectorMulti
		}
		out = append(out, shape)
	}
	for name, v := range params.GetSparseVectorsConfig().GetMap() {
		shape := vdb.VectorShape{Name: name, Kind: vdb.VectorSparse}
		if v.Modifier != nil && v.GetModifier() != pb.Modifier_None {
			shape.Distance = v.GetModifier().String()
		}
		out = append(out, shape)
	}
	slices.SortFunc(out, func(a, b vdb.VectorShape) int {
		return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func rankOf(v vdb.VectorShape) int {
	if v.Kind == vdb.VectorSparse {
		return 1
	}
	return 0
}

// widest is how many numbers the dense vectors of a point have in all.
func widest(vectors []vdb.VectorShape) (dim int) {
	for _, v := range vectors {
		dim += v.Dimension
	}
	return dim
}
