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
	Results       []Result      `json:"results"`
	RelatedPaths  []RelatedPath `json:"related_paths" doc:"How results connect, strongest first."`
	Recall        string        `json:"recall" enum:"dense,hybrid,keyword" doc:"Which search found the candidates."`
	RecallNote    string        `json:"recall_note,omitempty" doc:"Why it is another one than the request asked for."`
	GraphRerank   GraphRerank   `json:"graph_rerank"`
	AppliedSeq    uint64        `json:"applied_seq" doc:"Every event up to this stream sequence is in the graph."`
	MinSeqApplied *bool         `json:"min_seq_applied,omitempty" doc:"Of a request with min_seq: whether it was applied in time."`
	Refused       []Refused     `json:"refused,omitempty" doc:"With explain all: facts that the graph put forward and that were not added."`
	Removed       []Removed     `json:"removed,omitempty" doc:"With explain all: candidates that the ranking left out."`
	Settings      *Settings     `json:"settings,omitempty" doc:"With explain: the numbers that the explanations are made of."`
}

// Result is one fact found.
type Result struct {
	ID           string         `json:"id"`
	Score        float64        `json:"score" doc:"The vector store's score; the fused one of channels after a hybrid recall."`
	GraphScore   float64        `json:"graph_score" doc:"Orders the results."`
	RankBefore   int            `json:"rank_before" doc:"Place in the recall, from 1; may exceed k; 0 for a fact that the graph added."`
	RankAfter    int            `json:"rank_after"`
	Payload      map[string]any `json:"payload"`
	Channels     *Channels      `json:"channels,omitempty" doc:"Of a hybrid recall: the scores it fused."`
	ExpandedFrom string         `json:"expanded_from,omitempty" doc:"Of a fact that the graph added: the result whose edges led to it."`
	Via          string         `json:"via,omitempty" doc:"Likewise: strongest edge type of the first hop."`
	Hops         int            `json:"hops,omitempty" doc:"Likewise."`
	Relaxed      *float64       `json:"relaxed,omitempty" doc:"Likewise: base score of expanded_from times the strength of the path."`
	Attached     []Attached     `json:"attached,omitempty" doc:"Facts that the graph added to this one, best first. They take no place."`
	Explanation  *Explanation   `json:"explanation,omitempty"`
}

// Channels are the raw scores that a hybrid recall fused.
type Channels struct {
	Dense      *float64 `json:"dense,omitempty" doc:"The cosine; absent if it is not known."`
	DenseFound bool     `json:"dense_found" doc:"Whether the fact is among the nearest: only then the cosine counts."`
	Keyword    *float64 `json:"keyword,omitempty" doc:"The keyword score; absent if the fact was not found by keyword."`
	Fused      float64  `json:"fused"`
}

// Explanation says where a score comes from: base and boost sum to the graph score, and so do base and the supporters' shares, or
// the parts of an added fact, within 1e-9.
type Explanation struct {
	Base       float64           `json:"base"`
	Boost      float64           `json:"boost"`
	Supporters []Supporter       `json:"supporters"`
	CapBound   bool              `json:"cap_bound"`
	Added      *AddedExplanation `json:"added,omitempty" doc:"Of a fact that the graph added."`
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

// Settings are the numbers that explanations are made of.
type Settings struct {
	CalLo       float64 `json:"cal_lo" doc:"Cosine that counts as base score 0; counts only where graph_rerank.calibrated is true."`
	CalHi       float64 `json:"cal_hi" doc:"Cosine that counts as base score 1; likewise."`
	Beta        float64 `json:"beta" doc:"Weight of support."`
	SupportCap  float64 `json:"support_cap"`
	Gamma       float64 `json:"gamma" doc:"Weight of an added fact's tie."`
	HopDecay    float64 `json:"hop_decay"`
	DenseWeight float64 `json:"dense_weight" doc:"Of a hybrid recall."`
	KeywordHalf float64 `json:"keyword_half" doc:"Likewise."`
}

// response translates an answer as far as the request asked for.
func (r SearchRequest) response(a reader.Answer, settings Settings, took time.Duration) SearchResponse {
	explain := r.Explain != ExplainNothing
	out := SearchResponse{
		Results: make([]Result, len(a.Results)), RelatedPaths: relatedPaths(a.Paths), Recall: string(a.Recall), RecallNote: a.RecallNote,
		GraphRerank: account(a, took), AppliedSeq: a.AppliedSeq,
	}
	for i := range a.Results {
		out.Results[i] = result(&a.Results[i], explain)
	}
	if r.MinSeq > 0 {
		out.MinSeqApplied = &a.MinSeqApplied
	}
	if explain {
		out.Settings = &settings
	}
	if r.Explain == ExplainAll {
		out.Refused, out.Removed = refused(a.Refused), removed(a.Rerank.Removed)
	}
	return out
}

func result(r *reader.Result, explain bool) Result {
	out := Result{
		ID: r.ID, Score: r.Score, GraphScore: r.GraphScore, RankBefore: r.RankBefore, RankAfter: r.RankAfter,
		Payload: payloadJSON(r.Payload), Attached: attached(r.Attached, explain), Explanation: explanation(r, explain),
	}
	if c := r.Channels; c != nil {
		out.Channels = &Channels{Dense: c.Dense, DenseFound: c.DenseFound, Keyword: c.Keyword, Fused: c.Fused}
	}
	if x := r.Expansion; x != nil {
		out.ExpandedFrom, out.Via, out.Hops, out.Relaxed = x.Seed, x.Via.String(), x.Hops, &x.Relaxed
	}
	return out
}

func explanation(r *reader.Result, explain bool) *Explanation {
	if !explain || (r.Explanation == nil && r.Expansion == nil) {
		return nil
	}
	e := &Explanation{Base: r.Base, Boost: r.GraphScore - r.Base, Supporters: []Supporter{}}
	if r.Expansion != nil {
		e.Added = addedExplanation(r.Expansion)
		return e
	}
	e.CapBound = r.Explanation.CapBound
	for _, s := range r.Explanation.Supporters {
		e.Supporters = append(e.Supporters, Supporter{
			ID: s.ID, Top: s.Top.String(), Weight: s.Weight, Sent: s.Sent, Share: s.Share, Relations: relations(s.Relations),
		})
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
