package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// rotatingUsers is how many users are searched in turn, of which the limit of memory holds about a third.
const rotatingUsers = 15

// writeUsers writes events of many users, with each fact tied to an earlier one, an entity and a tag.
func writeUsers(t *testing.T, users, facts int) string {
	t.Helper()
	var b bytes.Buffer
	for k := range facts {
		for u := range users {
			line, err := json.Marshal(map[string]any{
				"specversion": "1.0", "id": fmt.Sprintf("r%d-%d", u, k), "source": "test", "type": "memory.facts.written.v1",
				"time": time.Unix(1_780_000_000+int64(k), 0).UTC(),
				"data": map[string]any{"user_id": fmt.Sprintf("user-%d", u), "facts": []any{map[string]any{
					"id": fmt.Sprintf("f%d", k), "op": "add", "version": k + 1, "content": fmt.Sprintf("fact %d", k),
					"tags": []string{fmt.Sprintf("tag %d", k%5)}, "entities": []map[string]any{{"name": fmt.Sprintf("Entity %d", k%17), "type": "person"}},
					"relations": []map[string]any{{"to": fmt.Sprintf("f%d", k/2), "type": "elaborates", "weight": .8}},
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
	}
	file := filepath.Join(t.TempDir(), "users.jsonl")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// chaosEviction searches and writes more users in turn than memory may hold, and compares every user's graph afterwards.
func chaosEviction(t *testing.T, rng *rand.Rand) (o outcome) {
	facts := full(400, 300)
	w := newWorldOf(t, rng, writeUsers(t, rotatingUsers, facts), facts*rotatingUsers, rotatingUsers, "KITH_GRAPH_MEMORY=1048576", "MEMORY_GRAPH_BUDGET_MS=2000")
	w.start()
	eventually(t, w.p, func() bool { h, err := w.health(); return err == nil && h.GraphLoaded })
	ranked := 0
	for round := range full(4, 2) {
		for u := range rotatingUsers {
			a, err := w.cl.search(context.Background(), searchRequest(fmt.Sprintf("user-%d", u)))
			o.searches++
			if err != nil || len(a.Results) != 2 {
				o.failedSearches++
				t.Logf("round %d user %d: %d results, %v", round, u, len(a.Results), err)
			}
			if rankedByGraph(a) {
				ranked++
			}
		}
	}
	w.caughtUp()
	for user, want := range w.byUser {
		o.injected++
		got, err := w.cl.digest(context.Background(), user)
		if err == nil && got == want.String() {
			o.survived++
		} else {
			t.Errorf("graph of %s: %s, %v: want %s", user, got, err, want)
		}
	}
	st, err := w.stats()
	if err != nil {
		t.Fatal(err)
	}
	if st.Graph.Evictions == 0 || st.Graph.Reloads == 0 || st.Graph.MemoryBytes > st.Graph.MemoryLimit {
		t.Errorf("evictions %d, reloads %d, %d bytes of at most %d: want the limit to have been at work", st.Graph.Evictions, st.Graph.Reloads,
			st.Graph.MemoryBytes, st.Graph.MemoryLimit)
	}
	o.effects, o.ranked = st.Graph.Evictions, ranked
	if ranked < o.searches/2 {
		t.Errorf("%d of %d searches were ranked by the graph", ranked, o.searches)
	}
	o.note = fmt.Sprintf("%d evictions, %d reloads, %d of %d searches ranked", st.Graph.Evictions, st.Graph.Reloads, ranked, o.searches)
	w.settled(&o)
	return o
}
