package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func (o operator) Rebuild(_ context.Context, req RebuildRequest) (Rebuild, error) {
	return Rebuild{UserID: req.UserID, Done: req.Force, Bad: 2}, o.err
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
		{"POST", `{"user_id": "ada", "force": true}`, operator{}, 200, `"user_id":"ada","done":true`},
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
