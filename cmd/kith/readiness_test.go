package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

func TestStandsStill(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		lag     int64
		pending uint64
		silent  time.Duration
		want    string
	}{
		"nothing waits, silent for a day":   {0, 0, 24 * time.Hour, ""},
		"one waits, a success just now":     {0, 1, time.Second, ""},
		"one waits, silent to the second":   {0, 1, time.Minute, ""},
		"one waits, silent for longer":      {0, 1, time.Minute + 1, "1 events wait (KITH_READY_LAG 0), and nothing has succeeded since 2026-11-30T11:58:59Z (KITH_READY_SILENCE 1m0s)"},
		"as many wait as may":               {100, 100, time.Hour, ""},
		"more wait than may":                {100, 101, time.Hour, "101 events wait (KITH_READY_LAG 100)"},
		"a huge backlog that is worked off": {100, 1e6, 59 * time.Second, ""},
	} {
		got := stands(config.Ready{Lag: c.lag, Silence: time.Minute}, c.pending, now.Add(-c.silent), now)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFailing(t *testing.T) {
	r := config.Ready{ErrorShare: .5, ErrorWindow: 5 * time.Minute}
	for name, c := range map[string]struct {
		share   float64
		handled int
		want    string
	}{
		"too few to tell":     {1, leastHandled - 1, ""},
		"half":                {.5, 100, ""},
		"more than half":      {.51, 100, "51 % of the 100 events handled within 5m0s were dead-lettered or given back (KITH_READY_ERROR_SHARE 0.5)"},
		"nothing was handled": {0, 0, ""},
	} {
		got := failing(r, c.share, c.handled)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestUnheardAdvisoriesShowInReadiness: trouble that is in the feed's status alone is in nobody's sight.
func TestUnheardAdvisoriesShowInReadiness(t *testing.T) {
	s := &service{e: &env{}, metrics: server.NewMetrics(time.Minute), started: time.Now()}
	s.e.cfg.Ready = config.Ready{Silence: time.Hour, ErrorShare: .5}
	var h server.Health
	if texts := s.statusTrouble(&h, feed.Status{}); len(texts) != 0 {
		t.Errorf("a feed without trouble: %q", texts)
	}
	texts := s.statusTrouble(&h, feed.Status{AdvisoryTrouble: errors.New("not permitted")})
	if len(texts) != 1 || !strings.Contains(texts[0], "gives up") || !strings.Contains(texts[0], "not permitted") {
		t.Errorf("%q, want one text that says what is not heard, and why", texts)
	}
}

// get returns the text of an endpoint.
func get(t *testing.T, cl *client, path string) string {
	t.Helper()
	resp, err := http.Get(cl.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", path, resp.Status, err)
	}
	return string(text)
}

// The table of metrics in the documentation is the metrics that are served.
func TestMetricsAreDocumented(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, writeEvents(t, 40))
	p, cl := serve(t, dir)
	projected(t, p, cl, 40)
	if _, err := cl.search(context.Background(), searchRequest("user-0")); err != nil {
		t.Fatal(err)
	}
	if err := cl.call(context.Background(), http.MethodPost, "/v1/verify", struct{}{}, &struct{}{}); err != nil { // which has metrics of its own
		t.Fatal(err)
	}
	text := get(t, cl, "/metrics")
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (kith_\w+) `).FindAllStringSubmatch(text, -1) {
		if served[m[1]] = true; !strings.Contains(string(doc), "`"+m[1]+"`") && !strings.Contains(string(doc), "`"+m[1]+"{") {
			t.Errorf("%s is not in docs/operating.md", m[1])
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(kith_\\w+)").FindAllStringSubmatch(string(doc), -1) {
		if name := m[1]; !served[name] {
			t.Errorf("%s is in docs/operating.md and not served", name)
		}
	}
	for _, want := range []string{`kith_events_total{outcome="applied",type="memory.facts.written.v1"}`, `kith_searches_total{outcome="ok"} 1`, "kith_applied_sequence 40", "kith_lag_events 0", "kith_graph_users 5"} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("metrics do not say %q", want)
		}
	}
	if strings.Contains(text, "user-0") {
		t.Error("metrics name a user")
	}
	p.terminate(t)
}

// Events that come while projection is off wait, also those of a stream that was not there before; searches are answered over
// the graph as it is; turned on again, projection goes on where it was.
func TestProjectionOff(t *testing.T) {
	dir := t.TempDir()
	file := writeEvents(t, 60)
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(all)), "\n")
	part := func(name string, lines []string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	calm := t.TempDir()
	publish(t, calm, file)
	p, cl := serve(t, calm)
	projected(t, p, cl, 60)
	want := digestOf(t, cl)
	p.terminate(t)

	waits := func(p *process, cl *client, setting string, n uint64) {
		t.Helper()
		eventually(t, p, func() bool {
			h, err := cl.health(context.Background())
			return err == nil && h.Ready && h.GraphLoaded && !h.Projecting && h.Pending == n && strings.Contains(h.Projection, setting) &&
				strings.Contains(strings.Join(h.Degraded, "; "), setting)
		})
	}
	p, cl = serve(t, dir, "KITH_PROJECT=false") // on a new directory: the stream is made
	waits(p, cl, "KITH_PROJECT=false", 0)
	publish(t, dir, part("first", lines[:20]))
	waits(p, cl, "KITH_PROJECT=false", 20)
	p.terminate(t)
	p, cl = serve(t, dir)
	projected(t, p, cl, 20)
	before := digestOf(t, cl)
	p.terminate(t)

	p, cl = serve(t, dir, "MEMORY_MODE=ultra", "MEMORY_GRAPH_RERANK_ENABLED=true", "MEMORY_GRAPH_WRITE=false")
	publish(t, dir, part("second", lines[20:]))
	waits(p, cl, "MEMORY_GRAPH_WRITE=false", 40)
	if got := digestOf(t, cl); got != before {
		t.Errorf("digest %s while projection is off, want that of before, %s", got, before)
	}
	if a, err := cl.search(context.Background(), searchRequest("user-0")); err != nil || a.GraphRerank.Status != "ok" {
		t.Errorf("search: %+v, %v: want it ranked by the graph", a.GraphRerank, err)
	}
	if code, out, errs := kith(t, "--data-dir", dir, "stats"); code != exitOK || !strings.Contains(out, "not projected: MEMORY_GRAPH_WRITE=false; 40 wait") {
		t.Errorf("stats: %d %s%s", code, out, errs)
	}
	p.terminate(t)
	p, cl = serve(t, dir)
	projected(t, p, cl, 60)
	if got := digestOf(t, cl); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	p.terminate(t)
}
