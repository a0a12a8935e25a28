package main

import (
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/reader"
)

type explainCmd struct {
	Query string `arg:"" help:"The question in words; with --vector it may be left out."`
	ID    string `arg:"" optional:"" help:"The fact."`

	User    string `required:"" help:"Whose memory is searched."`
	Agent   string `help:"Only facts of this agent."`
	Vector  string `placeholder:"FILE" help:"JSON array with the question's embedding; - reads standard input."`
	K       int    `default:"10" help:"Number of results of the answer in question."`
	Mode    string `placeholder:"dense|hybrid|keyword" help:"Which search finds the candidates; default dense."`
	ValidAt string `placeholder:"TIME" help:"Search what was valid then (RFC 3339)."`
}

// Run asks the question and accounts for the one fact.
func (c explainCmd) Run(e *env) (err error) {
	if c.ID == "" {
		if c.Vector == "" {
			return &usageError{fmt.Errorf("explain: want a question and the id of a fact, or --vector and the id")}
		}
		c.Query, c.ID = "", c.Query
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	e.printf("asked %s\n\n", cl.via)
	x := explainer{e: e, cl: cl, id: graphstore.CanonicalFactID(c.ID), req: req}
	return x.run()
}

func (c explainCmd) request() (server.SearchRequest, error) {
	req := server.SearchRequest{
		UserID: c.User, AgentID: c.Agent, Text: c.Query, K: &c.K, Mode: c.Mode, ValidAt: c.ValidAt, Explain: server.ExplainAll,
	}
	if c.Vector == "" {
		return req, nil
	}
	var err error
	req.Vector, err = readVector(c.Vector)
	return req, err
}

// explainer looks for one fact in what became of a question.
type explainer struct {
	e   *env
	cl  *client
	id  string
	req server.SearchRequest
}

// run looks among the results, then among what was left out of them, then further down the pool, then beyond it.
func (x explainer) run() error {
	a, err := x.cl.search(x.e.ctx, x.req)
	if err != nil {
		return err
	}
	if g := a.GraphRerank; g.Status != "ok" {
		x.e.printf("the graph did not rank this answer: %s %s%s\n", g.Status, g.Stage, parenthesis(g.Reason))
	}
	if a.RecallNote != "" {
		x.e.printf("found by %s: %s\n", a.Recall, a.RecallNote)
	}
	if done, err := x.inAnswer(a); done {
		return err
	}
	if x.leftOut(a) {
		return nil
	}
	return x.further(a)
}

func parenthesis(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// inAnswer explains the fact if the answer has it.
func (x explainer) inAnswer(a server.SearchResponse) (bool, error) {
	for _, r := range a.Results {
		if r.ID == x.id {
			return true, x.result(a, r)
		}
		for _, added := range r.Attached {
			if added.ID != x.id {
				continue
			}
			x.e.printf("%s  %s\nattached to %s, result %d; it takes no place\n\n", x.id, cut(content(added.Payload), 90), r.ID, r.RankAfter)
			return true, x.added(a, factOf(added))
		}
	}
	return false, nil
}

// leftOut says why a fact that was put forward or recalled is not in the answer.
func (x explainer) leftOut(a server.SearchResponse) bool {
	for _, r := range a.Refused {
		if r.ID != x.id {
			continue
		}
		x.e.printf("%s was put forward and refused: %s\n", x.id, refusalText(r))
		x.e.printf("  the graph led to it: %s; relaxed %.9f\n", wayText(r.ExpandedFrom, r.Via, r.Hops), r.Relaxed)
		if r.Base != nil {
			x.e.printf("  its base score is %.9f; the gate of %s asks for %.9f (margin %+.9f)\n", *r.Base, r.ExpandedFrom, *r.Base-*r.GateMargin, *r.GateMargin)
		}
		return true
	}
	for _, r := range a.Removed {
		if r.ID == x.id {
			x.e.printf("%s was recalled and removed: %s\n", x.id, removalText(r.Reason))
			return true
		}
	}
	return false
}

// further looks for a fact that is no part of the answer among the rest of the pool, then among all that a search can see.
func (x explainer) further(a server.SearchResponse) error {
	pool := a.GraphRerank.Pool
	if pool == 0 { // not ranked: every candidate is as the recall has it
		pool = min(max(reader.MinPool, 4**x.req.K), reader.MaxPool)
	}
	req := x.req
	req.K, req.Pool = &pool, &pool
	rest, err := x.cl.search(x.e.ctx, req)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(rest.Results, func(r server.Result) bool { return r.ID == x.id && r.ExpandedFrom == "" }); i >= 0 {
		x.e.printf("not among the %d results, but in the pool:\n", *x.req.K)
		return x.result(rest, rest.Results[i])
	}
	all := reader.MaxPool
	req.K, req.Pool, req.Graph, req.Explain = &all, &all, "off", server.ExplainNothing
	deep, err := x.cl.search(x.e.ctx, req)
	if err != nil {
		return err
	}
	x.e.printf("%s is not in the pool of %d candidates, and the graph did not put it forward from any of them\n", x.id, pool)
	if i := slices.IndexFunc(deep.Results, func(r server.Result) bool { return r.ID == x.id }); i >= 0 {
		r := deep.Results[i]
		x.e.printf("  it would be candidate %d, with score %.9f: %s\n", r.RankBefore, r.Score, cut(content(r.Payload), 90))
		return nil
	}
	x.e.printf("  nor is it among the first %d that a %s search finds: it is farther away, not active or valid at that time, another user's or agent's, or not there\n", all, deep.Recall)
	return nil
}
