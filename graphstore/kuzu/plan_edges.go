package kuzu

import (
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// planEdge finds the ends of an edge. An edge with an end that the transaction creates is new; whether another one exists
// is seen by comparing.
func (p *planner) planEdge(c graphstore.Change) error {
	if c.Edge == nil {
		return nil
	}
	e := *c.Edge
	t := relTableOf(e.Type)
	plan := p.edges[t]
	if c.Op == graphstore.Delete {
		src, found := p.index.node(c.Space, nodeKey{t.from, e.Source})
		dst, both := p.index.node(c.Space, nodeKey{t.to, e.Target})
		if found && both {
			plan.drops[edgeIDOf(e, src, dst)] = true
			plan.sources[src] = true
		}
		return nil
	}
	src, ok := p.after(c.Space, t.from, e.Source)
	if !ok {
		return dangling(e.Key(), "no %s %s", t.from, graphstore.Shorten(e.Source))
	}
	dst, ok := p.after(c.Space, t.to, e.Target)
	if !ok {
		return dangling(e.Key(), "no %s %s", t.to, graphstore.Shorten(e.Target))
	}
	row := encodeEdge(e, src.id, dst.id, p.spaceNo(c.Space))
	if src.fresh || dst.fresh {
		plan.writes.creates = append(plan.writes.creates, row)
		return nil
	}
	plan.puts.add(edgeIDOf(e, src.id, dst.id), row)
	plan.sources[src.id] = true
	return nil
}

// compareEdges reads the edges of the sources that matter and of the nodes that go.
func (p *planner) compareEdges(t *relTable) error {
	plan, goneFrom, goneTo := p.edges[t], p.gone[nodeTableOf(t.from)], p.gone[nodeTableOf(t.to)]
	for id := range goneFrom {
		plan.sources[id] = true
	}
	exists := make(map[edgeID]bool)
	err := p.readEdges(t, true, sortedKeys(plan.sources), func(row []any) error {
		id, err := edgeIDOfRow(row)
		if err != nil {
			return err
		}
		if plan.drops[id] {
			plan.writes.deletes = append(plan.writes.deletes, id)
		} else if node, gone := goneFrom[id.src]; gone {
			return leftOver(node, id)
		}
		put, ok := plan.puts.rows[id]
		if !ok {
			return nil
		}
		exists[id] = true
		if put[colWeight] != row[colWeight] || put[colDetail] != row[colDetail] {
			plan.writes.sets = append(plan.writes.sets, put)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range plan.puts.keys {
		if !exists[id] {
			plan.writes.creates = append(plan.writes.creates, plan.puts.rows[id])
		}
	}
	return p.readEdges(t, false, sortedKeys(goneTo), func(row []any) error {
		id, err := edgeIDOfRow(row)
		if err == nil && !plan.drops[id] {
			err = leftOver(goneTo[id.dst], id)
		}
		return err
	})
}

func leftOver(node graphstore.Key, id edgeID) error {
	return dangling(node, "is deleted while a %s edge by %s:%s remains", id.typ, id.by, id.bID)
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
