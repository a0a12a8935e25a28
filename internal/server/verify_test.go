package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
)

// verified answers with a verification of what it is asked.
type verified struct{ err error }

func (v verified) Verify(_ context.Context, req backfill.VerifyRequest) (backfill.VerifyReport, error) {
	return backfill.VerifyReport{Request: req, Coverage: .5}, v.err
}

func (v verified) VerifyState() VerifyState {
	return VerifyState{Running: &backfill.VerifyReport{Users: 3, AllUsers: 7}}
}

func TestVerify(t *testing.T) {
	s := newServer(t, nil)
	if code, body := ask(s, "POST", "/v1/verify", "{}", nil); code != 503 {
		t.Errorf("without a verifier: %d %s", code, body)
	}
	for _, tc := range []struct {
		body string
		err  error
		code int
		want string
	}{
		{`{"user_id": "ada", "repair": true, "dry_run": true}`, nil, 200, `"user_id":"ada","repair":true,"dry_run":true`},
		{`{"user": "ada"}`, nil, 422, "user"},
		{`{"sample": -1}`, nil, 422, "sample"},
		{`{"user_id": ""}`, nil, 422, "body.user_id"},
		{`{"memory": 5}`, nil, 422, `"detail":"memory 5: want`},
		{`{"sample": 1, "seed": 9007199254740991}`, nil, 200, `"seed":9007199254740991`},
		{`{"sample": 1, "seed": 9007199254740992}`, nil, 422, "body.seed"},
		{``, nil, 200, `"request":{}`},
		{`{}`, fmt.Errorf("%w: backfill two", ErrBusy), 409, "two"},
		{`{}`, fmt.Errorf("%w: repair: no points", backfill.ErrBadRequest), 422, `"detail":"repair: no points"`},
		{`{}`, fmt.Errorf("%w: off", ErrNoGraph), 503, "off"},
		{`{}`, context.DeadlineExceeded, 500, "deadline"},
	} {
		s.cfg.Verifier = verified{tc.err}
		if code, body := ask(s, "POST", "/v1/verify", tc.body, nil); code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d %s: want %d and %q", tc.body, code, body, tc.code, tc.want)
		}
	}
	if code, body := ask(s, "GET", "/v1/verify", "", nil); code != 200 || !strings.Contains(body, `"users":3,"of_users":7`) {
		t.Errorf("how far: %d %s", code, body)
	}
	if code, _ := ask(s, "POST", "/v1/verify", "{}", map[string]string{"Origin": "http://localhost"}); code != 403 {
		t.Errorf("a web page: %d", code)
	}
}

// Before a verification there is no number of one, and one of a named user is none of the graph. One of a sample is.
func TestVerifyMetrics(t *testing.T) {
	s := newServer(t, nil)
	one := backfill.VerifyReport{Request: backfill.VerifyRequest{UserID: "ada"}, Coverage: .25}
	s.cfg.Metrics.CountVerify(one, time.Unix(1_000, 0))
	if _, body := ask(s, "GET", "/metrics", "", nil); strings.Contains(body, "\nkith_verify_") {
		t.Errorf("series before any verification:\n%s", body)
	}
	all := backfill.VerifyReport{Request: backfill.VerifyRequest{Sample: 1}, Coverage: .75, Drift: map[string]int64{backfill.DriftOrphan: 3, backfill.DriftState: 0}}
	s.cfg.Metrics.CountVerify(all, time.Unix(1_700_000_000, 0))
	_, body := ask(s, "GET", "/metrics", "", nil)
	for _, want := range []string{
		"\nkith_verify_coverage_ratio 0.75\n", "\nkith_verify_drift{kind=\"orphan\"} 3\n", "\nkith_verify_drift{kind=\"state\"} 0\n",
		"\nkith_verify_last_timestamp_seconds 1.7e+09\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q", want)
		}
	}
}
