package projectortest

import "github.com/kithgraph/kith/projector"

// Shape is the part of a projector's configuration that the model knows, every field stated.
type Shape struct {
	MaxCoOccurs   int
	EdgeMinScore  float64
	MaxNeighbors  int
	TemporalSpine bool
}

// SmallShape returns a shape in which short histories meet every limit.
func SmallShape() Shape {
	return Shape{MaxCoOccurs: 3, EdgeMinScore: .75, MaxNeighbors: 2, TemporalSpine: true}
}

// Config returns the projector's configuration of this shape.
func (s Shape) Config() projector.Config {
	return projector.Config{MaxCoOccurs: s.MaxCoOccurs, EdgeMinScore: s.EdgeMinScore, MaxNeighbors: s.MaxNeighbors,
		TemporalSpine: s.TemporalSpine}
}
