package rerank

import "github.com/kithgraph/kith/graphstore"

// mayPass reports whether a fact outside the pool may be eligible by what the graph knows of it. A fact that is only
// named by others is let through: the vector store knows better.
func (e *eligibility) mayPass(g *graphstore.Snapshot, n graphstore.Node) bool {
	switch g.State(n) {
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
	if e.agent != "" && !g.OfAgent(n, e.agent) {
		return false
	}
	return e.refusesWindow(g.Validity(n)) == ""
}
