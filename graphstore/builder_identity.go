package graphstore

import "slices"

// decide takes in a new row of the merge log.
func (b *Builder) decide(row int32, m *Merge) {
	merged, kept := b.placeIdentity(m.Merged), b.placeIdentity(m.Kept)
	for _, i := range []int32{merged, kept} {
		x := b.ownIdentity(i)
		x.rows = append(x.rows, row)
	}
	b.unresolve(b.unite(merged, kept))
}

// redecide takes in what a row says now.
func (b *Builder) redecide(m *Merge) {
	if i, ok := findIdentity(&b.identityIndex.idx, &b.identities.vec, m.Merged); ok {
		b.unresolve(b.identities.vec.ref(i).in)
	}
}

// withdraw takes out a row that goes.
func (b *Builder) withdraw(row int32, m *Merge) {
	for _, id := range []string{m.Merged, m.Kept} {
		i, ok := findIdentity(&b.identityIndex.idx, &b.identities.vec, id)
		if !ok {
			continue
		}
		x := b.ownIdentity(i)
		at, last := slices.Index(x.rows, row), len(x.rows)-1
		x.rows[at] = x.rows[last]
		x.rows = x.rows[:last]
		b.part(x.in)
	}
}

// ownIdentity returns an identity for editing.
func (b *Builder) ownIdentity(i int32) *identity {
	mine := b.identities.mine(i)
	x := b.identities.edit(i)
	if !mine {
		x.rows = withRoom(x.rows)
	}
	return x
}

// placeIdentity returns the number of an identity, which is alone in a component if it is new.
func (b *Builder) placeIdentity(id string) int32 {
	if i, ok := findIdentity(&b.identityIndex.idx, &b.identities.vec, id); ok {
		return i
	}
	i := b.identities.place(identity{id: id})
	b.identityIndex.add(tagOf(id), i)
	b.placeComponent([]int32{i})
	b.bytes += mergedBytes
	if e, ok := findBridge(&b.entityIndex.idx, &b.entities.vec, id); ok {
		b.ownBridge(Bridge{Mentions, e}).identity = i + 1
	}
	return i
}

// placeComponent makes identities the members of a new component.
func (b *Builder) placeComponent(members []int32) {
	c := b.components.place(&component{members: members, roots: new(roots)})
	for at, i := range members {
		x := b.ownIdentity(i)
		x.in, x.at = c, int32(at)
	}
}

// unite makes the components of two identities one and returns its number. The members of the smaller one move, so that n
// rows move each identity log n times at most.
func (b *Builder) unite(x, y int32) int32 {
	into, from := b.identities.vec.ref(x).in, b.identities.vec.ref(y).in
	if into == from {
		return into
	}
	if len(b.components.vec.at(into).members) < len(b.components.vec.at(from).members) {
		into, from = from, into
	}
	own := b.ownComponent(into)
	for _, i := range b.components.vec.at(from).members {
		x := b.ownIdentity(i)
		x.in, x.at = into, int32(len(own.members))
		own.members = append(own.members, i)
	}
	b.components.drop(from)
	if _, ok := b.parted[from]; ok {
		delete(b.parted, from)
		b.part(into)
	}
	return into
}

// ownComponent returns a component for editing. Who its members are holds until [Builder.unresolve]; what is on them is
// gathered anew.
func (b *Builder) ownComponent(c int32) *component {
	old := b.components.vec.at(c)
	if b.components.mine(c) {
		return old
	}
	own := &component{members: slices.Clip(old.members), roots: old.roots} // an append copies
	b.components.set(c, own)
	return own
}

// unresolve forgets who the members of a component are.
func (b *Builder) unresolve(c int32) { b.ownComponent(c).roots = new(roots) }

// part notes that a row of a component has gone.
func (b *Builder) part(c int32) {
	if b.parted == nil {
		b.parted = map[int32]struct{}{}
	}
	b.parted[c] = struct{}{}
}

// settleIdentities splits the components that rows have gone from, and forgets what was gathered in those with an entity
// that the builder has touched.
func (b *Builder) settleIdentities() {
	for c := range b.parted {
		b.split(c)
	}
	if b.identityIndex.idx.n == 0 {
		return
	}
	b.entities.each(func(i int32) {
		if n := b.entities.vec.at(i); n != nil && n.identity != 0 {
			b.ownComponent(b.identities.vec.ref(n.identity - 1).in)
		}
	})
}

// split makes components of the members that rows still tie together, and drops the identities that no row names.
func (b *Builder) split(c int32) {
	members := b.components.vec.at(c).members
	sets := newSets(len(members))
	for at, i := range members {
		x := b.identities.vec.ref(i)
		for _, row := range x.rows {
			m := b.minors.vec.at(row).change.Merge
			if m.Merged != x.id { // seen from there
				continue
			}
			if kept, ok := findIdentity(&b.identityIndex.idx, &b.identities.vec, m.Kept); ok {
				sets.join(int32(at), b.identities.vec.ref(kept).at)
			}
		}
	}
	parts := map[int32][]int32{}
	for at, i := range members {
		if len(b.identities.vec.ref(i).rows) == 0 {
			b.dropIdentity(i)
			continue
		}
		set := sets.of(int32(at))
		parts[set] = append(parts[set], i)
	}
	b.components.drop(c)
	for _, part := range parts {
		b.placeComponent(part)
	}
}

func (b *Builder) dropIdentity(i int32) {
	id := b.identities.vec.ref(i).id
	if e, ok := findBridge(&b.entityIndex.idx, &b.entities.vec, id); ok {
		b.ownBridge(Bridge{Mentions, e}).identity = 0
	}
	b.identityIndex.remove(tagOf(id), i)
	b.identities.drop(i)
	b.bytes -= mergedBytes
}

// sets are disjoint sets of the numbers from 0.
type sets []int32 // of each number, one that is in the same set; itself for the one that stands for the set

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func (s sets) of(i int32) int32 {
	for s[i] != i {
		s[i] = s[s[i]] // halves the way for the next time
		i = s[i]
	}
	return i
}

func (s sets) join(i, j int32) { s[s.of(i)] = s.of(j) }
