package qdrant

import (
	"context"
	"fmt"
	"iter"
	"slices"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// bySpace yields the writes of each space, spaces in the order of their first write.
func bySpace(batch []*write) iter.Seq2[graphstore.Space, []*write] {
	return func(yield func(graphstore.Space, []*write) bool) {
		groups := map[graphstore.Space][]*write{}
		var order []graphstore.Space
		for _, w := range batch {
			if groups[w.space] == nil {
				order = append(order, w.space)
			}
			groups[w.space] = append(groups[w.space], w)
		}
		for _, space := range order {
			if !yield(space, groups[space]) {
				return
			}
		}
	}
}

// place decides the point id of every write of the batch. It returns, by space, the points that hold the same facts under
// their other id and are to go once the batch is stored.
func (s *Store) place(ctx context.Context, sh *shape, batch []*write) (map[graphstore.Space][]pointID, error) {
	stale := map[graphstore.Space][]pointID{}
	claimed := map[pointID]bool{} // by the batch itself
	for space, writes := range bySpace(batch) {
		ids := make([]string, len(writes))
		for i, w := range writes {
			ids[i] = w.id
		}
		located, err := s.locate(ctx, sh, space, ids)
		if err != nil {
			return nil, err
		}
		taken, err := s.takenByOthers(ctx, sh, space, ids)
		if err != nil {
			return nil, err
		}
		for fact, points := range located {
			if !slices.Contains(ids, fact) {
				for _, p := range points {
					taken[p] = true // the user's own, but of another fact
				}
			}
		}
		for _, w := range writes {
			free := func(p pointID) bool { return !taken[p] && !claimed[p] }
			var ok bool
			if w.placed, ok = choose(candidateIDs(space, w.id), located[w.id], free); !ok {
				return nil, fmt.Errorf("%w: point %s of user %s: %w", vdb.ErrBadPoint,
					graphstore.Shorten(w.id), graphstore.Shorten(space.UserID()), errClaimed)
			}
			claimed[w.placed] = true
			for _, p := range located[w.id] {
				if p != w.placed {
					stale[space] = append(stale[space], p)
				}
			}
		}
	}
	return stale, nil
}

// choose prefers an id the fact has already, then a free one, each time the direct id to the mapped one. It is not ok
// where there is none.
func choose(candidates, has []pointID, free func(pointID) bool) (pointID, bool) {
	isOwn := func(p pointID) bool { return slices.Contains(has, p) }
	for _, eligible := range []func(pointID) bool{isOwn, free} {
		if i := slices.IndexFunc(candidates, eligible); i >= 0 {
			return candidates[i], true
		}
	}
	return pointID{}, false
}

// takenByOthers returns which of the point ids are those of points that are not the user's. Nothing of these points but
// their ids is read.
func (s *Store) takenByOthers(ctx context.Context, sh *shape, space graphstore.Space, ids []string) (map[pointID]bool, error) {
	candidates := allCandidates(space, ids)
	points, _, err := s.scroll(ctx, &pb.ScrollPoints{
		CollectionName: s.cfg.Collection,
		Filter:         &pb.Filter{Must: []*pb.Condition{hasIDs(candidates)}, MustNot: []*pb.Condition{sh.user(space)}},
		WithPayload:    pb.NewWithPayload(false),
		WithVectors:    pb.NewWithVectors(false),
	}, len(candidates), sh.dim)
	if err != nil {
		return nil, err
	}
	taken := make(map[pointID]bool, len(points))
	for _, p := range points {
		if id, ok := pointIDOf(p.GetId()); ok {
			taken[id] = true
		}
	}
	return taken, nil
}
