package main

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/calibrate"
	"github.com/kithgraph/kith/vdb"
)

// question is one line of a file of questions; other fields are ignored.
type question struct {
	ID       string    `json:"id"`
	UserID   string    `json:"user_id"`
	Vector   []float32 `json:"vector"`
	Question string    `json:"question"`
	Text     string    `json:"text"`
}

// readQuestions reads the questions, those of one user if space says so. A question without a vector is embedded.
func (c calibrateCmd) readQuestions(e *env, store vdb.Store, space graphstore.Space) ([]calibrate.Query, error) {
	var queries []calibrate.Query
	var texts []string
	var at []int // which question a text is
	err := eachLine(c.Queries, func(n int, line []byte) error {
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("%s line %d: want {user_id, vector} or {user_id, question}: %w", c.Queries, n, err)
		}
		of, err := graphstore.NewSpace(cmp.Or(q.UserID, string(c.User)))
		if err != nil {
			return fmt.Errorf("%s line %d: user_id: %w", c.Queries, n, err)
		}
		if c.User != "" && of != space {
			return nil
		}
		text := cmp.Or(q.Question, q.Text)
		switch {
		case len(q.Vector) > 0:
		case text == "":
			return fmt.Errorf("%s line %d: vector, question: both empty: want one of them", c.Queries, n)
		case e.cfg.Embed.URL == "":
			return fmt.Errorf("%s line %d: vector: missing, and no embeddings endpoint is configured to make one (KITH_EMBED_URL)", c.Queries, n)
		default:
			texts, at = append(texts, text), append(at, len(queries))
		}
		queries = append(queries, calibrate.Query{Name: fmt.Sprintf("%s line %d", c.Queries, n), Space: of, Vector: q.Vector})
		return nil
	})
	if err != nil || len(texts) == 0 {
		return queries, err
	}
	embedder, err := e.newEmbedder(store, e.cfg.Embed.QueryPrefix)
	if err != nil {
		return nil, err
	}
	defer embedder.close()
	vectors, err := embedder.embedAll(e.ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed questions: %w", err)
	}
	for i, v := range vectors {
		queries[at[i]].Vector = v
	}
	return queries, nil
}
