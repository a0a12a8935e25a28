package server

import (
	"github.com/kithgraph/kith/rerank"
)

// RelatedPath is how two results connect.
type RelatedPath struct {
	Text     string  `json:"text" doc:"The path in one line, like: a -causes-> b -co_occurs- c."`
	Hops     []Hop   `json:"hops"`
	Strength float64 `json:"strength" doc:"Product of the hops' weights, times the decay per hop after the first."`
	Score    float64 `json:"score" doc:"Strength times the square root of the product of its ends' base scores; orders the paths."`
	Newest   string  `json:"newest,omitempty" doc:"Latest memory_at on it."`
}

// Hop is everything between two facts of a path.
type Hop struct {
	From      string     `json:"from"`
	To        string     `json:"to"`
	Type      string     `json:"type" doc:"The strongest edge type."`
	Relations []Relation `json:"relations" doc:"All edge types."`
	Weight    float64    `json:"weight" doc:"All of them folded."`
	Direction string     `json:"direction" enum:"forward,backward,none" doc:"Of the strongest type, seen from the fact in from."`
	Earlier   string     `json:"earlier,omitempty" doc:"Where type is temporal_next and has a direction: the earlier fact."`
	Later     string     `json:"later,omitempty"`
}

func relatedPaths(in []rerank.Path) []RelatedPath {
	out := make([]RelatedPath, len(in))
	for i := range in {
		p := &in[i]
		out[i] = RelatedPath{Text: p.String(), Hops: hops(p.Hops), Strength: p.Strength, Score: p.Score}
		if p.Newest.Present() {
			out[i].Newest = p.Newest.String()
		}
	}
	return out
}

func hops(in []rerank.Hop) []Hop {
	out := make([]Hop, len(in))
	for i, h := range in {
		out[i] = Hop{
			From: h.From, To: h.To, Type: h.Type.String(), Relations: relations(h.Relations), Weight: h.Weight,
			Direction: string(h.Direction), Earlier: h.Earlier, Later: h.Later,
		}
	}
	return out
}
