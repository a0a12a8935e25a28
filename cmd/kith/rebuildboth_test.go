package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/internal/server"
)

// rebuiltFrom is rebuildIn without a source, or with others than the stream alone.
func rebuiltFrom(t *testing.T, dir string, args ...string) (server.Rebuild, int, string) {
	t.Helper()
	code, out, errs := kith(t, append([]string{"--data-dir", dir, "--log-level=warn", "rebuild", "--json"}, args...)...)
	var r server.Rebuild
	if out != "" {
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return r, code, errs
}

func mustRebuildFrom(t *testing.T, dir string, args ...string) server.Rebuild {
	t.Helper()
	r, code, errs := rebuiltFrom(t, dir, args...)
	if code != exitOK || !r.Done {
		t.Fatalf("rebuild: %d %s: %+v", code, errs, r)
	}
	return r
}

// originsWorld is a data directory of three users: of ann there are events and points, of bob points alone, of cid events alone.
func originsWorld(t *testing.T) string {
	t.Helper()
	dir, files := t.TempDir(), t.TempDir()
	event := func(n int, user, data string) string {
		return fmt.Sprintf(`{"specversion":"1.0","id":"e%d","source":"test","type":"memory.facts.written.v1","time":"2026-01-01T00:00:%02dZ","data":{"user_id":%q,%s}}`+"\n", n, n, user, data)
	}
	events := event(1, "ann", `"batch_id":"b1","facts":[{"id":"f1","op":"add","version":1,"tags":["tea"],"relations":[{"to":"f9","type":"elaborates"}]},{"id":"f2","op":"add","version":2,"tags":["tea"]}]`) +
		event(2, "ann", `"facts":[{"id":"f4","op":"add","version":4,"tags":["coffee"]}]`) +
		event(3, "cid", `"facts":[{"id":"f1","op":"add","version":1,"tags":["tea"]}]`)
	point := func(user, id, payload string) string {
		return fmt.Sprintf(`{"user_id":%q,"id":%q,"vector":[1,0],"payload":{"content":"text"%s}}`+"\n", user, id, payload)
	}
	points := point("ann", "f2", `,"tags":["tea"]`) + point("ann", "f3", `,"tags":["milk"],"batch_id":"b1"`) +
		point("ann", "f4", `,"state":"deleted","version":5`) + point("ann", "f9", `,"tags":["tea"]`) + point("bob", "f1", ``)
	for name, text := range map[string]string{"events.jsonl": events, "points.jsonl": points} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, errs := kith(t, "--data-dir", dir, "--log-level=warn", "publish", "--points", filepath.Join(files, "points.jsonl"), filepath.Join(files, "events.jsonl")); code != exitOK {
		t.Fatalf("publish: %d\n%s%s", code, out, errs)
	}
	return dir
}

// What came from where, counted by hand:
//
//	facts        the stream alone: f1 of ann, f1 of cid; points alone: f3 and f9 of ann (the stream only names f9), f1 of bob;
//	             both: f2 and f4 of ann, of which the point deletes f4
//	topics       cid's tea is the stream's; ann's milk the points'; ann's tea is both's, and counts one fact more by the point of
//	             f9; coffee goes with f4
//	tagged_with  f1 and cid's f1 the stream's; f3 and f9 the points'; f2 both's; that of f4 goes
//	elaborates   f1 to f9, of which there is no payload
//	co_occurs    f1 with f2 are the stream's batch; f3 is of the same batch by its point, and so is with f1 and f2 by both together
var handCounted = map[string]server.RebuildOrigins{
	"fact":        {Log: 2, Store: 3, Both: 2, Changed: 1},
	"topic":       {Log: 1, Store: 1, Both: 1, Changed: 1, Gone: 1},
	"tagged_with": {Log: 2, Store: 2, Both: 1, Gone: 1},
	"elaborates":  {Log: 1},
	"co_occurs":   {Log: 1, Together: 2},
}

func TestRebuildSaysWhatCameFromWhere(t *testing.T) {
	dir := originsWorld(t)
	r := mustRebuildFrom(t, dir, "--no-neighbors")
	if diff := cmp.Diff(handCounted, r.Origins); diff != "" {
		t.Errorf("origins (-by hand +rebuild):\n%s", diff)
	}
	if all := (server.RebuildOrigins{Log: 7, Store: 6, Both: 4, Together: 2, Changed: 2, Gone: 2}); r.OriginsAll != all || r.OriginsAll.Sum() != r.After.Records {
		t.Errorf("all: %+v, want %+v, of %d records", r.OriginsAll, all, r.After.Records)
	}
	users := map[string]server.RebuildOrigins{}
	for _, u := range r.PerUser {
		users[fmt.Sprintf("%s %d events %d points", u.UserID, u.Events, u.Points)] = u.Origins
	}
	if diff := cmp.Diff(map[string]server.RebuildOrigins{
		"ann 2 events 4 points": {Log: 4, Store: 5, Both: 4, Together: 2, Changed: 2, Gone: 2},
		"bob 0 events 1 points": {Store: 1},
		"cid 1 events 0 points": {Log: 3},
	}, users); diff != "" {
		t.Errorf("users (-by hand +rebuild):\n%s", diff)
	}
	want := server.RebuildPoints{Total: 5, Scanned: 5, Facts: 5, Users: 2, Settled: 4, Problems: []string{}} // the event of f2 had settled all
	if r.From != server.RebuildFromBoth || r.Points == nil || cmp.Diff(want, *r.Points) != "" || r.Events["memory.facts.written.v1"] != 3 || r.Stream.Noted != 3 || r.UpToSeq != 3 {
		t.Errorf("%+v: points %+v", r, r.Points)
	}
	missing := strings.Join(r.Missing, "\n") // of f3, f9 and bob's f1
	for _, text := range []string{"of the 3 facts that only points bring 3 have no relations", "3 have no entities", "1 have no tags", "2 have no batch", "3 have no memory_at", "not asked for"} {
		if !strings.Contains(missing, text) {
			t.Errorf("missing: %q: want %q in it", missing, text)
		}
	}
	if strings.Contains(missing, "what only events say") {
		t.Errorf("missing: %q: the stream has every event", missing)
	}
	_, out, _ := kith(t, "--data-dir", dir, "--log-level=error", "rebuild", "--no-neighbors")
	line := strings.Fields("topic 1 1 1 0 1 1")
	if !slices.ContainsFunc(strings.Split(out, "\n"), func(l string) bool { return slices.Equal(strings.Fields(l), line) }) || !strings.Contains(out, "from event stream and vector store") {
		t.Errorf("printed:\n%s\nwant a line %v", out, line)
	}
	// Each source alone.
	log, code, errs := rebuiltFrom(t, dir, "--from-log")
	if code != exitFailed || !strings.Contains(log.Refused, "2 users instead of 3") || log.OriginsAll.Store+log.OriginsAll.Both != 0 || log.Points != nil {
		t.Errorf("from the log: %d %s %+v", code, errs, log)
	}
	store, code, errs := rebuiltFrom(t, dir, "--from-store", "--no-neighbors")
	if code != exitFailed || !strings.Contains(store.Refused, "what the vector store holds makes 2 users instead of 3") || store.OriginsAll.Log+store.OriginsAll.Both != 0 || !store.Stream.Unread {
		t.Errorf("from the store: %d %s %+v", code, errs, store)
	}
	if got := fileDigest(t, dir); got != r.After.Digest {
		t.Errorf("digest %s after what was refused, want %s", got, r.After.Digest)
	}
	one := mustRebuildFrom(t, dir, "--user=ann", "--no-neighbors")
	if one.Replaced.Equal != one.After.Records || one.OriginsAll != users["ann 2 events 4 points"] || one.Points.Total != 4 {
		t.Errorf("ann alone: %+v", one)
	}
}

// A rebuild from both is the graph that had the events and then a backfill, and the one that had the backfill and then the events:
// by the service, on the files, of one user.
func TestRebuildFromBothIsEventsAndBackfill(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(11, 11)), 300)
	w.storePoints(60)
	w.start()
	w.caughtUp()
	mustBackfill(t, w.dir)
	want := digestOf(t, w.cl)
	if want == w.want.String() {
		t.Fatal("the points add nothing")
	}
	r := mustRebuildFrom(t, w.dir)
	if r.After.Digest != want || r.Before.Digest != want || r.OriginsAll.Sum() != r.After.Records || r.OriginsAll.Log == 0 || r.OriginsAll.Store == 0 || r.OriginsAll.Both == 0 {
		t.Errorf("by the service: %+v, want %s", r, want)
	}
	if got := digestOf(t, w.cl); got != want {
		t.Errorf("by the service: digest %s, want %s", got, want)
	}
	one := mustRebuildFrom(t, w.dir, "--user=user-1")
	if one.Replaced.Equal != one.After.Records || one.Points.Total != 62 { // with the two that every world has
		t.Errorf("one user: %+v", one)
	}
	w.p.terminate(t)
	if err := os.RemoveAll(filepath.Join(w.dir, "graph")); err != nil {
		t.Fatal(err)
	}
	if r := mustRebuildFrom(t, w.dir); r.After.Digest != want {
		t.Errorf("on the files, from nothing: %s, want %s", r.After.Digest, want)
	}
	w.tamper("user-1", drift)
	if r := mustRebuildFrom(t, w.dir, "--user=user-1", "--force"); r.Replaced.Changed["fact"] != 1 || r.Replaced.Gone["fact"] != 1 || r.Replaced.New["fact"] != 1 {
		t.Errorf("one user who has drifted: %+v", r.Replaced)
	}
	if got := fileDigest(t, w.dir); got != want {
		t.Errorf("one user who has drifted: %s, want %s", got, want)
	}

	after := newWorldOf(t, w.rng, w.file, 300, 5) // the points first
	after.storePoints(60)
	mustBackfill(t, after.dir)
	after.start()
	after.caughtUp()
	if got := digestOf(t, after.cl); got != want {
		t.Errorf("points, then events: %s, want %s", got, want)
	}
	after.p.terminate(t)
}

