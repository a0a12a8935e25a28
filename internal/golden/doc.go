// Package golden holds the golden ranking: what a search over the sample ([github.com/kithgraph/kith/internal/sample])
// answers, question by question, with and without the graph, and how good that is. It has no code of its own beside tests.
//
// testdata/golden holds one file for each question and a table. A change of the ranking shows there as a change of files,
// to be read before it is accepted:
//
//	go test ./internal/golden            # compares
//	go test ./internal/golden -update    # writes them, and the table in docs/golden.md
//
// The same table for other data, which is not compared with anything:
//
//	go test ./internal/golden -run TestMuSiQue -musique DIR -v
//
// DIR holds events.jsonl, points.jsonl and questions.jsonl in the formats of the sample.
package golden
