package graphstoretest

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// CheckSnapshot recomputes from the records of a snapshot everything that it keeps beside them: counts, degrees, the
// order of the spine, batches, evidence, and which entities are one. It returns the first difference.
func CheckSnapshot(s *graphstore.Snapshot) error {
	n := &naive{Snapshot: s, facts: map[string]graphstore.Fact{}, entities: map[string]bool{}}
	for c := range s.Records() {
		n.take(c)
		if got, ok := s.Record(c.Key()); !ok || digestOf(got) != digestOf(c) {
			return fmt.Errorf("record %s: %+v, %t: want %+v", c.Key(), got, ok, c)
		}
	}
	for _, check := range []func() error{n.checkCounts, n.checkSpine, n.checkBatches, n.checkOrigins,
		n.checkEvidence, n.checkMerges, n.checkBridges} {
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
	schemas  []graphstore.Schema
	tombs    []graphstore.Tombstone
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
		n.schemas = append(n.schemas, *c.Schema)
	case c.Tombstone != nil:
		n.tombs = append(n.tombs, *c.Tombstone)
	case c.Merge != nil:
		n.merges = append(n.merges, *c.Merge)
	case c.Edge != nil:
		n.edges = append(n.edges, *c.Edge)
	}
}

func digestOf(c graphstore.Change) (d graphstore.Digest) {
	d.Add(c)
	return d
}

func differ(what string, got, want any) error {
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		return fmt.Errorf("%s: %s: want %s", what, g, w)
	}
	return nil
}

func (n *naive) checkCounts() error {
	present, unseen := 0, 0
	for _, f := range n.facts {
		if f.Present() {
			present++
		}
		if f.State == graphstore.StateUnseen {
			unseen++
		}
	}
	nodes := 0
	for range n.Nodes() {
		nodes++
	}
	return differ("facts, nodes, present, unseen, entities, topics, edges",
		[]int{n.Facts(), nodes, n.Present(), n.Unseen(), n.Entities(), n.Topics(), n.Edges()},
		[]int{len(n.facts), len(n.facts), present, unseen, len(n.entities), n.topics, len(n.edges)})
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
		return cmp.Or(cmp.Compare(a.MemoryAt.Micros(), b.MemoryAt.Micros()), compareInstants(a.RecordedAt, b.RecordedAt), cmp.Compare(a.ID, b.ID))
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
			return cmp.Or(cmp.Compare(a.BatchSeq, b.BatchSeq), cmp.Compare(a.ID, b.ID))
		})
		if err := differ("batch "+id, n.BatchMembers(id), members); err != nil {
			return err
		}
	}
	return nil
}

// checkOrigins looks for the facts that each source said something of, and for those that each fact retired.
func (n *naive) checkOrigins() error {
	bySource, byFact := map[string][]string{"nobody": nil}, map[string][]string{"nobody": nil}
	for id, f := range n.facts {
		stamps := []graphstore.Stamp{f.Registers.Base}
		for _, fs := range f.Registers.Fields {
			stamps = append(stamps, fs.Stamp)
		}
		for _, s := range stamps {
			if s.Source != "" && !slices.Contains(bySource[s.Source], id) {
				bySource[s.Source] = append(bySource[s.Source], id)
			}
		}
		if f.SupersededBy != "" {
			byFact[f.SupersededBy] = append(byFact[f.SupersededBy], id)
		}
	}
	for source, want := range bySource {
		if err := differ("facts of source "+source, n.ids(n.FactsOfSource(source)), sortedIDs(want)); err != nil {
			return err
		}
	}
	for by, want := range byFact {
		if err := differ("facts retired by "+by, n.ids(n.RetiredBy(map[string]struct{}{by: {}})), sortedIDs(want)); err != nil {
			return err
		}
	}
	return nil
}

// ids returns the ids of nodes, sorted.
func (n *naive) ids(nodes iter.Seq[graphstore.Node]) []string {
	var ids []string
	for node := range nodes {
		ids = append(ids, n.ID(node))
	}
	return sortedIDs(ids)
}

func sortedIDs(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return ids
}

func (n *naive) checkEvidence() error {
	bySchema, byFact := map[string][]graphstore.Edge{}, map[string][]graphstore.Edge{}
	for _, e := range n.edges {
		if e.Type == graphstore.DerivedFrom || e.Type == graphstore.DerivedFromRef {
			bySchema[e.Source] = append(bySchema[e.Source], e)
			byFact[e.Target] = append(byFact[e.Target], e)
		}
	}
	for _, s := range n.schemas {
		if err := differ("evidence of "+s.ID, sortedEdges(n.Evidence(s.ID)), sortedEdges(bySchema[s.ID])); err != nil {
			return err
		}
		got, _ := n.Schema(s.ID)
		if err := differ("schema "+s.ID, got, s); err != nil {
			return err
		}
	}
	for id := range byFact {
		if err := differ("evidence that is "+id, sortedEdges(n.Cited(id)), sortedEdges(byFact[id])); err != nil {
			return err
		}
	}
	for _, t := range n.tombs {
		got, _ := n.Tombstone(t.Source)
		if err := differ("tombstone of "+t.Source, got, t); err != nil {
			return err
		}
	}
	schemas, tombs := 0, 0
	for range n.Schemas() {
		schemas++
	}
	for range n.Tombstones() {
		tombs++
	}
	return differ("schemas, tombstones", []int{schemas, tombs}, []int{len(n.schemas), len(n.tombs)})
}

func sortedEdges(edges []graphstore.Edge) []graphstore.Edge {
	edges = slices.Clone(edges)
	slices.SortFunc(edges, func(a, b graphstore.Edge) int { return a.Key().Compare(b.Key()) })
	return edges
}
