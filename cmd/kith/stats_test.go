package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatsCountEveryKind projects one event of each sort that leaves a record which is no fact, entity, topic or edge: a
// schema of which one piece of evidence is a fact of the graph and the other is not, a merge, a retraction.
func TestStatsCountEveryKind(t *testing.T) {
	dir := t.TempDir()
	events := filepath.Join(t.TempDir(), "events.jsonl")
	lines := strings.Join([]string{
		statsEvent("memory.facts.written.v1", `"facts":[{"id":"f1","op":"add","version":1,"content":"x","entities":[{"name":"Grace"}]}]`),
		statsEvent("memory.schema.upserted.v1", `"schema_id":"s1","level":"l6","title":"Ships","evidence":["f1","f2"]`),
		statsEvent("memory.entity.merged.v1", `"kept":{"name":"Grace"},"merged":{"name":"Gracie"}`),
		statsEvent("memory.source.retracted.v1", `"source_id":"doc"`),
	}, "\n")
	if err := os.WriteFile(events, []byte(lines+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	publish(t, dir, events)
	p, cl := serve(t, dir)
	projected(t, p, cl, 4)
	_, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "stats")
	if want := "1 schemas, 1 refs, 1 merges, 1 tombstones"; !strings.Contains(out, want) {
		t.Errorf("%s%s\nwant %s", out, errs, want)
	}
	p.terminate(t)
}

// statsEvent is a line of an event of one user.
func statsEvent(typ, data string) string {
	return `{"specversion":"1.0","id":"` + typ + `","source":"test","type":"` + typ + `","time":"2026-09-01T00:00:00Z","data":{"user_id":"ann",` + data + `}}`
}
