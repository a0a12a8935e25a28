package graphstoretest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// stamped compares when two decisions were taken.
func stamped(a, b graphstore.Merge) int {
	return cmp.Or(cmp.Compare(a.Stamp.Version, b.Stamp.Version), cmp.Compare(a.Stamp.Rank, b.Stamp.Rank), cmp.Compare(a.Stamp.EventID, b.Stamp.EventID))
}

// root follows the redirects of an entity: of several from one the latest, and round a circle to its smallest id.
func (n *naive) root(entity string) string {
	seen := []string{entity}
	for {
		var latest *graphstore.Merge
		for i, m := range n.merges {
			if m.Merged != entity || m.Undone {
				continue
			}
			if latest == nil || stamped(m, *latest) > 0 || (stamped(m, *latest) == 0 && m.Kept < latest.Kept) {
				latest = &n.merges[i]
			}
		}
		if latest == nil {
			return entity
		}
		entity = latest.Kept
		if at := slices.Index(seen, entity); at >= 0 {
			return slices.Min(seen[at:])
		}
		seen = append(seen, entity)
	}
}

func (n *naive) checkMerges() error {
	byKey := func(a, b graphstore.Merge) int {
		return cmp.Or(cmp.Compare(a.Merged, b.Merged), cmp.Compare(a.Kept, b.Kept))
	}
	slices.SortFunc(n.merges, byKey)
	if err := differ("merge log", n.Merges(), n.merges); err != nil {
		return err
	}
	for id := range n.entities {
		var rows []graphstore.Merge
		for _, m := range n.merges {
			if m.Merged == id || m.Kept == id {
				rows = append(rows, m)
			}
		}
		if err := differ("merges of "+id, n.MergesOf(id), rows); err != nil {
			return err
		}
		var own []string
		for _, e := range n.edges {
			if e.Type == graphstore.Mentions && e.Target == id {
				own = append(own, e.Source)
			}
		}
		if err := differ("facts on "+id+" itself", n.ids(slices.Values(n.FactsOn(graphstore.Key{Kind: graphstore.KindEntity, Node: id}))), sortedIDs(own)); err != nil {
			return err
		}
	}
	return n.checkRoots()
}

// checkRoots asks who each entity is, and each id that is none but stands in the merge log.
func (n *naive) checkRoots() error {
	ids := slices.Collect(maps.Keys(n.entities))
	for _, m := range n.merges {
		ids = append(ids, m.Merged, m.Kept)
	}
	for _, id := range ids {
		if err := differ("root of "+id, n.Resolve(id), n.root(id)); err != nil {
			return err
		}
	}
	return nil
}

// checkBridges compares, seen from each fact, what its entities and topics are and which facts are on them.
func (n *naive) checkBridges() error {
	type far struct {
		typ graphstore.RelationType
		id  string
	}
	to := map[string][]far{}
	on := map[far][]string{}
	for _, e := range n.edges {
		f := far{e.Type, e.Target}
		switch e.Type {
		case graphstore.Mentions:
			if root := n.root(e.Target); n.entities[root] {
				f.id = root
			}
		case graphstore.TaggedWith:
		default:
			continue
		}
		to[e.Source] = append(to[e.Source], f)
		on[f] = append(on[f], e.Source)
	}
	for id := range n.facts {
		node, _ := n.Node(id)
		var got []far
		for b := range n.Bridges(node) {
			info := n.BridgeInfo(b)
			f := far{b.Type, info.ID}
			got = append(got, f)
			var facts []string
			for _, other := range n.BridgeFacts(b) {
				facts = append(facts, n.ID(other))
			}
			slices.Sort(facts)
			slices.Sort(on[f])
			if err := differ("facts on "+info.ID, facts, on[f]); err != nil {
				return err
			}
			degree := 0
			for _, other := range slices.Compact(slices.Clone(on[f])) {
				if n.facts[other].Present() {
					degree++
				}
			}
			if err := differ("degree of "+info.ID, []int{info.Degree, n.BridgeDegree(b)}, []int{degree, degree}); err != nil {
				return err
			}
		}
		order := func(a, b far) int { return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.id, b.id)) }
		slices.SortFunc(got, order)
		slices.SortFunc(to[id], order)
		if err := differ("bridges of "+id, got, to[id]); err != nil {
			return err
		}
	}
	return nil
}
