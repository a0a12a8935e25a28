package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// filling is what one statement read for an answer: payloads by row, and the user's rev at that moment.
type filling struct {
	rev      int64
	payloads map[int64]vdb.Payload
}

// matches joins the hits with their payloads. The filling is of the state that the hits were found in.
func (f filling) matches(space graphstore.Space, hits []hit) ([]vdb.Match, error) {
	matches := make([]vdb.Match, len(hits))
	for i, h := range hits {
		p, ok := f.payloads[h.row()]
		if !ok {
			return nil, fmt.Errorf("%w: point %s is gone though its user was not written to", ErrCorrupt, graphstore.Shorten(h.id()))
		}
		matches[i] = vdb.Match{Point: vdb.Point{Space: space, ID: h.id(), Payload: p}, Score: h.score}
	}
	return matches, nil
}

// payloadHits returns the hits whose payloads the query wants.
func payloadHits(q vdb.Query, hits []hit) []hit {
	if q.NoPayload {
		return nil
	}
	return hits
}

// answer is the answer to a query that found the hits: with payloads and vectors as it wants them.
func (f filling) answer(q vdb.Query, hits []hit, dim int) (matches []vdb.Match, err error) {
	if q.NoPayload {
		matches = make([]vdb.Match, len(hits))
		for i, h := range hits {
			matches[i] = vdb.Match{Point: vdb.Point{Space: q.Space, ID: h.id()}, Score: h.score}
		}
	} else if matches, err = f.matches(q.Space, hits); err != nil {
		return nil, err
	}
	if q.WithVectors {
		for i, h := range hits {
			matches[i].Vector = restore(h.unit(h.i, dim), h.norms[h.i]) // as it was stored up to rounding
		}
	}
	return matches, nil
}

func (s *Store) readPayloads(ctx context.Context, tx *sql.Tx, m *matrix, hits []hit) (filling, error) {
	list := make([]byte, 0, 20*len(hits)+2)
	list = append(list, '[')
	for i, h := range hits {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, h.row(), 10)
	}
	list = append(list, ']')
	rows, err := query(ctx, tx, s.reads.payloads, m.userNo, string(list))
	if err != nil {
		return filling{}, fmt.Errorf("read payloads: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err says what went wrong
	out := filling{payloads: make(map[int64]vdb.Payload, len(hits))}
	var (
		row     sql.NullInt64 // the one result without a point has none
		id      sql.NullString
		columns payloadRow
		into    = append([]any{&out.rev, &row, &id}, columns.targets()...)
	)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return filling{}, fmt.Errorf("read payloads: %w", err)
		}
		if !row.Valid {
			continue
		}
		p, err := columns.payload()
		if err != nil {
			return filling{}, fmt.Errorf("point %s: %w", graphstore.Shorten(id.String), err)
		}
		out.payloads[row.Int64] = p
	}
	return out, rows.Err()
}

// textList returns texts as one JSON array to bind. Texts that are not UTF-8 are left out: nothing stored equals them,
// but their JSON would equal other texts.
func textList(texts []string) string {
	kept := make([]string, 0, len(texts))
	for _, t := range texts {
		if graphstore.CheckText(t) == nil {
			kept = append(kept, t)
		}
	}
	list, _ := json.Marshal(kept) // strings always marshal
	return string(list)
}
