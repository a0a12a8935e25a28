package graphstore

import "fmt"

func (b *Builder) putMinor(c Change) {
	i, ok := findMinor(&b.minorIndex.idx, &b.minors.vec, c.Key())
	if !ok {
		b.placeMinor(c)
		return
	}
	m := b.minors.vec.at(i)
	b.bytes += minorSize(c) - minorSize(m.change)
	b.minors.set(i, &minor{change: c, key: m.key, edges: m.edges})
	if c.Merge != nil {
		b.redecide(c.Merge)
	}
}

func (b *Builder) placeMinor(c Change) {
	m := &minor{change: c, key: c.Key()}
	i := b.minors.place(m)
	b.minorIndex.add(minorTag(m.key), i)
	for _, end := range minorEnds(c) {
		b.minorEnds.add(minorTag(end), i)
	}
	b.bytes += minorSize(c)
	b.minorsOf[m.key.Kind]++
	switch {
	case c.Edge != nil:
		b.edges++
	case c.Merge != nil:
		b.decide(i, c.Merge)
	}
}

// putMinorEdge adds or replaces the evidence of a schema.
func (b *Builder) putMinorEdge(c Change) error {
	for _, end := range minorEnds(c) {
		if !b.hasNode(end) {
			return fmt.Errorf("%w: %s: no %s", ErrDangling, c.Key(), end)
		}
	}
	if _, exists := findMinor(&b.minorIndex.idx, &b.minors.vec, c.Key()); !exists {
		b.countMinorEdge(c, 1)
	}
	b.putMinor(c)
	return nil
}

func (b *Builder) hasNode(k Key) bool {
	if k.Kind == KindFact {
		_, ok := findFact(&b.factIndex.idx, &b.facts.vec, k.Node)
		return ok
	}
	_, ok := findMinor(&b.minorIndex.idx, &b.minors.vec, k)
	return ok
}

// countMinorEdge notes at the minor nodes of an edge that it comes or goes.
func (b *Builder) countMinorEdge(c Change, by int) {
	for _, end := range minorEnds(c) {
		i, ok := findMinor(&b.minorIndex.idx, &b.minors.vec, end)
		if !ok { // a fact
			continue
		}
		m := *b.minors.vec.at(i)
		m.edges += by
		b.minors.set(i, &m)
	}
}

func (b *Builder) removeMinor(k Key) error {
	i, ok := findMinor(&b.minorIndex.idx, &b.minors.vec, k)
	if !ok {
		return nil
	}
	m := b.minors.vec.at(i)
	if m.edges > 0 {
		return errEdgesRemain(k, m.edges)
	}
	switch {
	case k.IsEdge():
		b.countMinorEdge(m.change, -1)
		b.edges--
	case k.Kind == KindMerge:
		b.withdraw(i, m.change.Merge)
	}
	b.minorsOf[k.Kind]--
	b.bytes -= minorSize(m.change)
	b.minorIndex.remove(minorTag(k), i)
	for _, end := range minorEnds(m.change) {
		b.minorEnds.remove(minorTag(end), i)
	}
	b.minors.drop(i)
	return nil
}

// minorsAt returns how many pieces of evidence end at a fact.
func (b *Builder) minorsAt(fact Key) int {
	n := 0
	minorsAt(&b.minorEnds.idx, &b.minors.vec, fact, func(int32) { n++ })
	return n
}
