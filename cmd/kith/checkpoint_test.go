package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// A backfill that was killed is resumed with the collection and the mapping that it was begun with, and not over a graph that was
// rebuilt or restored meanwhile, which may lack what it had written.
func TestCheckpointsAreOfACollectionAndAGraph(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	var points []wire.Point
	for i := range 400 {
		points = append(points, wire.Point{ID: uint64(i), Payload: map[string]any{"user_id": "ann", "tags": []any{"tea"}}, Vectors: map[string]any{"": []float32{1, float32(i)}}})
	}
	for _, name := range []string{"theirs", "others"} {
		srv.Fill(t, name, oneVector("", vdb.VectorDense, "Cosine"), points...)
	}
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	accountOf(t, exitOK, onQdrant(srv, dir, "backfill", "--json", "--no-neighbors", "--user=nobody")) // there is a graph
	if code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "backup", copied); code != exitOK {
		t.Fatalf("backup: %d %s%s", code, out, errs)
	}
	interrupt := func() {
		t.Helper()
		g := startGroup(t, dir, []string{"QDRANT_URL=http://" + srv.Addr(), "QDRANT_COLLECTION=theirs"}, "backfill", "--json", "--no-neighbors", "--rate=100")
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if cp, ok := readProofCheckpoint(dir); ok && cp.Report.Scanned > 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("no checkpoint\n%s%s", g.out, g.log)
			}
		}
		if !g.killGroup() {
			t.Fatal("it had ended")
		}
	}
	resume := func(more ...string) (int, string) {
		t.Helper()
		code, _, errs := kith(t, append(onQdrant(srv, dir, "backfill", "--json", "--no-neighbors", "--resume"), more...)...)
		return code, errs
	}

	interrupt()
	for says, flags := range map[string][]string{
		"this is collection others":                      {"--qdrant-collection=others"},
		"fields source_id=from":                          {"--qdrant-fields=source_id=from"},
		"preset mem0":                                    {"--qdrant-preset=mem0"},
		"is of collection theirs at " + srv.Addr() + ",": {"--qdrant-collection=others"},
	} {
		if code, errs := resume(flags...); code == exitOK || !strings.Contains(errs, says) {
			t.Errorf("%v: %d %s", flags, code, errs)
		}
	}
	if code, errs := resume(); code != exitOK {
		t.Errorf("with the same: %d %s", code, errs)
	}
	want := fileDigest(t, dir)

	for name, args := range map[string][]string{
		"restored": {"--data-dir", dir, "--log-level=error", "restore", "--replace", copied},
		"rebuilt":  onQdrant(srv, dir, "rebuild", "--from-store", "--no-neighbors", "--force"),
		"a user":   onQdrant(srv, dir, "rebuild", "--from-store", "--no-neighbors", "--force", "--user=ann"),
	} {
		interrupt()
		if code, out, errs := kith(t, args...); code != exitOK {
			t.Fatalf("%s: %d %s%s", name, code, out, errs)
		}
		if code, errs := resume(); code == exitOK || !strings.Contains(errs, "no checkpoint") {
			t.Errorf("%s, then resumed: %d %s", name, code, errs)
		}
		accountOf(t, exitOK, onQdrant(srv, dir, "backfill", "--json", "--no-neighbors"))
		if got := fileDigest(t, dir); got != want {
			t.Errorf("%s: digest %s, want %s", name, got, want)
		}
	}
}
