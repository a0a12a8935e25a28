package graphstore

import (
	"slices"
	"sync"
)

// component is the identities that rows of the merge log tie together, undone rows too: both ends of a row are in one. So
// a decision on one of them changes nothing for those of another component.
//
// Who they are, and what is on them, is found out when somebody asks for the first time: nearly all snapshots are steps of
// a batch that nobody reads, and finding it out with each decision would make n decisions on one entity cost n². Versions
// share a component that they have not changed; whichever is asked first finds the same.
type component struct {
	members []int32 // numbers of identities
	roots   *roots  // shared by versions until a row, or an entity, of the component comes, goes or changes

	once   sync.Once
	groups map[int32]*entityGroup // by the number of the entity that readers see
}

// roots says who the members of a component are.
type roots struct {
	once   sync.Once
	root   []int32 // of each member, the place of the one at the end of its redirects
	entity []int32 // of each member, the number of its entity, or -1
}

// entityGroup is what is on the entities that are one by the merge log.
type entityGroup struct {
	facts  []Node // on any of them, one item per contribution
	degree int32  // distinct facts present in memory on any of them
}

// shown returns the number of the entity that readers see for a member: its own if the one it is sent to is no entity.
func (r *roots) shown(at int32) int32 {
	if e := r.entity[r.root[at]]; e >= 0 {
		return e
	}
	return r.entity[at]
}

// rootsIn returns who the members are in a snapshot that has the component.
func (c *component) rootsIn(s *Snapshot) *roots {
	r := c.roots
	r.once.Do(func() {
		r.entity = make([]int32, len(c.members))
		for at, i := range c.members {
			r.entity[at] = -1
			if e, ok := findBridge(&s.entityIndex, &s.entities, s.identities.ref(i).id); ok {
				r.entity[at] = e
			}
		}
		r.root = c.follow(s)
	})
	return r
}

// follow goes along the redirects from each member until it comes to one whose end is known, so each is passed once.
func (c *component) follow(s *Snapshot) []int32 {
	const unknown, passing = -1, -2
	root := slices.Repeat([]int32{unknown}, len(c.members))
	var way []int32
	for first := range root {
		way = way[:0]
		at, end := int32(first), int32(unknown)
		for root[at] == unknown {
			root[at] = passing
			way = append(way, at)
			to, ok := c.next(s, at)
			if !ok {
				end = at
				break
			}
			at = to
		}
		switch {
		case end >= 0:
		case root[at] == passing:
			end = c.smallest(s, way[slices.Index(way, at):])
		default:
			end = root[at]
		}
		for _, at := range way {
			root[at] = end
		}
	}
	return root
}

// next returns the place of the member that the rows send one to.
func (c *component) next(s *Snapshot, at int32) (int32, bool) {
	to, ok := s.redirect(s.identities.ref(c.members[at]))
	if !ok {
		return 0, false
	}
	i, ok := findIdentity(&s.identityIndex, &s.identities, to)
	if !ok {
		return 0, false
	}
	return s.identities.ref(i).at, true
}

// smallest returns the place of the member with the smallest id.
func (c *component) smallest(s *Snapshot, circle []int32) int32 {
	return slices.MinFunc(circle, func(x, y int32) int {
		return compareString(s.identities.ref(c.members[x]).id, s.identities.ref(c.members[y]).id)
	})
}

// groupOf returns what is on the entities that are one with this one, or nil if there are no others.
func (s *Snapshot) groupOf(n *bridgeNode) *entityGroup {
	if n.identity == 0 {
		return nil
	}
	x := s.identities.ref(n.identity - 1)
	c := s.components.at(x.in)
	r := c.rootsIn(s)
	c.once.Do(func() { c.gather(s, r) })
	return c.groups[r.entity[x.at]]
}

func (c *component) gather(s *Snapshot, r *roots) {
	c.groups = map[int32]*entityGroup{}
	for at, own := range r.entity {
		kept := r.shown(int32(at))
		if kept == own { // also for an id that is no entity and has none to be seen for it
			continue
		}
		g := c.groups[kept]
		if g == nil {
			g = &entityGroup{facts: slices.Clone(s.entities.at(kept).facts)}
			c.groups[kept] = g
		}
		if own >= 0 {
			g.facts = append(g.facts, s.entities.at(own).facts...)
		}
	}
	for _, g := range c.groups {
		slices.Sort(g.facts)
		for i, n := range g.facts {
			if s.IsPresent(n) && (i == 0 || g.facts[i-1] != n) {
				g.degree++
			}
		}
	}
}
