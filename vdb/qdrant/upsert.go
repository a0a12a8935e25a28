package qdrant

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// UpsertBatch is how many points one request stores, all of them or none.
const UpsertBatch = 500

// claimAttempts is how often a batch is placed anew after another writer took one of its point ids in between.
const claimAttempts = 3

var errClaimed = errors.New("another user has taken the point id")

// Upsert implements [vdb.Store], [UpsertBatch] points at a time. Every point is checked before the first is stored.
func (s *Store) Upsert(ctx context.Context, points []vdb.Point) error {
	end, err := s.begin(ctx, "upsert")
	if err != nil {
		return err
	}
	defer end()
	validate := func(dim int) error {
		for _, p := range points {
			if err := p.Validate(dim); err != nil {
				return err
			}
		}
		return nil
	}
	if len(points) == 0 {
		return nil
	}
	sh, err := s.checked(ctx, validate)
	if err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	if errors.Is(sh.noKeyword, errTooOld) { // the words would be lost, and not found later
		return fmt.Errorf("upsert: %w", s.noKeyword(sh))
	}
	writes, err := s.encodeWrites(sh, points)
	if err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	for batch := range slices.Chunk(writes, UpsertBatch) {
		if err := s.upsertBatch(ctx, sh, batch); err != nil {
			return fmt.Errorf("upsert: %w", err)
		}
	}
	return nil
}

// write is one fact on its way to the server.
type write struct {
	space  graphstore.Space
	id     string
	point  *pb.PointStruct // without an id until it is placed
	placed pointID
}

// encodeWrites encodes the points, of several with the same space and id the last one only.
func (s *Store) encodeWrites(sh *shape, points []vdb.Point) ([]*write, error) {
	type fact struct {
		space graphstore.Space
		id    string
	}
	last := make(map[fact]int, len(points))
	for i, p := range points {
		last[fact{p.Space, p.ID}] = i
	}
	writes := make([]*write, 0, len(last))
	for i, p := range points {
		payload, err := s.fields.encodePayload(p)
		if err != nil {
			return nil, err
		}
		if last[fact{p.Space, p.ID}] != i {
			continue
		}
		writes = append(writes, &write{
			space: p.Space, id: p.ID, point: &pb.PointStruct{Payload: payload, Vectors: s.encodeVectors(sh, p)},
		})
	}
	return writes, nil
}

// encodeVectors returns the point's vector and, where the collection keeps words, those of its content. A content without
// words has none. The server knows the unnamed vector by the empty name.
func (s *Store) encodeVectors(sh *shape, p vdb.Point) *pb.Vectors {
	dense := pb.NewVectorDense(unit(p.Vector))
	named := map[string]*pb.Vector{s.cfg.VectorName: dense}
	if sh.noKeyword == nil {
		if words := s.words.document(p.Payload.Content); words != nil {
			named[s.cfg.SparseVector] = words
		}
	}
	if s.cfg.VectorName == "" && len(named) == 1 {
		return &pb.Vectors{VectorsOptions: &pb.Vectors_Vector{Vector: dense}}
	}
	return pb.NewVectorsMap(named)
}

// upsertBatch places the facts, stores them, and counts them to notice a point id that another writer claimed for another
// user between the two.
func (s *Store) upsertBatch(ctx context.Context, sh *shape, batch []*write) error {
	for range claimAttempts {
		stale, err := s.place(ctx, sh, batch)
		if err != nil {
			return err
		}
		owned := ownedFilter(sh, batch)
		if err := s.store(ctx, batch, owned); err != nil {
			return err
		}
		lost, err := s.count(ctx, lostFilter(sh, batch))
		if err != nil {
			return err
		}
		if lost == 0 {
			return s.deleteStale(ctx, sh, stale)
		}
	}
	return fmt.Errorf("%w: %w: gave up after %d attempts", vdb.ErrUnavailable, errClaimed, claimAttempts)
}

func (s *Store) store(ctx context.Context, batch []*write, owned *pb.Filter) error {
	points := make([]*pb.PointStruct, len(batch))
	for i, w := range batch {
		w.point.Id = w.placed.proto()
		if w.placed.String() == w.id {
			delete(w.point.Payload, idField)
		} else {
			w.point.Payload[idField] = pb.NewValueString(w.id)
		}
		points[i] = w.point
	}
	result, err := rpc(ctx, s, vdb.ErrBadPoint, func(ctx context.Context) (*pb.UpdateResult, error) {
		return s.client.Upsert(ctx, &pb.UpsertPoints{
			CollectionName: s.cfg.Collection, Wait: pb.PtrOf(true), Points: points, UpdateFilter: owned,
		})
	})
	if err != nil {
		return err
	}
	return completed(result)
}

// ownedFilter holds for the points under the batch's ids that are their user's: those an upsert may replace.
func ownedFilter(sh *shape, batch []*write) *pb.Filter {
	return perSpace(batch, func(space graphstore.Space, ids *pb.Condition) *pb.Filter {
		return &pb.Filter{Must: []*pb.Condition{sh.user(space), ids}}
	})
}

// lostFilter holds for the points under the batch's ids that are another user's.
func lostFilter(sh *shape, batch []*write) *pb.Filter {
	return perSpace(batch, func(space graphstore.Space, ids *pb.Condition) *pb.Filter {
		return &pb.Filter{Must: []*pb.Condition{ids}, MustNot: []*pb.Condition{sh.user(space)}}
	})
}

// perSpace joins one filter for each space by "or".
func perSpace(batch []*write, filter func(space graphstore.Space, ids *pb.Condition) *pb.Filter) *pb.Filter {
	var alternatives []*pb.Condition
	for space, writes := range bySpace(batch) {
		ids := make([]pointID, len(writes))
		for i, w := range writes {
			ids[i] = w.placed
		}
		alternatives = append(alternatives, pb.NewFilterAsCondition(filter(space, hasIDs(ids))))
	}
	return &pb.Filter{Should: alternatives}
}

func (s *Store) deleteStale(ctx context.Context, sh *shape, stale map[graphstore.Space][]pointID) error {
	for space, ids := range stale {
		if err := s.deletePoints(ctx, sh, space, ids); err != nil {
			return err
		}
	}
	return nil
}
