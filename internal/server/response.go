package server

import (
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// SearchResponse is the answer of POST /v1/search.
type SearchResponse struct {
	Results     []Result    `json:"results"`
	Recall      string      `json:"recall" doc:"dense or keyword: which search found the candidates."`
	GraphRerank GraphRerank `json:"graph_rerank"`
	AppliedSeq  uint64      `json:"applied_seq" doc:"Every event up to this stream sequence is in the graph."`
}

// Result is one fact found.
type Result struct {
	ID          string         `json:"id"`
	Score       float64        `json:"score" doc:"The vector store's score."`
	GraphScore  float64        `json:"graph_score" doc:"Orders the results."`
	RankBefore  int            `json:"rank_before" doc:"Place in the recall, from 1; may exceed k."`
	RankAfter   int            `json:"rank_after"`
	Payload     map[string]any `json:"payload"`
	Explanation *Explanation   `json:"explanation,omitempty"`
}

// Explanation says where a result's boost comes from; the shares sum to boost within 1e-9.
type Explanation struct {
	Base       float64     `json:"base"`
	Boost      float64     `json:"boost"`
	Supporters []Supporter `json:"supporters"`
	CapBound   bool        `json:"cap_bound"`
}

// Supporter is a candidate that supports a result.
type Supporter struct {
	ID        string     `json:"id"`
	Relations []Relation `json:"relations"`
	Top       string     `json:"top"`
	Weight    float64    `json:"weight"`
	Sent      float64    `json:"sent"`
	Share     float64    `json:"share"`
}

// Relation is all edges of one type between a result and a supporter.
type Relation struct {
	Type     string   `json:"type"`
	Weight   float64  `json:"weight"`
	Strength float64  `json:"strength"`
	Over     []string `json:"over,omitempty"`
}

// GraphRerank is the account of the graph stage.
type GraphRerank struct {
	Status     string         `json:"status" enum:"ok,disabled,degraded"`
	Stage      string         `json:"stage,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	Pool       int            `json:"pool"`
	Eligible   int            `json:"eligible"`
	InGraph    int            `json:"in_graph"`
	Senders    int            `json:"senders"`
	Supported  int            `json:"supported"`
	Boosted    int            `json:"boosted"`
	Capped     int            `json:"capped"`
	Changed    int            `json:"changed_ranks"`
	MaxBoost   float64        `json:"max_boost"`
	Calibrated bool           `json:"calibrated" doc:"false: cosines count as they are."`
	UnreadHubs int            `json:"unread_hubs" doc:"Candidates with so many edges that those among them were not read."`
	Edges      map[string]int `json:"edges"`
	Removed    map[string]int `json:"removed,omitempty"`
	Foreign    int            `json:"foreign_dropped"`
	RecallMS   float64        `json:"recall_ms"`
	GraphMS    float64        `json:"graph_ms"`
	TotalMS    float64        `json:"total_ms"`
}

func response(a reader.Answer, applied uint64, took time.Duration) SearchResponse {
	out := SearchResponse{Results: make([]Result, len(a.Results)), Recall: string(a.Recall), GraphRerank: account(a.Rerank, took), AppliedSeq: applied}
	for i, r := range a.Results {
		out.Results[i] = Result{
			ID: r.ID, Score: r.Score, GraphScore: r.GraphScore, RankBefore: r.RankBefore, RankAfter: r.RankAfter,
			Payload: payloadJSON(r.Payload), Explanation: explanation(r),
		}
	}
	return out
}

func account(r reader.Rerank, took time.Duration) GraphRerank {
	g := GraphRerank{
		Status: string(r.Status), Stage: r.Stage, Reason: r.Reason,
		Pool: r.Pool, Eligible: r.Eligible, InGraph: r.InGraph, Senders: r.Senders, Supported: r.Supported,
		Boosted: r.Boosted, Capped: r.Capped, Changed: r.Changed, MaxBoost: r.MaxBoost, Calibrated: r.Calibrated, UnreadHubs: r.UnreadHubs,
		Edges: map[string]int{}, Foreign: r.Foreign,
		RecallMS: millis(r.RecallTook), GraphMS: millis(r.GraphTook), TotalMS: millis(took),
	}
	for _, e := range r.Edges {
		g.Edges[e.Type.String()] = e.N
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

func explanation(r reader.Result) *Explanation {
	if r.Explanation == nil {
		return nil
	}
	e := &Explanation{Base: r.Base, Boost: r.GraphScore - r.Base, Supporters: make([]Supporter, len(r.Explanation.Supporters)), CapBound: r.Explanation.CapBound}
	for i, s := range r.Explanation.Supporters {
		e.Supporters[i] = Supporter{ID: s.ID, Top: s.Top.String(), Weight: s.Weight, Sent: s.Sent, Share: s.Share, Relations: relations(s.Relations)}
	}
	return e
}

func relations(in []rerank.Relation) []Relation {
	out := make([]Relation, len(in))
	for i, r := range in {
		out[i] = Relation{Type: r.Type.String(), Weight: r.Weight, Strength: r.Strength, Over: r.Over}
	}
	return out
}

// payloadJSON writes a payload under kith's field names; absent fields are left out.
func payloadJSON(p vdb.Payload) map[string]any {
	out := make(map[string]any, len(p.Extra)+8)
	for k, v := range p.Extra {
		out[k] = v
	}
	for field, text := range map[string]string{
		vdb.FieldContent: p.Content, vdb.FieldAgentID: p.AgentID, vdb.FieldState: p.State,
		vdb.FieldEpisodeID: p.EpisodeID, vdb.FieldBatchID: p.BatchID, vdb.FieldSourceID: p.SourceID,
	} {
		if text != "" {
			out[field] = text
		}
	}
	for field, at := range map[string]time.Time{
		vdb.FieldMemoryAt: p.MemoryAt, vdb.FieldCreatedAt: p.CreatedAt, vdb.FieldValidFrom: p.ValidFrom, vdb.FieldValidTo: p.ValidTo,
	} {
		if !at.IsZero() {
			out[field] = graphstore.InstantOf(at).String()
		}
	}
	if p.Version != 0 {
		out[vdb.FieldVersion] = p.Version
	}
	if len(p.Tags) > 0 {
		out[vdb.FieldTags] = p.Tags
	}
	return out
}
