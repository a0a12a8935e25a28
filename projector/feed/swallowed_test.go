package feed

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestMessagesThatTheClientSwallows mixes events with messages that look like answers of the server, of every kind that the
// client library knows.
func TestMessagesThatTheClientSwallows(t *testing.T) {
	js, g, cfg := newJS(t), newGraph(t), fastConfig()
	// What the server sends after a message that ends a pull is lost with it, and comes again after AckWait.
	cfg.StatusInterval, cfg.AckWait = 20*time.Millisecond, 300*time.Millisecond
	f := run(t, boundFeedWith(t, js, g, "graph-1", cfg))
	f.attached(t)
	answers := []nats.Header{
		{"Status": {"100"}, "Description": {"Idle Heartbeat"}}, {"Status": {"404"}}, {"Status": {"408"}}, {"Status": {"503"}},
		{"Status": {"409"}, "Description": {"Consumer Deleted"}}, {"Status": {"409"}, "Description": {"Server Shutdown"}}, {"Status": {"made up"}},
	}
	for i, header := range answers {
		header.Set("traceparent", fmt.Sprint("trace-", i))
		publishRaw(t, js, "memory.events.x", nil, header)
		publishRaw(t, js, "memory.events.x", factsEvent(fmt.Sprint("e", i), userA, 1, fmt.Sprint("f", i)), nil)
	}
	f.applied(t)
	wantSettled(t, js)
	g.wantFacts(t, userA, len(answers))
	letters := deadLetters(t, js)
	if len(letters) != len(answers) {
		t.Fatalf("%d dead letters, want %d", len(letters), len(answers))
	}
	for i, d := range letters {
		if d.Reason != ReasonBadEvent || d.Sequence != uint64(2*i+1) || d.Header.Get("Status") != "" || !strings.Contains(d.LastError, "header named Status") ||
			d.Header.Get("traceparent") != fmt.Sprint("trace-", i) {
			t.Errorf("dead letter %+v of %d", d, 2*i+1)
		}
	}
	f.stop(t)
	if s := f.Status(); s.Dead != uint64(len(answers)) || s.Rebuilt != 0 || g.store.mark(t).Seq != uint64(2*len(answers)) {
		t.Errorf("status %+v, mark %+v: want each buried once, and the mark at the end", s, g.store.mark(t))
	}
}

// TestSwallowedBy: what the client does hand over is left to the ordinary way.
func TestSwallowedBy(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		header  nats.Header
		want    bool
	}{
		"empty, with a status":      {"", nats.Header{"Status": {"100"}}, true},
		"empty, without":            {"", nats.Header{"Other": {"100"}}, false},
		"empty, an empty status":    {"", nats.Header{"Status": {""}}, false},
		"empty, in another case":    {"", nats.Header{"status": {"100"}}, false},
		"a payload beside a status": {"x", nats.Header{"Status": {"100"}}, false},
		"no header":                 {"", nil, false},
	} {
		if got := swallowedBy([]byte(c.payload), c.header); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
