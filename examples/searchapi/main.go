// Command searchapi is a search API over one's own Qdrant, ranked by the graph: POST /search with a [reader.Query], like
// {"space": "ann", "text": "who knows about pools?", "k": 5}. Whose space it is, your authentication has to say.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/kithgraph/kith/embed"
	"github.com/kithgraph/kith/graphstore/kuzu"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb/qdrant"
)

func main() {
	vectors, errVectors := qdrant.New(qdrant.Config{URL: os.Getenv("QDRANT_URL"), APIKey: os.Getenv("QDRANT_API_KEY"), Collection: "notes"})
	texts, errTexts := embed.New(embed.Config{URL: os.Getenv("EMBED_URL"), Key: os.Getenv("EMBED_KEY"), Model: "bge-small"})
	store, errStore := kuzu.Open(os.Getenv("GRAPH"), kuzu.Config{}) // the file has one owner: who projects events here too
	graph := live.New(store, live.Config{})
	search, errReader := reader.New(vectors, graph, reader.Config{Rerank: rerank.DefaultSettings(), Embedder: texts})
	if err := errors.Join(errVectors, errTexts, errStore, errReader); err != nil {
		log.Fatal(err)
	}
	go func() { log.Print("loading the graph ended with: ", graph.Load(context.Background())) }() // meanwhile the vectors' order stands
	http.HandleFunc("POST /search", func(w http.ResponseWriter, r *http.Request) {
		var q reader.Query
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if answer, err := search.Search(r.Context(), q); errors.Is(err, reader.ErrBadQuery) {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		} else if err := json.NewEncoder(w).Encode(answer); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServe(os.Getenv("LISTEN"), nil))
}
