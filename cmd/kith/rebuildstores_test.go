package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// withoutPoints removes the embedded vector store's files.
func withoutPoints(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "vectors.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// A vector store that cannot be reached is told of before anything is done; from the stream alone it is not asked.
func TestRebuildWithoutAVectorStore(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(16, 16)), 50)
	mustRebuild(t, w.dir)
	away := []string{"--qdrant-url", "http://" + closedPort(t), "--qdrant-collection=theirs"}
	for _, args := range [][]string{away, append(away, "--from-store"), append(away, "--user=user-1")} {
		_, code, errs := rebuiltFrom(t, w.dir, args...)
		if code != exitFailed || !strings.Contains(errs, "nothing was done (from the event stream alone it can be)") || !strings.Contains(errs, "unavailable") {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	wantFile(t, w.dir, w.want)
	if r := mustRebuildFrom(t, w.dir, append(away, "--from-log")...); r.After.Digest != w.want.String() {
		t.Errorf("from the log: %+v", r)
	}
	w.start("QDRANT_URL=http://"+closedPort(t), "QDRANT_COLLECTION=theirs")
	w.caughtUp()
	if _, code, errs := rebuiltFrom(t, w.dir); code != exitFailed || !strings.Contains(errs, "nothing was done") {
		t.Errorf("by the service: %d %s", code, errs)
	}
	w.p.terminate(t)
	wantFile(t, w.dir, w.want)
}

// A collection without points is not believed where the graph has something from one, although no fact would go.
func TestRebuildDoesNotBelieveAnEmptyCollection(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(17, 17)), 50)
	mustRebuild(t, w.dir)
	withoutPoints(t, w.dir)
	if r := mustRebuildFrom(t, w.dir); r.After.Digest != w.want.String() || r.Points.Total != 0 { // the graph has nothing from a store
		t.Errorf("of events alone: %+v", r)
	}

	w = newWorld(t, rand.New(rand.NewPCG(17, 17)), 300)
	w.storePoints(60)
	had := mustRebuildFrom(t, w.dir)
	withoutPoints(t, w.dir)
	for _, args := range [][]string{nil, {"--from-store"}, {"--user=user-1"}} {
		r, code, errs := rebuiltFrom(t, w.dir, args...)
		if code != exitFailed || r.Done || !strings.Contains(r.Refused, "is it the right collection?") {
			t.Errorf("%v: %d %s %+v", args, code, errs, r)
		}
	}
	w.start()
	w.caughtUp()
	if r, code, errs := rebuiltFrom(t, w.dir); code != exitFailed || !strings.Contains(r.Refused, "is it the right collection?") {
		t.Errorf("by the service: %d %s %+v", code, errs, r)
	}
	if got := digestOf(t, w.cl); got != had.After.Digest {
		t.Errorf("digest %s after refusals, want %s", got, had.After.Digest)
	}
	w.p.terminate(t)
	if r := mustRebuildFrom(t, w.dir, "--force"); r.After.Digest != w.want.String() {
		t.Errorf("forced: %s, of the events alone %s", r.After.Digest, w.want)
	}
}

