package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/internal/eval"
	"github.com/kithgraph/kith/internal/server"
)

// recallAt is the k of the recall that comparisons report.
const recallAt = 5

// comparePool is the pool that both orders rank and show: the default of a search for ten.
const comparePool = 50

// knownQuery is a query with the ids of the facts that answer it.
type knownQuery struct {
	ID       string    `json:"id"`
	UserID   string    `json:"user_id"`
	Question string    `json:"question"`
	Vector   []float32 `json:"vector"`
	Answers  []string  `json:"answers"`
	Kind     string    `json:"kind"`
}

// readQueries reads a file of queries, all or those with the ids in only.
func readQueries(path string, only []string) ([]knownQuery, error) {
	var queries []knownQuery
	err := eachLine(path, func(n int, line []byte) error {
		var q knownQuery
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("%s line %d: %w", path, n, err)
		}
		if len(q.Answers) == 0 {
			return fmt.Errorf("%s line %d: answers: empty: want the ids of the facts that answer the question", path, n)
		}
		if len(only) == 0 || slices.Contains(only, q.ID) {
			queries = append(queries, q)
		}
		return nil
	})
	if err == nil && len(queries) < max(1, len(only)) {
		err = fmt.Errorf("%s: %d queries found of %v", path, len(queries), only)
	}
	return queries, err
}

// comparison is one query answered in both orders.
type comparison struct {
	query        knownQuery
	plain, graph server.SearchResponse
}

// compare answers every query in plain and in graph order, prints what moved and the recall of both. With all set it
// also prints queries whose answers did not move.
func compare(e *env, cl *client, queries []knownQuery, all bool) error {
	var done []comparison
	unmoved, degraded := 0, 0
	for _, q := range queries {
		c, err := cl.both(e, q)
		if err != nil {
			return fmt.Errorf("query %s: %w", q.ID, err)
		}
		if g := c.graph.GraphRerank; g.Status != "ok" {
			degraded++
			e.printf("%s  left out: graph %s, %s: %s\n", q.ID, g.Status, g.Stage, g.Reason)
			continue
		}
		done = append(done, c)
		if all || c.answersMoved() {
			c.print(e)
		} else {
			unmoved++
		}
	}
	if len(done) == 0 {
		return fmt.Errorf("none of %d questions was ranked by the graph", degraded)
	}
	if unmoved > 0 {
		e.printf("%d more questions whose answers stand where they stood.\n\n", unmoved)
	}
	return printVerdict(e, done)
}

func (c *client) both(e *env, q knownQuery) (comparison, error) {
	pool := comparePool
	req := server.SearchRequest{UserID: q.UserID, Vector: q.Vector, K: &pool, Pool: &pool, Graph: "off"}
	plain, err := c.search(e.ctx, req)
	if err != nil {
		return comparison{}, err
	}
	req.Graph, req.Explain = "on", server.ExplainResults
	graph, err := c.search(e.ctx, req)
	if err != nil {
		return comparison{}, err
	}
	return comparison{q, plain, graph}, nil
}

// rank returns the place of a fact in the results, 0 when it is not there.
func rank(results []server.Result, id string) int { return eval.Rank(ids(results), id) }

func ids(results []server.Result) []string {
	ids := make([]string, len(results))
	for i, r := range results {
		ids[i] = r.ID
	}
	return ids
}

func (c comparison) answersMoved() bool {
	return slices.ContainsFunc(c.query.Answers, func(id string) bool {
		return rank(c.plain.Results, id) != rank(c.graph.Results, id)
	})
}

func (c comparison) print(e *env) {
	e.printf("%s  %s: %s\n", c.query.ID, c.query.UserID, c.query.Question)
	e.printf("   %-44s | %s\n", "plain", "graph")
	for i := range recallAt {
		e.printf("   %-44s | %s\n", c.line(c.plain.Results, i), c.line(c.graph.Results, i))
	}
	for _, id := range c.query.Answers {
		before, after := rank(c.plain.Results, id), rank(c.graph.Results, id)
		if before == after {
			continue
		}
		e.printf("   answer %s: %s -> %s\n", shortID(id), place(before), place(after))
		if after > 0 {
			c.printSupport(e, c.graph.Results[after-1])
		}
	}
	e.printf("\n")
}

// printSupport prints the three strongest reasons for a boost.
func (c comparison) printSupport(e *env, r server.Result) {
	if r.Explanation == nil || len(r.Explanation.Supporters) == 0 {
		e.printf("      no support of its own: others were boosted or removed\n")
		return
	}
	for _, s := range r.Explanation.Supporters[:min(3, len(r.Explanation.Supporters))] {
		text := s.ID
		if i := rank(c.graph.Results, s.ID); i > 0 {
			text = shortID(s.ID) + " " + cut(content(c.graph.Results[i-1].Payload), 56)
		}
		e.printf("      %+.4f %s: %s\n", s.Share, relationText(s.Relations), text)
	}
}

// line is one result as a cell: * marks an answer.
func (c comparison) line(results []server.Result, i int) string {
	if i >= len(results) {
		return ""
	}
	mark := " "
	if slices.Contains(c.query.Answers, results[i].ID) {
		mark = "*"
	}
	return fmt.Sprintf("%s%d %s", mark, i+1, cut(content(results[i].Payload), 40))
}

func shortID(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}

func place(rank int) string {
	if rank == 0 {
		return "not in the pool"
	}
	return fmt.Sprintf("%d", rank)
}

// printVerdict prints recall@5 of both orders and says what the difference is worth.
func printVerdict(e *env, done []comparison) error {
	plain, graph := make([]float64, len(done)), make([]float64, len(done))
	var sum float64
	for i, c := range done {
		plain[i] = eval.RecallAt(ids(c.plain.Results), c.query.Answers, recallAt)
		graph[i] = eval.RecallAt(ids(c.graph.Results), c.query.Answers, recallAt)
		sum += plain[i]
	}
	d, err := eval.Compare(graph, plain)
	if err != nil {
		return err
	}
	before := sum / float64(d.N)
	e.printf("recall@%d over %d questions: plain %.3f, graph %.3f (%+.3f, 95 %% interval %+.3f to %+.3f); better on %d, worse on %d\n",
		recallAt, d.N, before, before+d.Mean, d.Mean, d.Low, d.High, d.Better, d.Worse)
	e.printf("verdict: %s\n", verdict(d))
	return nil
}

func verdict(d eval.Difference) string {
	switch d.Verdict() {
	case eval.Helps:
		return "the graph helps here"
	case eval.Harms:
		return "the graph does not help here, it harms: switch it off (MEMORY_GRAPH_RERANK_ENABLED=false)"
	case eval.Alike:
		return "the graph changes nothing here that recall@5 can see"
	default:
		return "the difference is within chance: these questions do not show that the graph helps"
	}
}
