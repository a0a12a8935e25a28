package graphstore

import "strings"

// What the parts of a snapshot take in memory on a 64-bit machine, in bytes, with their share of indexes and lists. A test
// holds the sums against what the runtime measures.
const (
	indexBytes  = 11                   // a slot at its mean load, and its share of the shard
	factBytes   = 128 + 8 + indexBytes // factNode, its place
	rareBytes   = 128                  // factRare
	stampBytes  = 40                   // one of a fact's field stamps
	bridgeBytes = 96 + 8 + indexBytes  // bridgeNode, its place
	moreBytes   = 48                   // entityMore
	listText    = 16                   // the place of one text in a list
	atomBytes   = 24 + indexBytes      // atomText
	batchBytes  = 32 + 8 + indexBytes  // batch, without its members
	memberBytes = 5                    // one fact of a batch, or on an entity or topic
	spineBytes  = 5                    // the place of a fact on the spine
	linkBytes   = 17                   // a Link, with what the allocator rounds up
	noteBytes   = 14                   // a note
	mergedBytes = 124 + indexBytes     // identity, its rows, and half of a component, since most are pairs
	emptyBytes  = 512                  // the snapshot itself
)

// Bytes estimates what the snapshot holds in memory, within a quarter for graphs of a thousand facts
// and more; what it shares with other versions counts in each of them. It takes constant time.
func (s *Snapshot) Bytes() int64 { return emptyBytes + s.bytes }

// Bytes estimates what the snapshot that is being made holds, like [Snapshot.Bytes].
func (b *Builder) Bytes() int64 { return emptyBytes + b.bytes + b.atoms.bytes }

// EstimateBytes estimates what one record adds to the snapshot of its graph, without building one. It cannot know which
// texts records share, so the sum over a graph is within a third or so of [Snapshot.Bytes].
func EstimateBytes(c Change) int64 {
	switch {
	case c.Merge != nil:
		return minorSize(c) + 2*mergedBytes
	case isMinorRecord(c):
		return minorSize(c)
	case c.Fact != nil:
		n := int64(factBytes+batchBytes/2) + textBytes(c.Fact.ID)
		for _, t := range []string{c.Fact.SourceID, c.Fact.BatchID, c.Fact.Registers.Base.EventID} {
			if t != "" {
				n += (atomBytes + 16) / 2
			}
		}
		return n
	case c.Entity != nil:
		return entityBytes(*c.Entity)
	case c.Topic != nil:
		return bridgeBytes + textBytes(c.Topic.ID) + textBytes(c.Topic.Name)
	case farKind(c.Edge.Type) == KindFact:
		return 2 * linkBytes
	default:
		return linkBytes + noteBytes + memberBytes + textBytes(c.Edge.Detail)/2
	}
}

// textBytes returns what the bytes of a text take: the allocator gives out multiples of 16, or 8.
func textBytes(s string) int64 {
	n := int64(len(s))
	switch {
	case n == 0:
		return 0
	case n <= 8:
		return 8
	case n <= 256:
		return (n + 15) &^ 15
	default:
		return n + n/16
	}
}

// ownText returns a copy: what a caller hands over may be a small part of something large.
func ownText(s string) string { return strings.Clone(s) }
