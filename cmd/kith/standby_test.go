package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/natsserver"
	"github.com/kithgraph/kith/internal/server"
)

// group runs kith serve several times on one NATS server, each with a data directory of its own.
type group struct {
	url  string
	dirs [2]string
	proc [2]*process
	cl   [2]*client
}

func newGroup(t *testing.T) *group {
	t.Helper()
	nats, err := natsserver.Start(natsserver.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := nats.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return &group{url: nats.ClientURL(), dirs: [2]string{t.TempDir(), t.TempDir()}}
}

func (g *group) start(t *testing.T, i int) {
	t.Helper()
	g.proc[i], g.cl[i] = serve(t, g.dirs[i], "NATS_URL="+g.url, "KITH_STANDBY=true", "KITH_STANDBY_TTL=1s")
}

func (g *group) becomes(t *testing.T, i int, role string) {
	t.Helper()
	eventually(t, g.proc[i], func() bool {
		h, err := g.cl[i].health(context.Background())
		return err == nil && h.Role == role
	})
}

// publish publishes lines of events.
func (g *group) publish(t *testing.T, lines []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := kith(t, "--data-dir", t.TempDir(), "--nats-url", g.url, "--log-level=warn", "publish", file)
	if code != exitOK {
		t.Fatalf("publish: %d\n%s%s", code, out, errs)
	}
}

func linesOf(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSpace(string(data)), "\n")
}

// TestStandby freezes the active one of two services, then kills the one that took over, and starts it again. Both have every
// event all the time, and searches on both are ranked by the graph.
func TestStandby(t *testing.T) {
	const events = 400
	file := writeEvents(t, events)
	lines := linesOf(t, file)
	calm := t.TempDir()
	publish(t, calm, file)
	p, cl := serve(t, calm)
	projected(t, p, cl, events)
	want := digestOf(t, cl)
	p.terminate(t)

	g := newGroup(t)
	g.start(t, 0)
	g.publish(t, lines[:100])
	projected(t, g.proc[0], g.cl[0], 100)
	g.becomes(t, 0, server.RoleActive)
	g.start(t, 1)
	projected(t, g.proc[1], g.cl[1], 100)
	g.becomes(t, 1, server.RoleStandby)
	if one, two := digestOf(t, g.cl[0]), digestOf(t, g.cl[1]); one != two {
		t.Errorf("digests %s and %s", one, two)
	}
	for i, cl := range g.cl {
		if a, err := cl.search(context.Background(), searchRequest("user-0")); err != nil || a.GraphRerank.Status != "ok" || a.AppliedSeq != 100 {
			t.Errorf("search of service %d: %+v, %v", i, a, err)
		}
	}
	if text := get(t, g.cl[1], "/metrics"); !strings.Contains(text, "\nkith_standby 1\n") || !strings.Contains(text, "\nkith_applied_sequence 100\n") {
		t.Error("metrics of the standby do not say what it is, or how far")
	}

	if err := g.proc[0].cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	g.publish(t, lines[100:200])
	g.becomes(t, 1, server.RoleActive)
	projected(t, g.proc[1], g.cl[1], 200)
	if err := g.proc[0].cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	projected(t, g.proc[0], g.cl[0], 200)
	g.becomes(t, 0, server.RoleStandby)

	killed := time.Now()
	g.proc[1].kill() // with the events that come now half taken
	g.publish(t, lines[200:300])
	g.becomes(t, 0, server.RoleActive)
	t.Logf("took over %s after the kill", time.Since(killed))
	projected(t, g.proc[0], g.cl[0], 300)
	g.start(t, 1)
	g.publish(t, lines[300:])
	for i := range g.cl {
		projected(t, g.proc[i], g.cl[i], events)
		if got := digestOf(t, g.cl[i]); got != want {
			t.Errorf("digest of service %d is %s, want %s", i, got, want)
		}
	}
	g.becomes(t, 1, server.RoleStandby)
	if code, out, errs := kith(t, "--data-dir", g.dirs[1], "stats"); code != exitOK || !strings.Contains(out, "this service is on standby") {
		t.Errorf("stats: %d %s%s", code, out, errs)
	}
	for _, p := range g.proc {
		p.terminate(t)
	}
}

// A standby without a NATS server of its own would die with the first service's: it is refused with the name of the setting.
func TestStandbyWantsItsOwnNATS(t *testing.T) {
	code, _, errs := kith(t, "--data-dir", t.TempDir(), "--standby", "serve")
	if code != exitUsage || !strings.Contains(errs, "KITH_STANDBY") || !strings.Contains(errs, "NATS_URL") {
		t.Errorf("%d %s: want a usage error that names both settings", code, errs)
	}
}
