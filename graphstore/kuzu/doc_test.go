package kuzu

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// TestDocumentedQueriesForOperators runs the queries of docs/kuzu.md as they stand there.
func TestDocumentedQueriesForOperators(t *testing.T) {
	page, err := os.ReadFile("../../docs/kuzu.md")
	if err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, t.TempDir()+"/graph", testConfig())
	defer s.Close()
	f := graphstore.Fact{ID: "f1", State: graphstore.StateActive}
	f.Registers.Base = graphstore.Stamp{Version: 1, At: 5, Source: "doc"}
	mustApply(t, s, append(minorRecords(ada), graphstore.PutFact(ada, f), factOf(ada, "f2"))...)
	want := []string{"[[s1 Ships Memory f1] [s1 Ships VdbRef f9]]", "[[e1 e2 0 she said so 8]]", "[[f1 active 5]]"}
	var got []string
	for _, block := range strings.Split(string(page), "```cypher\n")[1:] {
		query, _, _ := strings.Cut(block, "```")
		var rows [][]any
		err := s.read(t.Context(), func(session *session) error {
			return session.query(strings.Join(strings.Fields(query), " "), nil, func(row []any) error {
				rows = append(rows, slices.Clone(row))
				return nil
			})
		})
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		got = append(got, fmt.Sprint(rows))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDocumentedQueryReadsNames runs the query of the package documentation as it stands there.
func TestDocumentedQueryReadsNames(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var query []string
	for line := range strings.Lines(string(source)) {
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			query = append(query, strings.TrimSpace(code))
		}
	}
	s := mustOpen(t, t.TempDir()+"/graph", testConfig())
	defer s.Close()
	mentions := graphstore.PutEdge(ada, graphstore.Edge{Source: "f1", Target: "e1", Type: graphstore.Mentions, Weight: 0.5,
		Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "f1"}})
	mustApply(t, s, factOf(ada, "f1"), graphstore.PutEntity(ada, graphstore.Entity{ID: "e1", Name: "Grace", Norm: "grace"}), mentions,
		factOf(bob, "f1"), graphstore.PutEntity(bob, graphstore.Entity{ID: "e1", Name: "Alan", Norm: "alan"}))
	rows := 0
	err = s.read(t.Context(), func(session *session) error {
		return session.query(strings.Join(query, " "), nil, func(row []any) error {
			rows++
			if row[0] != "f1" || row[1] != "active" || row[2] != "Grace" || row[3] != 0.5 {
				t.Errorf("got %v", row)
			}
			return nil
		})
	})
	if err != nil || rows != 1 {
		t.Errorf("%d rows, %v, want the one mention", rows, err)
	}
}
