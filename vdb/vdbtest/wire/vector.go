package wire

import (
	"math"

	pb "github.com/qdrant/go-client/qdrant"
	"github.com/viterin/vek/vek32"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// readVectors checks a point's vectors against the collection and converts them to what is stored.
func (c *collection) readVectors(v *pb.Vectors, embed embedding) (map[string]*pb.VectorOutput, error) {
	var named map[string]*pb.Vector
	switch opt := v.GetVectorsOptions().(type) {
	case *pb.Vectors_Vector:
		named = map[string]*pb.Vector{"": opt.Vector}
	case *pb.Vectors_Vectors:
		named = opt.Vectors.GetVectors()
	default:
		return nil, status.Error(codes.InvalidArgument, "Expected some vectors")
	}
	out := make(map[string]*pb.VectorOutput, len(named))
	for name, vec := range named {
		stored, err := c.readVector(name, vec, embed)
		if err != nil {
			return nil, err
		}
		out[name] = stored
	}
	return out, nil
}

func (c *collection) readVector(name string, v *pb.Vector, embed embedding) (*pb.VectorOutput, error) {
	if v.GetSparse() != nil || v.GetDocument() != nil {
		sparse, err := c.readSparse(name, v.GetSparse(), v.GetDocument(), embed)
		if err != nil {
			return nil, err
		}
		return &pb.VectorOutput{Vector: &pb.VectorOutput_Sparse{Sparse: sparse}}, nil
	}
	params, ok := c.dense[name]
	if !ok {
		return nil, unknownVector(name)
	}
	if params.MultivectorConfig != nil || v.GetMultiDense() != nil {
		return nil, status.Error(codes.Unimplemented, "wire: multi-vectors are not stored")
	}
	data := v.GetDense().GetData()
	if data == nil {
		data = v.GetData() //nolint:staticcheck // what older clients send
	}
	data, err := preprocess(params, data)
	if err != nil {
		return nil, err
	}
	return &pb.VectorOutput{Vector: &pb.VectorOutput_Dense{Dense: &pb.DenseVector{Data: data}}}, nil
}

func unknownVector(name string) error {
	return status.Errorf(codes.InvalidArgument, "Wrong input: Not existing vector name error: %s", name)
}

// preprocess checks the dimension and, for the cosine, returns a normalised copy. A vector of length 0 or 1 stays as it
// is.
func preprocess(params *pb.VectorParams, data []float32) ([]float32, error) {
	if uint64(len(data)) != params.GetSize() {
		return nil, status.Errorf(codes.InvalidArgument,
			"Wrong input: Vector dimension error: expected dim: %d, got %d", params.GetSize(), len(data))
	}
	if params.GetDistance() != pb.Distance_Cosine {
		return data, nil
	}
	length2 := vek32.Dot(data, data)
	if length2 < 1.19e-7 || math.Abs(float64(length2)-1) <= 1e-6 { // 1.19e-7: the machine epsilon of float32
		return data, nil
	}
	length := float32(math.Sqrt(float64(length2)))
	out := make([]float32, len(data))
	for i, x := range data {
		out[i] = x / length
	}
	return out, nil
}

// writeVectors selects the vectors of an answer.
func (s *Server) writeVectors(c *collection, p *point, sel *pb.WithVectorsSelector) (*pb.VectorsOutput, error) {
	wanted := p.vectors
	switch opt := sel.GetSelectorOptions().(type) {
	case *pb.WithVectorsSelector_Include:
		wanted = map[string]*pb.VectorOutput{}
		for _, name := range opt.Include.GetNames() {
			if c.dense[name] == nil && c.sparse[name] == nil {
				return nil, unknownVector(name)
			}
			if v := p.vectors[name]; v != nil {
				wanted[name] = v
			}
		}
	case *pb.WithVectorsSelector_Enable:
		if !opt.Enable {
			return nil, nil
		}
	default:
		return nil, nil
	}
	named := make(map[string]*pb.VectorOutput, len(wanted))
	for name, v := range wanted {
		if s.opts.FlatVectors {
			v = flatten(v)
		}
		named[name] = v
	}
	if unnamed, ok := named[""]; ok && len(named) == 1 {
		return &pb.VectorsOutput{VectorsOptions: &pb.VectorsOutput_Vector{Vector: unnamed}}, nil
	}
	return &pb.VectorsOutput{VectorsOptions: &pb.VectorsOutput_Vectors{Vectors: &pb.NamedVectorsOutput{Vectors: named}}}, nil
}

// flatten writes a vector into the deprecated fields: a sparse one as values beside indices.
func flatten(v *pb.VectorOutput) *pb.VectorOutput {
	if sparse := v.GetSparse(); sparse != nil {
		indices := &pb.SparseIndices{Data: sparse.GetIndices()}
		return &pb.VectorOutput{Data: sparse.GetValues(), Indices: indices} //nolint:staticcheck // imitates older servers
	}
	return &pb.VectorOutput{Data: v.GetDense().GetData()} //nolint:staticcheck // imitates older servers
}
