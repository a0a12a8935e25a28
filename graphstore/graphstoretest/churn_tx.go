package graphstoretest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// draft collects the changes of one random transaction: one per record, the last one wins.
type draft struct {
	order   []spaceKey
	changes map[spaceKey]graphstore.Change
}

func (d *draft) add(c graphstore.Change) {
	k := keyOf(c)
	if _, again := d.changes[k]; !again {
		d.order = append(d.order, k)
	}
	d.changes[k] = c
}

// transaction returns random changes to the model's graph. Most leave no edge dangling; some do, and must be refused.
func (c *churner) transaction() []graphstore.Change {
	d := draft{changes: make(map[spaceKey]graphstore.Change)}
	careless := c.rng.IntN(25) == 0
	for range 1 + c.rng.IntN(c.size) {
		s := c.spaces[c.rng.IntN(len(c.spaces))]
		deletes := c.rng.IntN(10) < c.deletes
		switch edges := c.rng.IntN(3) > 0; {
		case deletes && edges:
			c.deleteEdge(&d, s)
		case deletes:
			c.deleteNode(&d, s, careless)
		case edges:
			c.putEdge(&d, s, careless)
		default:
			d.add(c.node(s, graphstore.NodeKind(1+c.rng.IntN(7)), c.id()))
		}
	}
	tx := make([]graphstore.Change, 0, len(d.order))
	for _, k := range d.order {
		tx = append(tx, d.changes[k])
	}
	return shuffled(c.rng, tx)
}

func (c *churner) id() string { return fmt.Sprint("n", c.rng.IntN(c.nodes)) }

// keys returns what the model holds in a space, sorted so that a seed means the same run every time.
func (c *churner) keys(s graphstore.Space, edges bool) []graphstore.Key {
	var keys []graphstore.Key
	for k := range maps.Keys(c.model.mu.spaces[s].records) {
		if k.IsEdge() == edges {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, graphstore.Key.Compare)
	return keys
}

func (c *churner) deleteEdge(d *draft, s graphstore.Space) {
	if keys := c.keys(s, true); len(keys) > 0 {
		d.add(graphstore.DeleteKey(s, keys[c.rng.IntN(len(keys))]))
	}
}

// deleteNode deletes a node with all its edges, those of the draft included.
func (c *churner) deleteNode(d *draft, s graphstore.Space, careless bool) {
	keys := c.keys(s, false)
	if len(keys) == 0 {
		return
	}
	node := keys[c.rng.IntN(len(keys))]
	d.add(graphstore.DeleteKey(s, node))
	if careless {
		return
	}
	touched := c.keys(s, true)
	for k := range maps.Keys(d.changes) {
		if k.space == s && k.key.IsEdge() {
			touched = append(touched, k.key)
		}
	}
	slices.SortFunc(touched, graphstore.Key.Compare) // a store may be sensitive to order: keep the seed's
	for _, k := range touched {
		e := graphstore.Edge{Source: k.Node, Target: k.Target, Type: k.Relation}
		if two := ends(e); two[0] == node || two[1] == node {
			d.add(graphstore.DeleteKey(s, k))
		}
	}
}

// putEdge puts an edge, and its ends if they are not there afterwards.
func (c *churner) putEdge(d *draft, s graphstore.Space, careless bool) {
	types := []graphstore.RelationType{graphstore.Causes, graphstore.Related, graphstore.CoOccurs, graphstore.TemporalNext,
		graphstore.Mentions, graphstore.Mentions, graphstore.TaggedWith, graphstore.DerivedFrom, graphstore.DerivedFromRef}
	e := graphstore.Edge{Source: c.id(), Target: c.id(), Type: types[c.rng.IntN(len(types))],
		Weight: float64(1+c.rng.IntN(8)) / 8, Detail: []string{"", "", `{"k":"v"}`}[c.rng.IntN(3)],
		Asserter: graphstore.Asserter{Kind: graphstore.AsserterKind(1 + c.rng.IntN(4)), ID: fmt.Sprint(c.rng.IntN(2))}}
	two := ends(e)
	if two[0] == two[1] {
		return
	}
	d.add(graphstore.PutEdge(s, e))
	for _, end := range two {
		if careless || c.present(d, s, end) {
			continue
		}
		d.add(c.node(s, end.Kind, end.Node))
	}
}

// present reports whether the node is there after the draft.
func (c *churner) present(d *draft, s graphstore.Space, node graphstore.Key) bool {
	if change, ok := d.changes[spaceKey{s, node}]; ok {
		return change.Op == graphstore.Put
	}
	_, ok := c.model.mu.spaces[s].records[node]
	return ok
}

// node returns a put of a random version of a node.
func (c *churner) node(s graphstore.Space, kind graphstore.NodeKind, id string) graphstore.Change {
	switch kind {
	case graphstore.KindFact:
		return graphstore.PutFact(s, c.fact(id))
	case graphstore.KindEntity:
		e := graphstore.Entity{ID: id, Norm: id, Mentions: c.rng.IntN(4)}
		if c.rng.IntN(3) == 0 {
			e.Aliases = []string{fmt.Sprint("alias ", c.rng.IntN(3))}
			e.HardIDs = []graphstore.HardID{{Kind: "email", Value: fmt.Sprint(c.rng.IntN(3))}}
		}
		return graphstore.PutEntity(s, e)
	case graphstore.KindSchema:
		return graphstore.PutSchema(s, graphstore.Schema{ID: id, Title: fmt.Sprint(c.rng.IntN(2)), Deleted: c.rng.IntN(2) == 0, Stamp: c.stamp()})
	case graphstore.KindRef:
		return graphstore.PutRef(s, graphstore.Ref{ID: id})
	case graphstore.KindMerge:
		return graphstore.PutMerge(s, graphstore.Merge{Merged: id, Kept: "m" + c.id(), Undone: c.rng.IntN(2) == 0, Stamp: c.stamp()})
	case graphstore.KindTombstone:
		return graphstore.PutTombstone(s, graphstore.Tombstone{Source: id, At: graphstore.Instant(1 + c.rng.IntN(3))})
	default:
		return graphstore.PutTopic(s, graphstore.Topic{ID: id, Name: fmt.Sprint(c.rng.IntN(2)), Facts: c.rng.IntN(4)})
	}
}

func (c *churner) stamp() graphstore.Stamp {
	stamp := graphstore.Stamp{Version: c.rng.Int64N(100), Rank: graphstore.RankAdd, EventID: fmt.Sprint("event ", c.rng.IntN(5))}
	if c.rng.IntN(2) == 0 {
		stamp.At, stamp.Source = graphstore.Instant(c.rng.Int64N(3)), fmt.Sprint(c.rng.IntN(2))
	}
	return stamp
}

func (c *churner) fact(id string) graphstore.Fact {
	if c.rng.IntN(5) == 0 {
		return graphstore.Fact{ID: id}
	}
	stamp := c.stamp()
	f := graphstore.Fact{ID: id, State: graphstore.State(c.rng.IntN(5)), Registers: graphstore.Registers{State: stamp, Base: stamp},
		AgentID: fmt.Sprint(c.rng.IntN(2)), MemoryAt: graphstore.Instant(c.rng.Int64N(5) - 2), BatchSeq: c.rng.Int32N(3)}
	if c.rng.IntN(3) == 0 {
		f.Registers = f.Registers.With(graphstore.FieldTags, stamp)
	}
	return f
}
