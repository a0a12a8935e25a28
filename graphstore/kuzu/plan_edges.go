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
		p.planEdgeDelete(plan, c.Space, e)
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
	id, _ := edgeIDOf(e, src.id, dst.id, func(text string) (int64, bool) { return p.number(c.Space, text), true })
	row := edgeRow(id, p.spaceNo(c.Space), e.Weight, p.number(c.Space, e.Detail))
	if src.fresh || dst.fresh {
		p.createEdge(plan, row)
		return nil
	}
	plan.puts.add(id, row)
	plan.sources[src.id] = true
	return nil
}

func (p *planner) createEdge(plan *edgePlan, row []any) {
	plan.writes.creates = append(plan.writes.creates, row)
	p.refer(&plan.writes.table.table, row, +1)
}

// planEdgeDelete keeps a delete whose ends and asserter the file knows: without one of them it has no such edge.
func (p *planner) planEdgeDelete(plan *edgePlan, s graphstore.Space, e graphstore.Edge) {
	t := plan.writes.table
	src, found := p.index.node(s, nodeKey{t.from, e.Source})
	dst, both := p.index.node(s, nodeKey{t.to, e.Target})
	if !found || !both {
		return
	}
	known := func(text string) (int64, bool) {
		if text == "" {
			return 0, true
		}
		return p.index.text(s, text)
	}
	if id, ok := edgeIDOf(e, src, dst, known); ok {
		plan.drops[id] = true
		plan.sources[src] = true
	}
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
			p.refer(&t.table, row, -1)
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
			p.refer(&t.table, row, -1)
			p.refer(&t.table, put, +1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range plan.puts.keys {
		if !exists[id] {
			p.createEdge(plan, plan.puts.rows[id])
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
	return dangling(node, "is deleted while a %s edge asserted by a %s remains", id.typ, id.by)
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
