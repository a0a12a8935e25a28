package projectortest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// CheckSnapshot recomputes from the records of a snapshot everything that it keeps beside them: counts, degrees, the
// order of the spine, batches, evidence, and which entities are one. It returns the first difference.
func CheckSnapshot(s *graphstore.Snapshot) error {
	n := &naive{Snapshot: s, facts: map[string]graphstore.Fact{}, entities: map[string]bool{}, topics: 0}
	for c := range s.Records() {
		n.take(c)
		if got, ok := s.Record(c.Key()); !ok || line(got) != line(c) {
			return fmt.Errorf("record %s: %s: want %s", c.Key(), line(got), line(c))
		}
	}
	for _, check := range []func() error{n.checkCounts, n.checkSpine, n.checkBatches, n.checkEvidence, n.checkMerges, n.checkBridges} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// naive is the records of a snapshot, and the snapshot.
type naive struct {
	*graphstore.Snapshot
	facts    map[string]graphstore.Fact
	entities map[string]bool
	topics   int
	edges    []graphstore.Edge
	merges   []graphstore.Merge
	schemas  []string
}

func (n *naive) take(c graphstore.Change) {
	switch {
	case c.Fact != nil:
		n.facts[c.Fact.ID] = *c.Fact
	case c.Entity != nil:
		n.entities[c.Entity.ID] = true
	case c.Topic != nil:
		n.topics++
	case c.Schema != nil:
		n.schemas = append(n.schemas, c.Schema.ID)
	case c.Merge != nil:
		n.merges = append(n.merges, *c.Merge)
	case c.Edge != nil:
		n.edges = append(n.edges, *c.Edge)
	}
}

func differ(what string, got, want any) error {
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		return fmt.Errorf("%s: %s: want %s", what, g, w)
	}
	return nil
}

func (n *naive) checkCounts() error {
	present := 0
	for _, f := range n.facts {
		if f.Present() {
			present++
		}
	}
	return differ("facts, present, entities, topics, edges", []int{n.Facts(), n.Present(), n.Entities(), n.Topics(), n.Edges()},
		[]int{len(n.facts), present, len(n.entities), n.topics, len(n.edges)})
}

// checkSpine compares the order of the whole spine, from each of its places on and before it.
func (n *naive) checkSpine() error {
	var line []graphstore.Fact
	for _, f := range n.facts {
		if f.State == graphstore.StateActive && f.MemoryAt.Present() {
			line = append(line, f)
		}
	}
	slices.SortFunc(line, func(a, b graphstore.Fact) int {
		return cmp.Or(cmp.Compare(a.MemoryAt.Micros(), b.MemoryAt.Micros()), compareInstants(a.RecordedAt, b.RecordedAt), compareText(a.ID, b.ID))
	})
	ids := make([]string, len(line))
	for i, f := range line {
		ids[i] = f.ID
	}
	for i, f := range line {
		place, on := graphstore.PlaceOnSpine(&f)
		var from, before []string
		for node := range n.SpineFrom(place) {
			from = append(from, n.ID(node))
		}
		for node := range n.SpineBefore(place) {
			before = append(before, n.ID(node))
		}
		slices.Reverse(before)
		if err := differ(fmt.Sprintf("spine around %s", f.ID), fmt.Sprint(on, before, from), fmt.Sprint(true, ids[:i], ids[i:])); err != nil {
			return err
		}
	}
	for node := range n.SpineFrom(graphstore.SpinePlace{MemoryAt: -1 << 62}) {
		if len(ids) == 0 || n.ID(node) != ids[0] {
			return fmt.Errorf("spine: %s is on it: want %v", n.ID(node), ids)
		}
		ids = ids[1:]
	}
	return differ("facts that the spine lacks", len(ids), 0)
}

// compareInstants puts an absent one first.
func compareInstants(a, b graphstore.Instant) int {
	switch {
	case a.Present() != b.Present() && !a.Present():
		return -1
	case a.Present() != b.Present():
		return 1
	default:
		return cmp.Compare(a.Micros(), b.Micros())
	}
}

func (n *naive) checkBatches() error {
	batches := map[string][]graphstore.Fact{}
	for _, f := range n.facts {
		if f.BatchID != "" {
			batches[f.BatchID] = append(batches[f.BatchID], f)
		}
	}
	for id, members := range batches {
		slices.SortFunc(members, func(a, b graphstore.Fact) int {
			return cmp.Or(cmp.Compare(a.BatchSeq, b.BatchSeq), compareText(a.ID, b.ID))
		})
		if err := differ("batch "+id, n.BatchMembers(id), members); err != nil {
			return err
		}
	}
	return nil
}

func (n *naive) checkEvidence() error {
	bySchema, byFact := map[string][]graphstore.Edge{}, map[string][]graphstore.Edge{}
	for _, e := range n.edges {
		if e.Type == graphstore.DerivedFrom || e.Type == graphstore.DerivedFromRef {
			bySchema[e.Source] = append(bySchema[e.Source], e)
			byFact[e.Target] = append(byFact[e.Target], e)
		}
	}
	for _, id := range n.schemas {
		if err := differ("evidence of "+id, sortedEdges(n.Evidence(id)), sortedEdges(bySchema[id])); err != nil {
			return err
		}
		if s, ok := n.Schema(id); !ok || s.ID != id {
			return fmt.Errorf("schema %s: %+v, %t", id, s, ok)
		}
	}
	for id := range byFact {
		if err := differ("evidence that is "+id, sortedEdges(n.Cited(id)), sortedEdges(byFact[id])); err != nil {
			return err
		}
	}
	return nil
}

func sortedEdges(edges []graphstore.Edge) []graphstore.Edge {
	edges = slices.Clone(edges)
	slices.SortFunc(edges, func(a, b graphstore.Edge) int { return a.Key().Compare(b.Key()) })
	return edges
}
