package rerank

import (
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// Path is the strongest connection between two results.
type Path struct {
	// Hops lead from the first fact to the last, in reading order: along time, else along cause or elaboration, else from
	// the better-ranked end.
	Hops     []Hop
	Strength float64            // product of the hops' weights, times the decay per hop after the first
	Score    float64            // Strength * sqrt(base of one end * base of the other); orders the paths
	Newest   graphstore.Instant // the latest memory_at on it; absent if none is known
}

// Hop is one edge of a path: everything between two facts.
type Hop struct {
	From, To  string
	Type      graphstore.RelationType // the strongest type
	Relations []Relation              // all types, in tie-break order
	Weight    float64                 // all types folded
	Direction Direction               // of Type, seen from From
	// Earlier and Later name the two facts in the order of time where Type is temporal_next and has a direction.
	Earlier, Later string
}

// Direction says which way an edge points.
type Direction string

// The directions. An undirected type has none, and so has a directed one that is asserted both ways equally.
const (
	Forward    Direction = "forward"
	Backward   Direction = "backward"
	Undirected Direction = "none"
)

// IDs returns the fact ids along the path.
func (p *Path) IDs() []string {
	if len(p.Hops) == 0 {
		return nil
	}
	ids := []string{p.Hops[0].From}
	for i := range p.Hops {
		ids = append(ids, p.Hops[i].To)
	}
	return ids
}

// String returns the path as "a -causes-> b -co_occurs- c"; a hop against its direction is "b <-causes- a".
func (p *Path) String() string {
	var b strings.Builder
	for i := range p.Hops {
		h := &p.Hops[i]
		if i == 0 {
			b.WriteString(h.From)
		}
		switch h.Direction {
		case Forward:
			b.WriteString(" -" + h.Type.String() + "-> ")
		case Backward:
			b.WriteString(" <-" + h.Type.String() + "- ")
		default:
			b.WriteString(" -" + h.Type.String() + "- ")
		}
		b.WriteString(h.To)
	}
	return b.String()
}

// reversed returns the hop seen from its other end.
func (h Hop) reversed() Hop {
	h.From, h.To = h.To, h.From
	switch h.Direction {
	case Forward:
		h.Direction = Backward
	case Backward:
		h.Direction = Forward
	}
	return h
}
