package server

import (
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
)

// Attached is a fact that the graph added to a result. It takes no place among the results.
type Attached struct {
	ID           string         `json:"id"`
	Score        float64        `json:"score" doc:"The vector store's score."`
	GraphScore   float64        `json:"graph_score" doc:"Orders the facts attached to one result; below the result's."`
	Payload      map[string]any `json:"payload"`
	ExpandedFrom string         `json:"expanded_from" doc:"The result whose edges led to it."`
	Via          string         `json:"via" doc:"Strongest edge type of the first hop."`
	Hops         int            `json:"hops"`
	Relaxed      float64        `json:"relaxed" doc:"Base score of expanded_from times the strength of the path."`
	Explanation  *Explanation   `json:"explanation,omitempty"`
}

// AddedExplanation says how an added fact came in. The parts sum to its graph score within 1e-9.
type AddedExplanation struct {
	Path       []string `json:"path" doc:"Fact ids from expanded_from to the fact."`
	Parts      Parts    `json:"parts"`
	GateMargin float64  `json:"gate_margin" doc:"By how much its base score is above what the gate of expanded_from asks for."`
	Quota      int      `json:"quota,omitempty" doc:"How many facts may be added over its via; absent without a bound."`
	QuotaPlace int      `json:"quota_place" doc:"Its place among those that were, from 1."`
}

// Parts is where the graph score of an added fact comes from.
type Parts struct {
	Base    float64 `json:"base" doc:"Its own base score."`
	Tie     float64 `json:"tie" doc:"Weight of the tie times relaxed."`
	Keyword float64 `json:"keyword"`
	Episode float64 `json:"episode"`
	Held    float64 `json:"held" doc:"0 or less: what was taken to keep it below expanded_from."`
}

// Refused is a fact that the graph put forward and that was not added.
type Refused struct {
	ID           string   `json:"id"`
	ExpandedFrom string   `json:"expanded_from"`
	Via          string   `json:"via"`
	Hops         int      `json:"hops"`
	Relaxed      float64  `json:"relaxed"`
	Reason       string   `json:"reason"`
	Base         *float64 `json:"base,omitempty" doc:"Its base score; absent if it was refused before it had one."`
	GateMargin   *float64 `json:"gate_margin,omitempty" doc:"Base score minus what the gate of expanded_from asks for; absent likewise."`
}

// Removed is a candidate that the ranking left out.
type Removed struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

func attached(in []reader.Result, explain bool) []Attached {
	out := make([]Attached, len(in))
	for i := range in {
		r := &in[i]
		out[i] = Attached{
			ID: r.ID, Score: r.Score, GraphScore: r.GraphScore, Payload: payloadJSON(r.Payload), Explanation: explanation(r, explain),
			ExpandedFrom: r.Expansion.Seed, Via: r.Expansion.Via.String(), Hops: r.Expansion.Hops, Relaxed: r.Expansion.Relaxed,
		}
	}
	return out
}

func addedExplanation(x *reader.Expansion) *AddedExplanation {
	p := x.Parts
	return &AddedExplanation{
		Path: x.Path, Parts: Parts{Base: p.Base, Tie: p.Tie, Keyword: p.Keyword, Episode: p.Episode, Held: p.Held},
		GateMargin: x.Margin, Quota: x.Quota, QuotaPlace: x.QuotaPlace,
	}
}

func refused(in []rerank.Refusal) []Refused {
	out := make([]Refused, len(in))
	for i := range in {
		r := &in[i]
		out[i] = Refused{ID: r.ID, ExpandedFrom: r.Seed, Via: r.Via.String(), Hops: r.Hops, Relaxed: r.Relaxed, Reason: string(r.Reason)}
		switch r.Reason {
		case rerank.ReasonGate, rerank.ReasonFloor, rerank.ReasonMaxExpand, rerank.ReasonQuota, rerank.ReasonPerSeed, rerank.ReasonShare, rerank.ReasonSeedOutside:
			out[i].Base, out[i].GateMargin = &r.Base, &r.Margin
		}
	}
	return out
}

func removed(in []rerank.Removed) []Removed {
	out := make([]Removed, len(in))
	for i, r := range in {
		out[i] = Removed{ID: r.ID, Reason: string(r.Reason)}
	}
	return out
}
