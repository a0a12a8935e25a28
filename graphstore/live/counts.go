package live

import "github.com/kithgraph/kith/graphstore"

// Counts sums what all spaces hold, resident or not.
type Counts struct {
	Spaces, Facts, Present, Entities, Topics, Edges int
	Schemas, Refs, Merges, Tombstones               int // schemas also deleted ones; merges are rows of the merge log
}

// countsOf returns the counts of one snapshot, without the space.
func countsOf(s *graphstore.Snapshot) Counts {
	return Counts{
		Facts: s.Facts(), Present: s.Present(), Entities: s.Entities(), Topics: s.Topics(), Edges: s.Edges(),
		Schemas: s.Count(graphstore.KindSchema), Refs: s.Count(graphstore.KindRef), Merges: s.Count(graphstore.KindMerge),
		Tombstones: s.Count(graphstore.KindTombstone),
	}
}

// count takes in one record.
func (c *Counts) count(record graphstore.Change) {
	switch {
	case record.Fact != nil:
		c.Facts++
		if record.Fact.Present() {
			c.Present++
		}
	case record.Entity != nil:
		c.Entities++
	case record.Topic != nil:
		c.Topics++
	case record.Edge != nil:
		c.Edges++
	case record.Schema != nil:
		c.Schemas++
	case record.Ref != nil:
		c.Refs++
	case record.Merge != nil:
		c.Merges++
	case record.Tombstone != nil:
		c.Tombstones++
	}
}

// add takes in other counts of records, times by.
func (c *Counts) add(o Counts, by int) {
	c.Facts += by * o.Facts
	c.Present += by * o.Present
	c.Entities += by * o.Entities
	c.Topics += by * o.Topics
	c.Edges += by * o.Edges
	c.Schemas += by * o.Schemas
	c.Refs += by * o.Refs
	c.Merges += by * o.Merges
	c.Tombstones += by * o.Tombstones
}

// Counts returns the size of the graph, of all spaces that have records; zero before Load.
func (g *Graph) Counts() Counts {
	g.dir.RLock()
	defer g.dir.RUnlock()
	return g.dir.counts
}

// Digest returns the digest of the whole graph as published, resident or not. It is kept with every commit and takes no
// time. After a commit of unknown outcome it is that of before, until the store has been asked again.
func (g *Graph) Digest() graphstore.Digest {
	g.dir.RLock()
	defer g.dir.RUnlock()
	return g.dir.digest
}

// Usage says what the graph holds in memory.
type Usage struct {
	Resident, Spaces int   // users in memory, users in all
	Bytes, MaxBytes  int64 // of the resident snapshots; the bound, 0 for none
	// TotalBytes is what all users would take: of those that were not in memory yet, an estimate from their records.
	TotalBytes int64
	Evictions  int // users dropped from memory since the start
	Reloads    int // users read from the store since the start, beside Load
	TooLarge   int // users that exceed the bound alone, as far as that has been found
}

// Usage returns the state of the memory.
func (g *Graph) Usage() Usage {
	d := &g.dir
	d.RLock()
	defer d.RUnlock()
	return Usage{
		Resident: len(d.residents), Spaces: len(d.entries), Bytes: d.bytes, MaxBytes: d.max, TotalBytes: d.total,
		Evictions: d.evictions, Reloads: d.reloads, TooLarge: d.tooLarge,
	}
}
