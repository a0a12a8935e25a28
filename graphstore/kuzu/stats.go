package kuzu

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// Spaces implements [graphstore.Store].
func (s *Store) Spaces(ctx context.Context) ([]graphstore.Space, error) {
	var spaces []graphstore.Space
	err := s.read(ctx, func(session *session) error {
		return eachSpace(session, func(_ int64, space graphstore.Space) { spaces = append(spaces, space) })
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(spaces, func(a, b graphstore.Space) int { return cmp.Compare(a.UserID(), b.UserID()) })
	return spaces, nil
}

// Stats implements [graphstore.Store]. Bytes are those of the graph file and of what lies beside it.
func (s *Store) Stats(ctx context.Context) (graphstore.Stats, error) {
	var st graphstore.Stats
	err := s.read(ctx, func(session *session) (err error) {
		st, err = s.count(session)
		return err
	})
	return st, err
}

func (s *Store) count(session *session) (graphstore.Stats, error) {
	st := graphstore.Stats{Bytes: fileSize(s.path) + fileSize(s.path+walSuffix) + fileSize(s.path+shadowSuffix)}
	into := map[string]*int{"MATCH (s:Space) RETURN count(*)": &st.Spaces}
	for _, t := range nodeTables() {
		into["MATCH (n:"+t.name+") RETURN count(*)"] = countOf(&st, t.kind)
	}
	for query, n := range into {
		rows, err := session.count(query, nil)
		if err != nil {
			return graphstore.Stats{}, err
		}
		*n = int(rows)
	}
	for _, t := range relTables() {
		rows, err := session.count(t.countEdges(), nil)
		if err != nil {
			return graphstore.Stats{}, err
		}
		st.Edges += int(rows)
	}
	return st, nil
}

// countOf returns the field that counts records of a kind.
func countOf(st *graphstore.Stats, kind graphstore.NodeKind) *int {
	switch kind {
	case graphstore.KindFact:
		return &st.Facts
	case graphstore.KindEntity:
		return &st.Entities
	case graphstore.KindTopic:
		return &st.Topics
	case graphstore.KindSchema:
		return &st.Schemas
	case graphstore.KindRef:
		return &st.Refs
	case graphstore.KindMerge:
		return &st.Merges
	case graphstore.KindTombstone:
		return &st.Tombstones
	default:
		panic(fmt.Sprintf("kind %d of record: no table keeps it", kind)) // every table's kind is here
	}
}
