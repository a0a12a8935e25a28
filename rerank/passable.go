package rerank

import "github.com/kithgraph/kith/graphstore"

// mayPass reports whether a fact outside the pool may be eligible by what the graph knows of it. A fact that is only
// named by others is let through: the vector store knows better.
func (e *eligibility) mayPass(g *graphstore.Snapshot, f *graphstore.Fact) bool {
	switch f.State {
	case graphstore.StateUnseen:
		return true
	case graphstore.StateActive:
	case graphstore.StateSuperseded:
		if !e.history {
			return false
		}
	default:
		return false
	}
	if e.agent != "" && f.AgentID != e.agent {
		return false
	}
	return e.refusesWindow(f.ValidFrom, validTo(g, f)) == ""
}

// validTo returns the effective end of a fact's validity. A superseded fact ends where its successor starts, or happened,
// or at the event that retired it, unless it was stated to end earlier.
func validTo(g *graphstore.Snapshot, f *graphstore.Fact) graphstore.Instant {
	if f.State != graphstore.StateSuperseded {
		return f.ValidTo
	}
	retired := f.SupersededAt
	if by, ok := g.Fact(f.SupersededBy); ok {
		switch {
		case by.ValidFrom.Present():
			retired = by.ValidFrom
		case by.MemoryAt.Present():
			retired = by.MemoryAt
		}
	}
	if f.ValidTo.Present() && (!retired.Present() || f.ValidTo < retired) {
		return f.ValidTo
	}
	return retired
}
