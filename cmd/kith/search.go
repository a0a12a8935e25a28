package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kithgraph/kith/internal/server"
)

type searchCmd struct {
	Text string `arg:"" optional:"" help:"Words to search for, when there is no vector."`

	User    string `help:"Whose memory is searched."`
	Agent   string `help:"Only facts of this agent."`
	Vector  string `placeholder:"FILE" help:"JSON array with the query's embedding; - reads standard input."`
	K       int    `default:"10" help:"Number of results."`
	ValidAt string `placeholder:"TIME" help:"Search what was valid then (RFC 3339)."`
	Graph   string `placeholder:"on|off|strict" help:"Whether the graph ranks; default as configured. strict: a fault of the graph is an error."`
	Explain bool   `help:"Say where each boost comes from."`
	JSON    bool   `help:"Print the answer as JSON."`

	Queries string   `placeholder:"FILE" help:"Run the queries of a JSON lines file {id, user_id, question, vector, answers} and compare plain with graph order."`
	Only    []string `placeholder:"ID" help:"Of --queries, only these."`
}

// Run answers one query, or compares the two orders over a file of queries.
func (c searchCmd) Run(e *env) (err error) {
	if (c.Queries == "") == (c.User == "") {
		return &usageError{fmt.Errorf("search: want either --user or --queries")}
	}
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	if c.Queries != "" {
		queries, err := readQueries(c.Queries, c.Only)
		if err != nil {
			return err
		}
		e.printf("asked %s\n\n", cl.via)
		return compare(e, cl, queries, len(c.Only) > 0)
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	answer, err := cl.search(e.ctx, req)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(answer)
	}
	e.printf("asked %s\n\n", cl.via)
	printAnswer(e, answer)
	return nil
}

func (c searchCmd) request() (server.SearchRequest, error) {
	req := server.SearchRequest{UserID: c.User, AgentID: c.Agent, Text: c.Text, K: &c.K, ValidAt: c.ValidAt, Graph: c.Graph, Explain: c.Explain}
	if c.Vector == "" {
		return req, nil
	}
	read := func() ([]byte, error) { return os.ReadFile(c.Vector) }
	if c.Vector == "-" {
		read = func() ([]byte, error) { return io.ReadAll(os.Stdin) }
	}
	data, err := read()
	if err != nil {
		return req, &usageError{fmt.Errorf("read vector: %w", err)}
	}
	if err := json.Unmarshal(data, &req.Vector); err != nil {
		return req, &usageError{fmt.Errorf("read vector %s: want a JSON array of numbers: %w", c.Vector, err)}
	}
	return req, nil
}

// printAnswer prints one answer for a person.
func printAnswer(e *env, a server.SearchResponse) {
	for _, r := range a.Results {
		e.printf("%2d. %s %.4f  %s  %s\n", r.RankAfter, move(r.RankBefore, r.RankAfter), r.GraphScore, r.ID, cut(content(r), 90))
		if r.Explanation != nil {
			e.printf("       %.4f of its own\n", r.Explanation.Base)
			for _, s := range r.Explanation.Supporters {
				e.printf("      %+.4f from %s over %s\n", s.Share, s.ID, relationText(s))
			}
		}
	}
	g := a.GraphRerank
	if len(a.Results) > 0 {
		e.printf("\n")
	}
	e.printf("%d results by %s recall; graph %s", len(a.Results), a.Recall, g.Status)
	if g.Reason != "" {
		e.printf(" (%s)", strings.TrimPrefix(g.Stage+": "+g.Reason, ": "))
	}
	e.printf("; %d of %d candidates moved; recall %.2f ms, graph %.3f ms\n", g.Changed, g.Pool, g.RecallMS, g.GraphMS)
}

func relationText(s server.Supporter) string {
	parts := make([]string, len(s.Relations))
	for i, r := range s.Relations {
		parts[i] = r.Type
		if len(r.Over) > 0 {
			over := slices.Clone(r.Over)
			parts[i] += " (" + strings.Join(over, ", ") + ")"
		}
	}
	return strings.Join(parts, " + ")
}

// move shows how a result moved: +2 is two places up.
func move(before, after int) string {
	if before == after {
		return "  ="
	}
	return fmt.Sprintf("%+3d", before-after)
}

func content(r server.Result) string {
	s, _ := r.Payload["content"].(string)
	return s
}

// cut shortens a text to n runes for a line of a table.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}
