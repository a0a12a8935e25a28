package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kill -9 in the middle of 5,000 events, three times at random points, restart, drain: the graph is that of a run that
// nobody disturbed.
func TestKilledServiceEndsInTheSameGraph(t *testing.T) {
	const events = 5000
	file := writeEvents(t, events)

	calm := t.TempDir()
	publish(t, calm, file)
	p, cl := serve(t, calm)
	projected(t, p, cl, events)
	want := digestOf(t, cl)
	p.terminate(t)

	dir := t.TempDir()
	publish(t, dir, file)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	killedAt := []uint64{}
	for at := uint64(0); len(killedAt) < 3; {
		at = max(at, uint64(events/4*len(killedAt))+rng.Uint64N(events/5))
		p, cl := serve(t, dir, "KITH_BATCH_EVENTS=20") // slow enough to be hit in the middle, and another split than the calm run's
		projected(t, p, cl, at)
		h, err := cl.health(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		p.kill()
		killedAt = append(killedAt, h.AppliedSeq)
	}
	t.Logf("killed after events %v of %d", killedAt, events)
	if killedAt[0] >= events {
		t.Error("the first kill came too late to test anything")
	}
	p, cl = serve(t, dir)
	projected(t, p, cl, events)
	if got := digestOf(t, cl); got != want {
		t.Errorf("digest %s after the kills, %s undisturbed", got, want)
	}
	p.terminate(t)
	// The file alone, without the live graph that was kept while projecting, says the same.
	if code, out, errs := kith(t, "--data-dir", dir, "--log-level=warn", "digest"); code != exitOK || strings.TrimSpace(out) != want {
		t.Errorf("digest of the file: %d %s%s, want %s", code, out, errs, want)
	}
}

// Searches are answered while events flow.
func TestSearchWhileEventsFlow(t *testing.T) {
	const events = 1500
	dir := t.TempDir()
	points := filepath.Join(t.TempDir(), "points.jsonl")
	lines := `{"user_id": "user-0", "id": "f1", "vector": [1, 0], "payload": {"content": "one"}}
{"user_id": "user-0", "id": "f2", "vector": [0.6, 0.8], "payload": {"content": "two"}}
`
	if err := os.WriteFile(points, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := kith(t, "--data-dir", dir, "publish", "--points", points, writeEvents(t, events)); code != exitOK {
		t.Fatalf("%d %s%s", code, out, errs)
	}
	p, cl := serve(t, dir)
	answered, ranked := 0, 0
	for done := false; !done; {
		h, err := cl.health(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		done = h.AppliedSeq >= events
		a, err := cl.search(context.Background(), searchRequest("user-0"))
		if err != nil || len(a.Results) != 2 {
			t.Fatalf("during projection: %+v, %v", a, err)
		}
		answered++
		if a.GraphRerank.Status == "ok" {
			ranked++
		}
	}
	t.Logf("%d searches answered while %d events flowed, %d ranked by the graph", answered, events, ranked)
	if ranked == 0 {
		t.Error("no search was ranked by the graph")
	}
	p.terminate(t)
}

func TestSecondServiceIsRefused(t *testing.T) {
	dir := t.TempDir()
	p, _ := serve(t, dir)
	second := command(t, dir, nil, "serve")
	if err := second.cmd.Wait(); err == nil {
		t.Fatal("a second service started on the same directory")
	}
	if pid := p.cmd.Process.Pid; !strings.Contains(second.log.String(), itoa(pid)) {
		t.Errorf("refusal does not name pid %d: %s", pid, second.log)
	}
	p.terminate(t)
}

func TestTakenPortIsNamed(t *testing.T) {
	dir := t.TempDir()
	p, cl := serve(t, dir)
	addr := strings.TrimPrefix(cl.base, "http://")
	second := command(t, t.TempDir(), []string{"KITH_LISTEN=" + addr}, "serve")
	if err := second.cmd.Wait(); err == nil || !strings.Contains(second.log.String(), addr) || !strings.Contains(second.log.String(), "KITH_LISTEN") {
		t.Errorf("%v: %s: want the address and the setting", err, second.log)
	}
	p.terminate(t)
}

// A NATS server that is not there: searches work, readiness says what is missing.
func TestNATSDownAtStart(t *testing.T) {
	p, cl := serve(t, t.TempDir(), "NATS_URL=nats://"+closedPort(t))
	eventually(t, p, func() bool {
		h, err := cl.health(context.Background())
		return err == nil && h.Ready && h.GraphLoaded && strings.Contains(strings.Join(h.Degraded, "; "), "NATS is not connected")
	})
	a, err := cl.search(context.Background(), searchRequest("ann"))
	if err != nil || a.GraphRerank.Status != "ok" {
		t.Errorf("search: %+v, %v", a, err)
	}
	p.terminate(t)
}

// A Qdrant that is not there at start, comes, and goes: an error that says so, answers, an error again.
func TestQdrantDownAtStartAndInTheMiddle(t *testing.T) {
	addr := closedPort(t)
	p, cl := serve(t, t.TempDir(), "QDRANT_URL=http://"+addr, "QDRANT_TIMEOUT=2s", "QDRANT_CREATE_DIMENSION=2")
	if _, err := cl.search(context.Background(), searchRequest("ann")); err == nil || !strings.Contains(err.Error(), "unavailable") {
		t.Errorf("down: %v: want an error that says unavailable", err)
	}
	srv := startWire(t, addr)
	eventually(t, p, func() bool {
		_, err := cl.search(context.Background(), searchRequest("ann"))
		return err == nil
	})
	srv.Stop()
	if _, err := cl.search(context.Background(), searchRequest("ann")); err == nil || !strings.Contains(err.Error(), "unavailable") {
		t.Errorf("down again: %v", err)
	}
	if h, err := cl.health(context.Background()); err != nil || !h.Ready {
		t.Errorf("health: %+v, %v: a vector store that is down does not end the service", h, err)
	}
	p.terminate(t)
}

func TestMissingCollection(t *testing.T) {
	srv := startWire(t, "127.0.0.1:0")
	p, cl := serve(t, t.TempDir(), "QDRANT_URL=http://"+srv.Addr(), "QDRANT_COLLECTION=nowhere")
	if _, err := cl.search(context.Background(), searchRequest("ann")); err == nil || !strings.Contains(err.Error(), "nowhere") || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v: want the collection named", err)
	}
	p.terminate(t)
}
