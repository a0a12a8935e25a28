package graphstore

import (
	"cmp"
	"slices"
)

// entityGroup is entities that are one by the merge log; the one that readers see for all of them holds it.
type entityGroup struct {
	facts  []Node // on any of them, one item per contribution
	degree int32  // distinct facts present in memory on any of them
}

// MergesOf returns the rows of the merge log that name an entity on either side, in order of key.
func (s *Snapshot) MergesOf(entity string) []Merge {
	return mergesOf(&s.minorEnds, &s.minors, entity)
}

func mergesOf(ends *index, minors *vec[*minor], entity string) []Merge {
	var rows []Merge
	minorsAt(ends, minors, Key{Kind: KindEntity, Node: entity}, func(i int32) {
		if m := minors.at(i).change.Merge; m != nil {
			rows = append(rows, *m)
		}
	})
	slices.SortFunc(rows, func(a, b Merge) int { return a.Key().Compare(b.Key()) })
	return rows
}

// Merges returns the merge log, in order of key.
func (s *Snapshot) Merges() []Merge { return mergeLog(&s.minors) }

func mergeLog(minors *vec[*minor]) []Merge {
	var rows []Merge
	for i := range minors.n {
		if m := minors.at(i); m != nil && m.change.Merge != nil {
			rows = append(rows, *m.change.Merge)
		}
	}
	slices.SortFunc(rows, func(a, b Merge) int { return a.Key().Compare(b.Key()) })
	return rows
}

// Resolve returns the id of the entity that readers see for this one: the end of the redirects of the merge log. Of
// several that hold for one entity the latest counts (by its stamp, then by the smaller id of the kept one). Redirects
// that lead in a circle make one entity, the one with the smallest id. An id that no row names is its own.
func (s *Snapshot) Resolve(entity string) string {
	if s.minorsOf[KindMerge] == 0 {
		return entity
	}
	return resolve(&s.minorEnds, &s.minors, entity)
}

func resolve(ends *index, minors *vec[*minor], entity string) string {
	var way []string
	for {
		if at := slices.Index(way, entity); at >= 0 {
			return slices.Min(way[at:])
		}
		next, ok := redirect(mergesOf(ends, minors, entity), entity)
		if !ok {
			return entity
		}
		way = append(way, entity)
		entity = next
	}
}

// redirect returns where the rows that name an entity send it.
func redirect(rows []Merge, entity string) (to string, ok bool) {
	rows = slices.DeleteFunc(rows, func(m Merge) bool { return m.Undone || m.Merged != entity })
	if len(rows) == 0 {
		return "", false
	}
	latest := slices.MaxFunc(rows, func(a, b Merge) int { return cmp.Or(a.Stamp.Compare(b.Stamp), cmp.Compare(b.Kept, a.Kept)) })
	return latest.Kept, true
}

// groupEntities makes each entity that is merged lead to the one that readers see for it, and that one to the facts of
// all. Where there is a merge log it costs as much as the entities in it have facts, on every commit.
func (b *Builder) groupEntities() {
	if b.minorsOf[KindMerge] == 0 && !b.regroup {
		return
	}
	if b.regroup {
		b.clearGroups()
	}
	members := map[int32][]int32{}
	for _, m := range mergeLog(&b.minors.vec) {
		for _, id := range []string{m.Merged, m.Kept} {
			root := resolve(&b.minorEnds.idx, &b.minors.vec, id)
			at, ok := findBridge(&b.entityIndex.idx, &b.entities.vec, id)
			to, rooted := findBridge(&b.entityIndex.idx, &b.entities.vec, root)
			if ok && rooted && root != id && !slices.Contains(members[to], at) {
				members[to] = append(members[to], at)
			}
		}
	}
	for to, merged := range members {
		b.group(to, merged)
	}
}

func (b *Builder) clearGroups() {
	for i := range b.entities.vec.n {
		if n := b.entities.vec.at(i); n != nil && (n.group != nil || n.root != 0) {
			own := b.ownBridge(Bridge{Mentions, i})
			own.group, own.root = nil, 0
		}
	}
}

func (b *Builder) group(to int32, merged []int32) {
	kept := b.ownBridge(Bridge{Mentions, to})
	g := &entityGroup{facts: slices.Clone(kept.facts)}
	for _, i := range merged {
		n := b.entities.vec.at(i)
		g.facts = append(g.facts, n.facts...)
		if n.root != to+1 {
			b.ownBridge(Bridge{Mentions, i}).root = to + 1
		}
	}
	slices.Sort(g.facts)
	for i, n := range g.facts {
		if b.node(n).present() && (i == 0 || g.facts[i-1] != n) {
			g.degree++
		}
	}
	kept.group = g
}
