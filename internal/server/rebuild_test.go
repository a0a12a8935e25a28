package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kithgraph/kith/vdb"
)

func (o operator) Rebuild(_ context.Context, req RebuildRequest) (Rebuild, error) {
	return Rebuild{UserID: req.UserID, From: req.From, Done: req.Force, Bad: 2, Unseen: map[bool]int{true: 7}[req.NoNeighbors]}, o.err
}

func (o operator) RebuildState() RebuildState { return RebuildState{Running: true, Seq: 17} }

func TestRebuild(t *testing.T) {
	s := newServer(t, nil)
	for _, tc := range []struct {
		method, body string
		ops          operator
		code         int
		want         string
	}{
		{"POST", `{}`, operator{}, 200, `"done":false`},
		{"POST", `{"user_id": "ada", "force": true}`, operator{}, 200, `"user_id":"ada","from":"","done":true`},
		{"POST", `{"from": "store", "no_neighbors": true}`, operator{}, 200, `"unseen":7`},
		{"POST", `{"from": "store"}`, operator{}, 200, `"from":"store"`},
		{"POST", ``, operator{}, 200, `"from":""`},
		{"POST", `{"from": "nowhere"}`, operator{}, 422, "from"},
		{"POST", `{}`, operator{err: fmt.Errorf("ask: %w", vdb.ErrRefused)}, 503, "refused by the vector store"},
		{"POST", `{"user_id": ""}`, operator{}, 422, "body.user_id"},
		{"POST", `{"user_id": null, "force": true}`, operator{}, 422, "user_id null: want a value"},
		{"POST", `{"from": null}`, operator{}, 422, "from null: want a value"},
		{"POST", `{}`, operator{err: fmt.Errorf("ask: %w", vdb.ErrUnavailable)}, 503, "vector store is unavailable"},
		{"POST", `{}`, operator{err: fmt.Errorf("ask: %w", vdb.ErrNoCollection)}, 422, "collection does not exist"},
		{"POST", `{"user": "ada"}`, operator{}, 422, "user"},
		{"POST", `{}`, operator{err: fmt.Errorf("%w: backup", ErrBusy)}, 409, "backup"},
		{"POST", `{}`, operator{err: fmt.Errorf("%w: no stream", ErrBadRequest)}, 422, "no stream"},
		{"GET", ``, operator{}, 200, `"seq":17`},
	} {
		s.ops = tc.ops
		if code, body := ask(s, tc.method, "/v1/admin/rebuild", tc.body, nil); code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s %s: %d %s: want %d and %q", tc.method, tc.body, code, body, tc.code, tc.want)
		}
	}
	if code, _ := ask(s, "POST", "/v1/admin/rebuild", "{}", map[string]string{"Origin": "http://localhost"}); code != 403 {
		t.Errorf("a web page: %d", code)
	}
}

// The counts of an account add up.
func TestRebuildOriginsAddUp(t *testing.T) {
	all := RebuildOrigins{Log: 1, Store: 2, Both: 3, Together: 4, Changed: 5, Gone: 6}
	all.Add(RebuildOrigins{Log: 10, Store: 20, Both: 30, Together: 40, Changed: 50, Gone: 60})
	if want := (RebuildOrigins{Log: 11, Store: 22, Both: 33, Together: 44, Changed: 55, Gone: 66}); all != want || all.Sum() != 110 {
		t.Errorf("%+v, sum %d: want %+v and 110", all, all.Sum(), want)
	}
}
