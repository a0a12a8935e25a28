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
		var done uint64
		eventually(t, p, func() bool { // by events that are settled, whatever waits for its redelivery before them
			h, err := cl.health(context.Background())
			done = events - h.Pending
			return err == nil && h.LastSuccess.After(time.Time{}) && done >= at
		})
		p.kill()
		killedAt = append(killedAt, done)
	}
	t.Logf("killed after %v of %d events", killedAt, events)
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
		if rankedByGraph(a) {
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

// A file that is no graph: searches keep the vector order and say why; with the file out of the way the graph comes
// back by itself.
func TestBrokenGraphFile(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "graph", "kith.kuzu")
	if err := os.MkdirAll(filepath.Dir(graph), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(graph, []byte(strings.Repeat("this is no graph\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	publish(t, dir, writeEvents(t, 20))
	p, cl := serve(t, dir)
	eventually(t, p, func() bool {
		h, err := cl.health(context.Background())
		return err == nil && h.Ready && !h.GraphLoaded && strings.Contains(strings.Join(h.Degraded, "; "), "not a graph file")
	})
	a, err := cl.search(context.Background(), searchRequest("user-0"))
	if err != nil || a.GraphRerank.Status != "degraded" || a.GraphRerank.Stage != "view" {
		t.Errorf("search: %+v, %v: want it answered and degraded", a.GraphRerank, err)
	}
	if err := os.Rename(graph, graph+".aside"); err != nil {
		t.Fatal(err)
	}
	projected(t, p, cl, 20)
	if a, err = cl.search(context.Background(), searchRequest("user-0")); err != nil || a.GraphRerank.Status != "ok" {
		t.Errorf("afterwards: %+v, %v", a.GraphRerank, err)
	}
	p.terminate(t)
}

// The graph file deleted between two runs: the next run projects the stream again.
func TestDeletedGraphIsProjectedAgain(t *testing.T) {
	const events = 300
	dir := t.TempDir()
	publish(t, dir, writeEvents(t, events))
	p, cl := serve(t, dir)
	projected(t, p, cl, events)
	want := digestOf(t, cl)
	p.terminate(t)
	if err := os.RemoveAll(filepath.Join(dir, "graph")); err != nil {
		t.Fatal(err)
	}
	p, cl = serve(t, dir)
	eventually(t, p, func() bool {
		d, err := cl.digest(context.Background(), "")
		return err == nil && d == want
	})
	p.terminate(t)
}

// A service file that a killed service left behind does not lead a command to another service at the same address.
func TestStaleServiceFile(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	p, cl := serve(t, other)
	if err := (runFile{PID: 1, Instance: "gone", HTTP: cl.base}).write(dir); err != nil {
		t.Fatal(err)
	}
	code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "stats")
	if code != exitOK || !strings.Contains(out, "no service runs") {
		t.Errorf("%d %s%s: want the files of the directory asked", code, out, errs)
	}
	p.terminate(t)
}

// Events published without NATS_URL while the service reads an external server would wait where nobody looks.
func TestPublishBesideAnExternalServer(t *testing.T) {
	dir := t.TempDir()
	p, _ := serve(t, dir, "NATS_URL=nats://"+closedPort(t))
	code, _, errs := kith(t, "--data-dir", dir, "publish", writeEvents(t, 1))
	if code != exitUsage || !strings.Contains(errs, "set NATS_URL") {
		t.Errorf("%d %s", code, errs)
	}
	p.terminate(t)
}
