package qdrant

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Scroll implements [vdb.Store]. The order is the server's: point ids that are integers ascending, then UUIDs by value;
// mapped ids are UUIDs. A fact that some other writer has stored a second time, under its direct id beside its mapped one,
// is returned twice.
func (s *Store) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	end, err := s.begin(ctx, "scroll")
	if err != nil {
		return vdb.Page{}, err
	}
	defer end()
	if err := q.Validate(); err != nil {
		return vdb.Page{}, fmt.Errorf("scroll: %w", err)
	}
	offset, err := parseCursor(q.After)
	if err != nil {
		return vdb.Page{}, fmt.Errorf("scroll: %w", err)
	}
	sh, err := s.shapeOf(ctx)
	if err != nil {
		return vdb.Page{}, fmt.Errorf("scroll: %w", err)
	}
	req := &pb.ScrollPoints{
		CollectionName: s.cfg.Collection, Offset: offset,
		WithPayload: pb.NewWithPayload(true), WithVectors: s.withVectors(q.WithVectors),
	}
	if !q.AllSpaces {
		req.Filter = &pb.Filter{Must: []*pb.Condition{sh.user(q.Space)}}
	}
	points, next, err := s.scroll(ctx, req, q.Limit, sh.dim)
	if err != nil {
		return vdb.Page{}, fmt.Errorf("scroll: %w", err)
	}
	page, err := s.decodePage(points, sh, q)
	if err != nil {
		return vdb.Page{}, fmt.Errorf("scroll: %w", err)
	}
	page.Next = formatCursor(next)
	return page, nil
}

// decodePage reads the points that are facts and describes the others.
func (s *Store) decodePage(points []*pb.RetrievedPoint, sh *shape, q vdb.ScrollQuery) (vdb.Page, error) {
	var page vdb.Page
	for _, p := range points {
		fact, unwanted, reason := s.fields.readPoint(p)
		if reason == "" && q.WithVectors {
			vector, err := decodeVector(p.GetVectors(), s.cfg.VectorName, sh.dim)
			if err != nil && !errors.Is(err, errNoVector) { // in a collection of several vectors a point need not have each
				reason = fmt.Sprintf("point %s: %v", graphstore.Shorten(fact.ID), err)
			}
			fact.Vector = vector
		}
		switch {
		case reason != "":
			page.Skipped = append(page.Skipped, reason)
		case !q.AllSpaces && fact.Space != q.Space:
			return vdb.Page{}, errOtherUser
		default:
			page.Points = append(page.Points, fact)
			ignore(&page, fact.ID, unwanted)
		}
	}
	return page, nil
}

// Cursors are the point id that the next page begins with: 'n' and the integer, or 'u' and the UUID.
func formatCursor(next *pb.PointId) string {
	id, ok := pointIDOf(next)
	switch {
	case !ok:
		return ""
	case id.uuid != "":
		return "u" + id.uuid
	default:
		return "n" + strconv.FormatUint(id.num, 10)
	}
}

func parseCursor(cursor string) (*pb.PointId, error) {
	if cursor == "" {
		return nil, nil
	}
	id, ok := directID(cursor[1:])
	if !ok || (cursor[0] == 'u') != (id.uuid != "") || (cursor[0] != 'u' && cursor[0] != 'n') {
		return nil, fmt.Errorf("%w: cursor %s is not one of a scroll of this store", vdb.ErrBadQuery, graphstore.Shorten(cursor))
	}
	return id.proto(), nil
}
