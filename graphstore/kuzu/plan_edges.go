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
		p.planEdgeDelete(plan, c)
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
		p.createEdge(plan, put{c, row})
		return nil
	}
	plan.puts.add(id, put{c, row})
	plan.sources[src.id] = true
	return nil
}

func (p *planner) createEdge(plan *edgePlan, new put) {
	plan.writes.creates = append(plan.writes.creates, new.row)
	p.refer(&plan.writes.table.table, new.row, +1)
	p.plan.digest.Add(new.change)
}

// planEdgeDelete keeps a delete whose ends and asserter the file knows: without one of them it has no such edge.
func (p *planner) planEdgeDelete(plan *edgePlan, c graphstore.Change) {
	t, s, e := plan.writes.table, c.Space, *c.Edge
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
		plan.drops[id] = c
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
		if drop, ok := plan.drops[id]; ok {
			plan.writes.deletes = append(plan.writes.deletes, id)
			return p.removeEdge(t, drop, row)
		}
		if node, gone := goneFrom[id.src]; gone {
			return leftOver(node.Key(), id)
		}
		want, ok := plan.puts.puts[id]
		if !ok {
			return nil
		}
		exists[id] = true
		if want.row[colWeight] == row[colWeight] && want.row[colDetail] == row[colDetail] {
			return nil
		}
		plan.writes.sets = append(plan.writes.sets, want.row)
		p.refer(&t.table, want.row, +1)
		p.plan.digest.Add(want.change)
		return p.removeEdge(t, want.change, row)
	})
	if err != nil {
		return err
	}
	for _, id := range plan.puts.keys {
		if !exists[id] {
			p.createEdge(plan, plan.puts.puts[id])
		}
	}
	return p.readEdges(t, false, sortedKeys(goneTo), func(row []any) error {
		id, err := edgeIDOfRow(row)
		if err != nil {
			return err
		}
		if _, ok := plan.drops[id]; !ok {
			return leftOver(goneTo[id.dst].Key(), id)
		}
		return nil
	})
}

// removeEdge takes a stored edge out: the one with the identity of the change, and what the row says besides.
func (p *planner) removeEdge(t *relTable, c graphstore.Change, row []any) error {
	p.refer(&t.table, row, -1)
	old := *c.Edge
	r := &rowReader{row: row, i: colWeight, texts: p.index.textOf}
	old.Weight, old.Detail = next[float64](r), r.text()
	if r.err != nil {
		return damaged("edge %d to %d: %w", row[colSrc], row[colDst], r.err)
	}
	p.plan.digest.Remove(graphstore.Change{Space: c.Space, Edge: &old})
	return nil
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
