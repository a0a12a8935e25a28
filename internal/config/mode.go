package config

import "fmt"

// Switches say what the graph does, and by which rule.
type Switches struct {
	Write      bool // events are projected
	Rerank     bool // searches are reranked
	Paused     bool // the graph is on and events are not projected: they wait
	WriteRule  string
	RerankRule string
	Warnings   []string // settings without effect
}

// Resolve combines the settings. When none of the four MEMORY_ ones is set, events are projected and searches reranked: that
// is what one starts kith for. As soon as one is set, the others fall back to their own defaults: mode pro, graph off,
// rerank off, write on where the graph is on. KITH_PROJECT is no part of that: false stops the projection, as
// MEMORY_GRAPH_WRITE=false does, and leaves the rest as it is; of the two, the one that says false counts.
func (m Memory) Resolve() Switches {
	s := m.memory()
	switch {
	case m.Project == nil:
	case !*m.Project && s.Write:
		s.Write, s.WriteRule, s.Paused = false, "KITH_PROJECT=false", true
	case *m.Project && !s.Write:
		s.Warnings = append(s.Warnings, "KITH_PROJECT=true has no effect: "+s.WriteRule)
	}
	return s
}

// memory combines the four settings of the memory system.
func (m Memory) memory() Switches {
	if m.Mode == nil && m.EnableGraph == nil && m.Write == nil && m.Rerank == nil {
		const rule = "on: none of MEMORY_MODE, MEMORY_ENABLE_GRAPH, MEMORY_GRAPH_WRITE, MEMORY_GRAPH_RERANK_ENABLED is set"
		return Switches{Write: true, Rerank: true, WriteRule: rule, RerankRule: rule}
	}
	graph, rule := m.graph()
	s := Switches{WriteRule: rule, RerankRule: rule}
	s.Write, s.WriteRule = switchUnder(graph, rule, m.Write, "MEMORY_GRAPH_WRITE", true)
	s.Rerank, s.RerankRule = switchUnder(graph, rule, m.Rerank, "MEMORY_GRAPH_RERANK_ENABLED", false)
	s.Paused = graph && !s.Write
	if !graph {
		for _, o := range []struct {
			set *bool
			env string
		}{{m.Write, "MEMORY_GRAPH_WRITE"}, {m.Rerank, "MEMORY_GRAPH_RERANK_ENABLED"}} {
			if o.set != nil && *o.set {
				s.Warnings = append(s.Warnings, fmt.Sprintf("%s=true has no effect: %s", o.env, rule))
			}
		}
	}
	return s
}

func (m Memory) graph() (on bool, rule string) {
	mode := "pro"
	if m.Mode != nil {
		mode = *m.Mode
	}
	switch {
	case mode == "lite":
		return false, "graph off: MEMORY_MODE=lite"
	case mode == "ultra":
		return true, "graph on: MEMORY_MODE=ultra"
	case m.EnableGraph == nil:
		return false, "graph off: MEMORY_ENABLE_GRAPH is not set, and its default in mode pro is false"
	case *m.EnableGraph:
		return true, "graph on: MEMORY_ENABLE_GRAPH=true in mode pro"
	default:
		return false, "graph off: MEMORY_ENABLE_GRAPH=false in mode pro"
	}
}

func switchUnder(graph bool, graphRule string, set *bool, env string, def bool) (on bool, rule string) {
	switch {
	case !graph:
		return false, graphRule
	case set != nil:
		return *set, fmt.Sprintf("%s=%v", env, *set)
	default:
		return def, fmt.Sprintf("default of %s while the graph is on is %v", env, def)
	}
}
