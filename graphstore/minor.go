package graphstore

import (
	"hash/maphash"
	"iter"
)

// minor is a record that is neither a fact, an entity or a topic nor an edge between those: schemas, refs, their evidence,
// the merge log and tombstones. There are few of them and no walk goes over them, so a snapshot keeps them as they are.
type minor struct {
	change Change // a Put
	key    Key
	edges  int // that end at the node
}

// isMinor reports whether edges of a type are kept as minor records: they start at a schema.
func isMinor(t RelationType) bool { return t == DerivedFrom || t == DerivedFromRef }

// kindCounts are numbers of minor records by kind; edges are under 0.
type kindCounts [KindTombstone + 1]int

func (k *kindCounts) of(kind NodeKind) int {
	if kind == 0 || int(kind) >= len(k) {
		return 0
	}
	return k[kind]
}

func isMinorRecord(c Change) bool {
	return c.Key().Kind > KindTopic || c.Edge != nil && isMinor(c.Edge.Type)
}

// minorBytes is what a minor record takes without its texts: the records are small and differ, so this is a mean.
const minorBytes = 300

func minorSize(c Change) int64 {
	n := int64(minorBytes)
	for _, t := range c.appendTexts(nil) {
		n += textBytes(t.text)
	}
	return n
}

func minorTag(k Key) uint32 { return uint32(maphash.Comparable(shardSeed, k)) }

// minorEnds returns the keys of the records that a minor record is found by besides its own: the ends of an edge. A merge
// is found by its identities.
func minorEnds(c Change) []Key {
	if c.Edge == nil {
		return nil
	}
	source, target := c.Edge.Type.Ends()
	return []Key{{Kind: source, Node: c.Edge.Source}, {Kind: target, Node: c.Edge.Target}}
}

// isEnd reports whether a key is one of the minorEnds of a record.
func isEnd(c Change, k Key) bool {
	if c.Edge == nil {
		return false
	}
	source, target := c.Edge.Type.Ends()
	return k == Key{Kind: source, Node: c.Edge.Source} || k == Key{Kind: target, Node: c.Edge.Target}
}

func findMinor(idx *index, minors *vec[*minor], k Key) (int32, bool) {
	for p := idx.find(minorTag(k)); ; {
		i, ok := p.next()
		if !ok {
			return 0, false
		}
		if minors.at(i).key == k {
			return i, true
		}
	}
}

// minorsAt yields the records that have the key as an end.
func minorsAt(ends *index, minors *vec[*minor], end Key, yield func(i int32)) {
	if ends.n == 0 {
		return
	}
	for p := ends.find(minorTag(end)); ; {
		i, ok := p.next()
		if !ok {
			return
		}
		if isEnd(minors.at(i).change, end) {
			yield(i)
		}
	}
}

// minor returns the record with this key.
func (s *Snapshot) minor(k Key) (Change, bool) {
	i, ok := findMinor(&s.minorIndex, &s.minors, k)
	if !ok {
		return Change{}, false
	}
	return s.minors.at(i).change, true
}

func (s *Snapshot) yieldMinors(edges bool, yield func(Change) bool) bool {
	for i := range s.minors.n {
		if m := s.minors.at(i); m != nil && m.key.IsEdge() == edges && !yield(m.change) {
			return false
		}
	}
	return true
}

// Schema returns the schema with this id, also a deleted one.
func (s *Snapshot) Schema(id string) (Schema, bool) {
	c, ok := s.minor(Key{Kind: KindSchema, Node: id})
	if !ok {
		return Schema{}, false
	}
	return *c.Schema, true
}

// HasRef reports whether there is a ref with this id.
func (s *Snapshot) HasRef(id string) bool {
	_, ok := s.minor(Ref{ID: id}.Key())
	return ok
}

// Tombstone returns the tombstone of a source, of the user for the empty one.
func (s *Snapshot) Tombstone(source string) (Tombstone, bool) {
	if s.minorIndex.n == 0 {
		return Tombstone{}, false
	}
	c, ok := s.minor(Tombstone{Source: source}.Key())
	if !ok {
		return Tombstone{}, false
	}
	return *c.Tombstone, true
}

// Evidence returns the derived_from edges of a schema, in no promised order.
func (s *Snapshot) Evidence(schema string) []Edge {
	return s.minorEdges(Key{Kind: KindSchema, Node: schema})
}

// Cited returns the derived_from edges to a fact, or to the ref in its place, in no promised order.
func (s *Snapshot) Cited(fact string) []Edge {
	return append(s.minorEdges(Key{Kind: KindFact, Node: fact}), s.minorEdges(Key{Kind: KindRef, Node: fact})...)
}

func (s *Snapshot) minorEdges(end Key) []Edge {
	var edges []Edge
	minorsAt(&s.minorEnds, &s.minors, end, func(i int32) {
		if e := s.minors.at(i).change.Edge; e != nil {
			edges = append(edges, *e)
		}
	})
	return edges
}

// Schemas yields the schemas, also deleted ones, in no promised order.
func (s *Snapshot) Schemas() iter.Seq[Schema] {
	return func(yield func(Schema) bool) {
		for i := range s.minors.n {
			if m := s.minors.at(i); m != nil && m.change.Schema != nil && !yield(*m.change.Schema) {
				return
			}
		}
	}
}

// Tombstones yields the tombstones, in no promised order.
func (s *Snapshot) Tombstones() iter.Seq[Tombstone] {
	return func(yield func(Tombstone) bool) {
		for i := range s.minors.n {
			if m := s.minors.at(i); m != nil && m.change.Tombstone != nil && !yield(*m.change.Tombstone) {
				return
			}
		}
	}
}
