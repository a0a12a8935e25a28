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
	Text string `arg:"" optional:"" help:"The question in words. Without --vector it is embedded by the configured endpoint, or searched by keyword."`

	User    string `help:"Whose memory is searched."`
	Agent   string `help:"Only facts of this agent."`
	Vector  string `placeholder:"FILE" help:"JSON array with the query's embedding; - reads standard input."`
	K       int    `default:"10" help:"Number of results."`
	Mode    string `placeholder:"dense|hybrid|keyword" help:"Which search finds the candidates; default dense. hybrid and keyword need words."`
	ValidAt string `placeholder:"TIME" help:"Search what was valid then (RFC 3339)."`
	MinSeq  uint64 `placeholder:"SEQ" help:"Wait, within the graph's budget, until the event with this stream sequence is in the graph."`
	Graph   string `placeholder:"on|off|strict" help:"Whether the graph ranks; default as configured. strict: a fault of the graph is an error."`

	Explain explainFlag `help:"Say where each score comes from; --explain=all: also why each fact that the graph put forward is not there."`

	JSON bool `help:"Print the answer as JSON."`

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
	req := server.SearchRequest{
		UserID: c.User, AgentID: c.Agent, Text: c.Text, K: &c.K, Mode: c.Mode, ValidAt: c.ValidAt, MinSeq: c.MinSeq, Graph: c.Graph,
		Explain: server.Explain(c.Explain),
	}
	if c.Vector == "" {
		return req, nil
	}
	var err error
	req.Vector, err = readVector(c.Vector)
	return req, err
}

// readVector reads a vector from a file, or from standard input if that is "-".
func readVector(path string) (vector []float32, err error) {
	read := func() ([]byte, error) { return os.ReadFile(path) }
	if path == "-" {
		read = func() ([]byte, error) { return io.ReadAll(os.Stdin) }
	}
	data, err := read()
	if err != nil {
		return nil, &usageError{fmt.Errorf("read vector: %w", err)}
	}
	if err := json.Unmarshal(data, &vector); err != nil {
		return nil, &usageError{fmt.Errorf("read vector %s: want a JSON array of numbers: %w", path, err)}
	}
	return vector, nil
}

func relationText(relations []server.Relation) string {
	parts := make([]string, len(relations))
	for i, r := range relations {
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

func content(payload map[string]any) string {
	s, _ := payload["content"].(string)
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