// A mapping under which no point is a fact is not believed either, and a collection that is not there is told of.
func TestRebuildDoesNotBelieveAnotherMapping(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	srv.Fill(t, "theirs", []vdb.VectorShape{{Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"}},
		wire.Point{ID: teaID, Payload: map[string]any{"user_id": "ann", "content": "tea", "tags": []any{"tea"}}, Vectors: map[string]any{"": []float32{1, 0}}},
		wire.Point{ID: milkID, Payload: map[string]any{"user_id": "ann", "content": "milk"}, Vectors: map[string]any{"": []float32{0.9, 0.1}}})
	dir := t.TempDir()
	at := []string{"--qdrant-url", "http://" + srv.Addr(), "--qdrant-collection"}
	// Two facts, a topic, its edge, and the edges of each to the other: the cosine is 0.994.
	r := mustRebuildFrom(t, dir, append(at, "theirs")...)
	if diff := cmp.Diff(map[string]server.RebuildOrigins{"fact": {Store: 2}, "topic": {Store: 1}, "tagged_with": {Store: 1}, "semantic_neighbor": {Store: 2}}, r.Origins); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
	r, code, errs := rebuiltFrom(t, dir, append(at, "theirs", "--qdrant-preset=langchain")...)
	if code != exitFailed || !strings.Contains(r.Refused, "none of the 2 points of the vector store is a fact of a user") {
		t.Errorf("another mapping: %d %s %+v", code, errs, r)
	}
	if _, code, errs := rebuiltFrom(t, dir, append(at, "another")...); code != exitFailed || !strings.Contains(errs, "collection does not exist") {
		t.Errorf("another collection: %d %s", code, errs)
	}
}

// The vector store alone makes the graph of a backfill; what the stream knows comes only after it.
func TestRebuildFromTheStore(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(18, 18)), 100)
	w.storePoints(40)
	points, err := os.ReadFile(filepath.Join(w.dir, "vectors.db"))
	if err != nil {
		t.Fatal(err)
	}
	fresh := t.TempDir()
	if err := os.WriteFile(filepath.Join(fresh, "vectors.db"), points, 0o600); err != nil {
		t.Fatal(err)
	}
	// There is no stream: from both is from the store, and says so.
	code, out, errs := kith(t, "--data-dir", fresh, "--log-level=error", "rebuild")
	if code != exitOK || !strings.Contains(out, "from the vector store alone, since there is no event stream") || !strings.Contains(out, "stream: there is none") ||
		!strings.Contains(out, "and there is no stream") {
		t.Errorf("without a stream: %d %s%s", code, out, errs)
	}
	want := fileDigest(t, fresh)
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "vectors.db"), points, 0o600); err != nil {
		t.Fatal(err)
	}
	mustBackfill(t, other)
	if got := fileDigest(t, other); got != want {
		t.Errorf("digest %s of a backfill, of a rebuild without a stream %s", got, want)
	}

	r := mustRebuildFrom(t, w.dir, "--from-store") // nothing is lost: there is no graph yet
	if r.After.Digest != want || !r.Stream.Unread || r.Stream.Noted != 100 || !strings.Contains(strings.Join(r.Missing, "\n"), "the stream was not read") {
		t.Errorf("from the store: %+v, want %s", r, want)
	}
	w.start() // the events of before are meant to be left out
	w.caughtUp()
	if got := digestOf(t, w.cl); got != want {
		t.Errorf("the service has digest %s, want %s", got, want)
	}
	w.p.terminate(t)

	both := mustRebuildFrom(t, w.dir)
	one, code, errs := rebuiltFrom(t, w.dir, "--from-store", "--user=user-1")
	if code != exitFailed || !strings.Contains(one.Refused, "no point is about") {
		t.Errorf("one user: %d %s %+v", code, errs, one)
	}
	if got := fileDigest(t, w.dir); got != both.After.Digest {
		t.Errorf("digest %s after a refusal, want %s", got, both.After.Digest)
	}
	mustRebuildFrom(t, other, "--user=user-1") // its stream has nothing
	if got := fileDigest(t, other); got != want {
		t.Errorf("one user again: %s, want %s", got, want)
	}
	if one := mustRebuildFrom(t, w.dir, "--from-store", "--user=user-1", "--force"); one.After.Digest != userOf(r, "user-1").Digest {
		t.Errorf("one user, forced: %+v, want %+v", one.After, userOf(r, "user-1"))
	}
}

func userOf(r server.Rebuild, user string) server.RebuildUser {
	for _, u := range r.PerUser {
		if u.UserID == user {
			return u
		}
	}
	return server.RebuildUser{}
}

// A rebuild, a backfill and a verification keep out of each other's way; what a rebuild that was killed has kept of users goes when one
// is forgotten.
func TestRebuildIsAloneWithThePoints(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(19, 19)), 50)
	e, s := w.opened()
	busy := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v: want %q", err, what)
		}
	}
	s.verifies.turn.Lock()
	_, err := s.Rebuild(e.ctx, server.RebuildRequest{})
	busy("verification", err)
	s.verifies.turn.Unlock()
	s.erasing.Lock()
	_, err = s.Rebuild(e.ctx, server.RebuildRequest{})
	busy("erasure", err)
	s.erasing.Unlock()
	if !s.erasing.try("repair of the graph") {
		t.Fatal("taken")
	}
	_, err = s.Rebuild(e.ctx, server.RebuildRequest{})
	busy("repair of the graph", err)
	_, err = s.backfills.Start(e.ctx, backfill.Request{})
	busy("repair of the graph", err)
	_, err = s.Forget(e.ctx, server.ForgetRequest{UserID: "user-1"})
	busy("repair of the graph", err)
	s.erasing.free()
	_ = s.host.maintenance.try(rebuildName, func() error {
		_, err := s.verifies.Verify(e.ctx, backfill.VerifyRequest{})
		busy(rebuildName, err)
		_, err = s.backfills.Start(e.ctx, backfill.Request{})
		busy(rebuildName, err)
		return nil
	})
	if err := errors.Join(s.disconnect(), s.closeStores()); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(w.dir, "rebuild", "facts", "part-000")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	w.start()
	w.caughtUp()
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("a service has begun, and it is still there: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("user-1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=warn", "forget", "user-1"); code != exitOK {
		t.Fatalf("forget: %d %s%s", code, out, errs)
	}
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("a user was forgotten, and it is still there: %v", err)
	}
	w.p.terminate(t)
}

// opened opens the stores of the data directory in this process.
func (w *world) opened() (*env, *service) {
	w.t.Helper()
	e := &env{ctx: w.t.Context(), stderr: os.Stderr}
	e.cfg.DataDir, e.cfg.LogLevel, e.cfg.LogFormat = w.dir, "warn", "text"
	e.log = logger(e.cfg, os.Stderr)
	s, err := open(e, false)
	if err == nil {
		err = s.connect(e.ctx)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return e, s
}
