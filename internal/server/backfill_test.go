package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kithgraph/kith/backfill"
)

// counting is a backfill that has ended after it was asked for some times.
type counting struct {
	asks, ends int
	err        error
}

func (c *counting) now() Backfill {
	return Backfill{Running: c.asks < c.ends, Report: backfill.Account{ID: "one", Scanned: int64(c.asks)}}
}

func (c *counting) Start(_ context.Context, req backfill.Request) (Backfill, error) {
	b := c.now()
	b.Report.Request = req
	return b, c.err
}

func (c *counting) List() []Backfill { return []Backfill{c.now()} }

func (c *counting) Get(id string) (Backfill, error) {
	if id != "one" {
		return Backfill{}, fmt.Errorf("%w: %q", ErrNoBackfill, id)
	}
	c.asks++
	return c.now(), nil
}

func (c *counting) Cancel(_ context.Context, id string) (Backfill, error) {
	c.ends = 0
	return c.Get(id)
}

func TestBackfills(t *testing.T) {
	s := newServer(t, nil)
	if code, body := ask(s, "GET", "/v1/backfills", "", nil); code != 503 {
		t.Errorf("without backfills: %d %s", code, body)
	}
	for _, tc := range []struct {
		method, path, body string
		err                error
		code               int
		want               string
	}{
		{"POST", "", `{"user_id": "ada", "dry_run": true}`, nil, 202, `"user_id":"ada","dry_run":true`},
		{"POST", "", `{"user": "ada"}`, nil, 422, "user"},
		{"POST", "", `{"rate": -1}`, nil, 422, "rate"},
		{"POST", "", `{"user_id": ""}`, nil, 422, "body.user_id"},
		{"POST", "", `{"agent_id": ""}`, nil, 422, "body.agent_id"},
		{"POST", "", ``, nil, 202, `"request":{}`},
		{"POST", "", `{}`, fmt.Errorf("%w: backfill two of user ada", ErrBusy), 409, "two"},
		{"POST", "", `{}`, fmt.Errorf("%w: clear: want a user", backfill.ErrBadRequest), 422, "clear"},
		{"POST", "", `{}`, fmt.Errorf("%w in dir", backfill.ErrNoCheckpoint), 422, "checkpoint"},
		{"POST", "", `{}`, fmt.Errorf("%w: off", ErrNoGraph), 503, "off"},
		{"GET", "", ``, nil, 200, `"backfills":[{"running":true`},
		{"GET", "/one", ``, nil, 200, `"running":true`},
		{"GET", "/two", ``, nil, 404, "two"},
		{"DELETE", "/one", ``, nil, 200, `"running":false`},
		{"DELETE", "/two", ``, nil, 404, "two"},
	} {
		s.cfg.Backfills = &counting{ends: 3, err: tc.err}
		if code, body := ask(s, tc.method, "/v1/backfills"+tc.path, tc.body, nil); code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s %s %s: %d %s: want %d and %q", tc.method, tc.path, tc.body, code, body, tc.code, tc.want)
		}
	}
	if code, _ := ask(s, "POST", "/v1/backfills", "{}", map[string]string{"Origin": "http://localhost"}); code != 403 {
		t.Errorf("a web page: %d", code)
	}
}

// Progress is sent until the backfill has ended, which the last event says.
func TestBackfillProgress(t *testing.T) {
	s := newServer(t, nil)
	s.cfg.Backfills = &counting{ends: 3}
	code, body := ask(s, "GET", "/v1/backfills/one", "", map[string]string{"Accept": "text/event-stream"})
	events := strings.Split(strings.TrimSpace(body), "\n\n")
	if code != 200 || len(events) != 3 {
		t.Fatalf("%d, %d events: %s", code, len(events), body)
	}
	for i, want := range []string{"progress", "progress", "ended"} {
		if !strings.HasPrefix(events[i], "event: "+want+"\ndata: {") || !strings.Contains(events[i], fmt.Sprintf(`"scanned":%d`, i+1)) {
			t.Errorf("event %d: %s: want %s of %d points", i, events[i], want, i+1)
		}
	}
}

// The document for machines says of every number of an account what it counts.
func TestBackfillIsDescribed(t *testing.T) {
	_, body := ask(newServer(t, nil), "GET", "/openapi.json", "", nil)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	fields := doc.Components.Schemas["Account"].Properties
	if len(fields) < 30 {
		t.Fatalf("%d fields", len(fields))
	}
	for name, schema := range fields {
		if _, ref := schema["$ref"]; !ref && schema["description"] == nil {
			t.Errorf("%s: no description", name)
		}
	}
}
