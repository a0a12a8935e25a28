package server

import (
	"time"

	"github.com/kithgraph/kith/reader"
)

// GraphRerank is the account of the graph stage.
type GraphRerank struct {
	Status string `json:"status" enum:"ok,disabled,degraded"`
	Stage  string `json:"stage,omitempty"`
	Reason string `json:"reason,omitempty"`

	Pool         int            `json:"pool"`
	Eligible     int            `json:"eligible"`
	InGraph      int            `json:"in_graph"`
	Senders      int            `json:"senders"`
	Supported    int            `json:"supported"`
	Boosted      int            `json:"boosted"`
	Capped       int            `json:"capped"`
	Changed      int            `json:"changed_ranks"`
	MaxBoost     float64        `json:"max_boost"`
	Calibrated   bool           `json:"calibrated" doc:"false: cosines count as they are."`
	Pairs        int            `json:"pairs" doc:"Pairs of candidates with an edge that may carry support."`
	Edges        map[string]int `json:"edges" doc:"Pairs by edge type."`
	EdgesCut     int            `json:"edges_truncated" doc:"Edges between candidates that were left out, the weakest, because there were too many."`
	UnreadHubs   int            `json:"unread_hubs" doc:"Candidates with so many edges that those among them were not read."`
	EpisodesOnly bool           `json:"episodes_only,omitempty" doc:"There was no graph: only facts of one episode supported each other."`
	Removed      map[string]int `json:"removed,omitempty"`
	Foreign      int            `json:"foreign_dropped"`

	Seeds         int  `json:"seeds" doc:"Candidates from which facts outside the pool were looked for."`
	Nominated     int  `json:"nominated" doc:"Facts outside the pool that they led to: the sum of beyond, unfit, gated_out, quota_dropped, discarded and admitted."`
	Beyond        int  `json:"beyond" doc:"Too weakly tied to ask the vector store about."`
	Fetched       int  `json:"fetched" doc:"Returned by the vector store."`
	Unfit         int  `json:"unfit" doc:"Not returned, not eligible, or reached only over facts that are not."`
	GatedOut      int  `json:"gated_out" doc:"Too far from the query."`
	QuotaDropped  int  `json:"quota_dropped"`
	Discarded     int  `json:"discarded" doc:"Their seed is not among the results, or no place was left."`
	Admitted      int  `json:"admitted"`
	WalkTruncated bool `json:"walk_truncated,omitempty" doc:"The search for them stopped at its bound of work."`

	Paths          int  `json:"paths"`
	PathsTruncated bool `json:"paths_truncated,omitempty" doc:"A result has so many edges that paths over it were left out."`

	StagesMS map[string]float64 `json:"stages_ms" doc:"Time per stage of the graph that finished."`
	RecallMS float64            `json:"recall_ms"`
	GraphMS  float64            `json:"graph_ms"`
	TotalMS  float64            `json:"total_ms"`
}

func account(a reader.Answer, took time.Duration) GraphRerank {
	r, x := a.Rerank, a.Rerank.Expand
	g := GraphRerank{
		Status: string(r.Status), Stage: r.Stage, Reason: r.Reason,
		Pool: r.Pool, Eligible: r.Eligible, InGraph: r.InGraph, Senders: r.Senders, Supported: r.Supported,
		Boosted: r.Boosted, Capped: r.Capped, Changed: r.Changed, MaxBoost: r.MaxBoost, Calibrated: r.Calibrated,
		Pairs: r.Pairs, Edges: map[string]int{}, EdgesCut: r.EdgesTruncated, UnreadHubs: r.UnreadHubs, EpisodesOnly: r.EpisodesOnly, Foreign: r.Foreign,
		Seeds: x.Seeds, Nominated: x.Nominated, Beyond: x.Beyond, Fetched: x.Fetched, Unfit: x.Unfit, GatedOut: x.GatedOut,
		QuotaDropped: x.QuotaDropped, Discarded: x.Discarded, Admitted: x.Admitted, WalkTruncated: x.Truncated,
		Paths: len(a.Paths), PathsTruncated: r.PathsTruncated,
		StagesMS: map[string]float64{}, RecallMS: millis(r.RecallTook), GraphMS: millis(r.GraphTook), TotalMS: millis(took),
	}
	for _, e := range r.Edges {
		g.Edges[e.Type.String()] = e.N
	}
	for _, s := range r.Stages {
		g.StagesMS[s.Stage] += millis(s.Took)
	}
	for _, m := range r.Removed {
		if g.Removed == nil {
			g.Removed = map[string]int{}
		}
		g.Removed[string(m.Reason)]++
	}
	return g
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
