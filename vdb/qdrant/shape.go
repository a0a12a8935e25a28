package qdrant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// shape is what the driver must know of the collection.
type shape struct {
	dim    int
	shards uint64
	// noKeyword is why the collection cannot be searched by words, nil where it can.
	noKeyword error
	conditions
}

// shapeOf returns the shape, asked for once, and creates the collection where that is wanted.
func (s *Store) shapeOf(ctx context.Context) (*shape, error) {
	if known := s.shape.Load(); known != nil {
		return known, nil
	}
	return s.askShape(ctx)
}

// askShape asks the server, whatever is known.
func (s *Store) askShape(ctx context.Context) (*shape, error) {
	info, err := s.describe(ctx)
	if s.cfg.CreateCollection && (err == nil || errors.Is(err, vdb.ErrNoCollection)) {
		info, err = s.create(ctx, info)
	}
	if err != nil {
		return nil, err
	}
	collection := info.GetConfig().GetParams()
	params, err := s.searchedVector(collection)
	if err != nil {
		return nil, fmt.Errorf("collection %q: %w", s.cfg.Collection, err)
	}
	noKeyword, err := s.whyNoKeyword(ctx, collection)
	if err != nil {
		return nil, err
	}
	sh := &shape{
		dim:        int(params.GetSize()),
		shards:     max(1, uint64(collection.GetShardNumber())),
		noKeyword:  noKeyword,
		conditions: conditions{fields: s.fields, schema: map[string]pb.PayloadSchemaType{}},
	}
	for key, field := range info.GetPayloadSchema() {
		sh.schema[key] = field.GetDataType()
	}
	s.shape.Store(sh)
	return sh, nil
}

func (s *Store) describe(ctx context.Context) (*pb.CollectionInfo, error) {
	return rpc(ctx, s, vdb.ErrBadQuery, func(ctx context.Context) (*pb.CollectionInfo, error) {
		return s.client.GetCollectionInfo(ctx, s.cfg.Collection)
	})
}

// searchedVector finds the configured vector and refuses one that this driver would misread.
func (s *Store) searchedVector(collection *pb.CollectionParams) (*pb.VectorParams, error) {
	config := collection.GetVectorsConfig()
	named := config.GetParamsMap().GetMap()
	params := config.GetParams()
	if s.cfg.VectorName != "" || params == nil {
		params = named[s.cfg.VectorName]
	}
	switch {
	case params == nil && len(named) == 0:
		return nil, fmt.Errorf("%w: no vector %q: leave vector_name empty for the unnamed one", errVectorName, s.cfg.VectorName)
	case params == nil:
		return nil, fmt.Errorf("%w: no vector %q: set vector_name to one of %q", errVectorName, s.cfg.VectorName, slices.Sorted(maps.Keys(named)))
	case params.GetMultivectorConfig() != nil:
		return nil, fmt.Errorf("%w: vector %q is a multi-vector", vdb.ErrUnsupported, s.cfg.VectorName)
	case params.GetDistance() != pb.Distance_Cosine:
		return nil, fmt.Errorf("%w: vector %q has the distance %s: want Cosine, the scores of others mean something else",
			vdb.ErrUnsupported, s.cfg.VectorName, params.GetDistance())
	case s.cfg.Dimension != 0 && params.GetSize() != uint64(s.cfg.Dimension):
		return nil, fmt.Errorf("vector %q: %w (configured %d)", s.cfg.VectorName,
			&vdb.DimensionError{Got: s.cfg.Dimension, Want: int(params.GetSize())}, s.cfg.Dimension)
	default:
		return params, nil
	}
}

// checked returns the shape that validate accepts the dimension of; dimension 0 is any. Where it objects to the dimension, the collection may
// have been replaced since it was asked for, so it is asked again.
func (s *Store) checked(ctx context.Context, validate func(dim int) error) (*shape, error) {
	known := s.shape.Load()
	if known == nil {
		if err := validate(0); err != nil { // needs no server
			return nil, err
		}
	}
	sh, err := s.shapeOf(ctx)
	if err != nil {
		return nil, err
	}
	err = validate(sh.dim)
	var dimension *vdb.DimensionError
	if known == nil || !errors.As(err, &dimension) {
		return sh, err
	}
	if sh, err = s.askShape(ctx); err != nil {
		return nil, err
	}
	return sh, validate(sh.dim)
}
