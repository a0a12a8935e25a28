package main

import "github.com/kithgraph/kith/internal/server"

// rankedByGraph reports whether an answer is in the graph's order. On a busy machine the second call to the vector store may be late: the
// answer is degraded then, and its pool ranked all the same.
func rankedByGraph(a server.SearchResponse) bool {
	return a.GraphRerank.Status == "ok" || a.GraphRerank.Pool > 0
}
