package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// graveyard is a DeadLetters that notes what it was asked.
type graveyard struct {
	asked []string
	err   error
}

func (g *graveyard) note(what string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the API's own types
	}
	g.asked = append(g.asked, what+" "+string(data))
}

func (g *graveyard) ListDead(_ context.Context, q DeadQuery) (DeadPage, error) {
	g.note("list", q)
	return DeadPage{Next: 7, Stored: 9}, g.err
}

func (g *graveyard) ShowDead(_ context.Context, number uint64) (DeadLetter, error) {
	g.note("show", number)
	return DeadLetter{Number: number}, g.err
}

func (g *graveyard) ReplayDead(_ context.Context, w DeadWork) (DeadReport, error) {
	g.note("replay", w)
	return DeadReport{Done: 1}, g.err
}

func (g *graveyard) DropDead(_ context.Context, w DeadWork) (DeadReport, error) {
	g.note("drop", w)
	return DeadReport{Done: 1}, g.err
}

func TestDeadLetters(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, body string
		code               int
		asked, want        string
	}{
		"list":           {"GET", "/v1/dead", "", 200, `list {"Order":"newest","After":0,"Limit":100}`, `"letters":[],"next":7,"stored":9`},
		"list filtered":  {"GET", "/v1/dead?user_id=ada&reason=plan&type=unknown&from=2026-01-01T00:00:00Z&order=oldest&after=3&limit=2", "", 200, `list {"user_id":"ada","reason":"plan","type":"unknown","from":"2026-01-01T00:00:00Z","Order":"oldest","After":3,"Limit":2}`, ""},
		"no such field":  {"GET", "/v1/dead?user=ada", "", 422, "", "user"},
		"order":          {"GET", "/v1/dead?order=random", "", 422, "", "order"},
		"limit 0":        {"GET", "/v1/dead?limit=0", "", 422, "", "limit"},
		"limit 1001":     {"GET", "/v1/dead?limit=1001", "", 422, "", "limit"},
		"after -1":       {"GET", "/v1/dead?after=-1", "", 422, "", "after"},
		"show":           {"GET", "/v1/dead/12", "", 200, "show 12", `"number":12`},
		"show 0":         {"GET", "/v1/dead/0", "", 422, "", "number"},
		"show a word":    {"GET", "/v1/dead/twelve", "", 422, "", "number"},
		"replay one":     {"POST", "/v1/dead/replay", `{"numbers": [3]}`, 200, `replay {"numbers":[3]}`, `"done":1`},
		"corrected":      {"POST", "/v1/dead/replay", `{"numbers": [3], "event": {"id":"<&>","n":9007199254740993}}`, 200, `replay {"numbers":[3],"event":{"id":"\u003c\u0026\u003e","n":9007199254740993}}`, ""},
		"replay all":     {"POST", "/v1/dead/replay", `{"all": true, "filter": {"user_id": "ada"}, "dry_run": true}`, 200, `replay {"all":true,"filter":{"user_id":"ada"},"dry_run":true}`, ""},
		"drop one":       {"POST", "/v1/dead/drop", `{"numbers": [3, 4]}`, 200, `drop {"numbers":[3,4]}`, `"errors":[]`},
		"nothing":        {"POST", "/v1/dead/drop", `{}`, 422, "", "numbers: missing"},
		"all of all":     {"POST", "/v1/dead/drop", `{"all": true}`, 422, "", "filter: empty"},
		"empty filter":   {"POST", "/v1/dead/drop", `{"all": true, "filter": {}}`, 422, "", "filter: empty"},
		"both":           {"POST", "/v1/dead/drop", `{"all": true, "filter": {"reason": "plan"}, "numbers": [1]}`, 422, "", "want one of both"},
		"filter, no all": {"POST", "/v1/dead/drop", `{"filter": {"reason": "plan"}}`, 422, "", "all: true"},
		"drop an event":  {"POST", "/v1/dead/drop", `{"numbers": [1], "event": {}}`, 422, "", "event: nothing is published"},
		"event for two":  {"POST", "/v1/dead/replay", `{"numbers": [1, 2], "event": {}}`, 422, "", "want the one number"},
		"unknown field":  {"POST", "/v1/dead/drop", `{"number": [1]}`, 422, "", "number"},
		"null in it":     {"POST", "/v1/dead/drop", `{"all": true, "filter": {"user_id": null, "reason": "plan"}}`, 422, "", "filter: user_id null"},
		"empty in query": {"GET", "/v1/dead?user_id=&reason=plan", "", 422, "", "query.user_id"},
		"in the filter":  {"POST", "/v1/dead/drop", `{"all": true, "filter": {"user": "ada"}}`, 422, "", "user"},
		"key twice":      {"POST", "/v1/dead/drop", `{"numbers": [1], "numbers": [2]}`, 400, "", "stands twice"},
		"twice in event": {"POST", "/v1/dead/replay", `{"numbers": [1], "event": {"id": "a", "id": "b"}}`, 400, "", "stands twice"},
		"key in capital": {"POST", "/v1/dead/drop", `{"NUMBERS": [1]}`, 400, "", "lower case"},
		"negative":       {"POST", "/v1/dead/drop", `{"numbers": [-1]}`, 422, "", "numbers"},
		"cut off":        {"POST", "/v1/dead/drop", `{"numbers": [1`, 400, "", "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &graveyard{}
			s := newServer(t, nil)
			s.cfg.Dead = g
			code, body := ask(s, c.method, c.path, c.body, nil)
			if code != c.code || !strings.Contains(body, c.want) {
				t.Errorf("%d %s: want %d and %q", code, body, c.code, c.want)
			}
			if asked := strings.Join(g.asked, "; "); asked != c.asked {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
		})
	}
}

// An error is no empty list: each has its status and its text.
func TestDeadLetterErrors(t *testing.T) {
	calls := [][3]string{{"GET", "/v1/dead"}, {"GET", "/v1/dead/1"}, {"POST", "/v1/dead/replay", `{"numbers": [1]}`}, {"POST", "/v1/dead/drop", `{"numbers": [1]}`}}
	for err, want := range map[error]int{
		fmt.Errorf("dead letter 1: %w", ErrNoDeadLetter): 404,
		fmt.Errorf("%w: reason", ErrBadRequest):          422,
		fmt.Errorf("%w: NATS is down", ErrNoDeadLetters): 503,
		errors.New("surprise"):                           500,
		fmt.Errorf("list: %w", context.Canceled):         499,
	} {
		s := newServer(t, nil)
		s.cfg.Dead = &graveyard{err: err}
		for _, call := range calls {
			if code, body := ask(s, call[0], call[1], call[2], nil); code != want || (want != 499 && !strings.Contains(body, err.Error())) {
				t.Errorf("%s %s with %v: %d %s: want %d", call[0], call[1], err, code, body, want)
			}
		}
	}
	s := newServer(t, nil)
	for _, call := range calls {
		if code, _ := ask(s, call[0], call[1], call[2], nil); code != http.StatusServiceUnavailable {
			t.Errorf("%s %s without a stream: %d, want 503", call[0], call[1], code)
		}
		if code, body := ask(s, call[0], call[1], call[2], map[string]string{"Origin": "http://localhost:7411"}); code != http.StatusForbidden || !strings.Contains(body, "web pages") {
			t.Errorf("%s %s from a web page: %d %s, want 403", call[0], call[1], code, body)
		}
	}
}
