package graphstore

import (
	"cmp"
	"slices"
	"sync"
)

// entityGroup is entities that are one by the merge log; the one that readers see for all of them holds it. What is on
// them is gathered when somebody asks: nearly all snapshots are steps of a batch that nobody reads, and an entity may be
// on most facts of a user.
type entityGroup struct {
	merged []int32 // the others

	once   sync.Once
	facts  []Node // on any of them, one item per contribution
	degree int32  // distinct facts present in memory on any of them
}

// groupOf returns what is on the entities that are one with this one, or nil if there are no others.
func (s *Snapshot) groupOf(n *bridgeNode) *entityGroup {
	if g := n.group; g != nil {
		g.once.Do(func() { g.gather(s, n) })
	}
	return n.group
}

func (g *entityGroup) gather(s *Snapshot, kept *bridgeNode) {
	g.facts = slices.Clone(kept.facts)
	for _, i := range g.merged {
		g.facts = append(g.facts, s.entities.at(i).facts...)
	}
	slices.Sort(g.facts)
	for i, n := range g.facts {
		if s.IsPresent(n) && (i == 0 || g.facts[i-1] != n) {
			g.degree++
		}
	}
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
func (s *Snapshot) Merges() []Merge {
	var rows []Merge
	eachMerge(&s.minors, func(m *Merge) { rows = append(rows, *m) })
	slices.SortFunc(rows, func(a, b Merge) int { return a.Key().Compare(b.Key()) })
	return rows
}

func eachMerge(minors *vec[*minor], yield func(*Merge)) {
	for i := range minors.n {
		if m := minors.at(i); m != nil && m.change.Merge != nil {
			yield(m.change.Merge)
		}
	}
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
		next, ok := redirect(ends, minors, entity)
		if !ok {
			return entity
		}
		way = append(way, entity)
		entity = next
	}
}

// redirect returns where the rows that name an entity send it.
func redirect(ends *index, minors *vec[*minor], entity string) (to string, ok bool) {
	var latest *Merge
	minorsAt(ends, minors, Key{Kind: KindEntity, Node: entity}, func(i int32) {
		m := minors.at(i).change.Merge
		if m == nil || m.Undone || m.Merged != entity {
			return
		}
		if latest == nil || cmp.Or(m.Stamp.Compare(latest.Stamp), cmp.Compare(latest.Kept, m.Kept)) > 0 {
			latest = m
		}
	})
	if latest == nil {
		return "", false
	}
	return latest.Kept, true
}

// groupEntities makes each entity that is merged lead to the one that readers see for it. All are looked at where the merge
// log, or the entities in it, have changed; else those with other facts than before.
func (b *Builder) groupEntities() {
	if !b.regroup {
		b.renewGroups()
		return
	}
	b.clearGroups()
	members := map[int32][]int32{}
	eachMerge(&b.minors.vec, func(m *Merge) {
		for _, id := range []string{m.Merged, m.Kept} {
			root := resolve(&b.minorEnds.idx, &b.minors.vec, id)
			if root == id {
				continue
			}
			at, ok := findBridge(&b.entityIndex.idx, &b.entities.vec, id)
			to, rooted := findBridge(&b.entityIndex.idx, &b.entities.vec, root)
			if ok && rooted && !slices.Contains(members[to], at) {
				members[to] = append(members[to], at)
			}
		}
	})
	for to, merged := range members {
		b.ownBridge(Bridge{Mentions, to}).group = &entityGroup{merged: merged}
		for _, i := range merged {
			b.ownBridge(Bridge{Mentions, i}).root = to + 1
		}
	}
}

// renewGroups forgets what was gathered of the groups that an entity of the builder's own is in.
func (b *Builder) renewGroups() {
	if b.minorsOf[KindMerge] == 0 {
		return
	}
	stale := map[int32]struct{}{}
	b.entities.each(func(i int32) {
		switch n := b.entities.vec.at(i); {
		case n == nil:
		case n.group != nil:
			stale[i] = struct{}{}
		case n.root != 0:
			stale[n.root-1] = struct{}{}
		}
	})
	for i := range stale {
		kept := b.ownBridge(Bridge{Mentions, i})
		kept.group = &entityGroup{merged: kept.group.merged}
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

// inMergeLog reports whether a row of the merge log names an entity.
func (b *Builder) inMergeLog(entity string) (named bool) {
	if b.minorsOf[KindMerge] > 0 {
		minorsAt(&b.minorEnds.idx, &b.minors.vec, Key{Kind: KindEntity, Node: entity}, func(int32) { named = true })
	}
	return named
}