// The first half of the events is gone: their facts come back from the store, and what they alone said is named.
func TestRebuildFromBothOfHalfAStream(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(12, 12)), 200)
	w.storePoints(60)
	w.start()
	w.caughtUp()
	stream, _, done := w.eventStream()
	if err := stream.Purge(context.Background(), jetstream.WithPurgeSequence(101)); err != nil {
		t.Fatal(err)
	}
	done()
	log, _, _ := rebuiltFrom(t, w.dir, "--from-log", "--force")
	w.p.terminate(t)
	if err := os.RemoveAll(filepath.Join(w.dir, "graph")); err != nil {
		t.Fatal(err)
	}
	r := mustRebuildFrom(t, w.dir)
	if r.Stream.Dropped != 100 || r.After.Facts <= log.After.Facts || r.Origins["fact"].Store == 0 {
		t.Errorf("%d facts, of the stream alone %d: %+v", r.After.Facts, log.After.Facts, r)
	}
	if missing := strings.Join(r.Missing, "\n"); !strings.Contains(missing, "100 events are no longer in the stream") || !strings.Contains(missing, "have no relations") {
		t.Errorf("missing: %s", missing)
	}
	// The same graph by the events that are left, and then a backfill.
	want := newWorldOf(t, w.rng, restOf(t, w.file, 100), 100, 5)
	want.storePoints(60)
	want.start()
	want.caughtUp()
	want.p.terminate(t)
	mustBackfill(t, want.dir)
	if got := fileDigest(t, want.dir); got != r.After.Digest {
		t.Errorf("digest %s, of the rest of the events and a backfill %s", r.After.Digest, got)
	}
}

// restOf returns a file of the events after the first n.
func restOf(t *testing.T, file string, n int) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rest := filepath.Join(t.TempDir(), "rest.jsonl")
	if err := os.WriteFile(rest, []byte(strings.Join(strings.SplitAfter(string(data), "\n")[n:], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return rest
}
