package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func (o operator) Forget(_ context.Context, req ForgetRequest) (Forgotten, error) {
	return Forgotten{UserID: req.UserID, DryRun: req.DryRun, Sequence: 18}, o.err
}

func TestForget(t *testing.T) {
	s := newServer(t, nil)
	for name, tc := range map[string]struct {
		err  error
		body string
		code int
		want string
	}{
		"receipt":       {nil, `{"user_id": "ann", "dry_run": true}`, http.StatusOK, `"sequence":18`},
		"no user":       {nil, `{"dry_run": true}`, http.StatusUnprocessableEntity, "user_id"},
		"empty user":    {nil, `{"user_id": ""}`, http.StatusUnprocessableEntity, "user_id"},
		"unknown field": {nil, `{"user_id": "ann", "dryrun": true}`, http.StatusUnprocessableEntity, "dryrun"},
		"busy":          {fmt.Errorf("%w: backup", ErrBusy), `{"user_id": "ann"}`, http.StatusConflict, "backup"},
		"no graph":      {fmt.Errorf("%w: off", ErrNoGraph), `{"user_id": "ann"}`, http.StatusServiceUnavailable, "off"},
		"bad":           {fmt.Errorf("%w: that way", ErrBadRequest), `{"user_id": "ann"}`, http.StatusUnprocessableEntity, "that way"},
		"broken":        {errors.New("disk on fire"), `{"user_id": "ann"}`, http.StatusInternalServerError, "disk on fire"},
	} {
		s.ops = operator{err: tc.err}
		if code, body := ask(s, "POST", "/v1/admin/forget", tc.body, nil); code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %d %s: want %d and %q", name, code, body, tc.code, tc.want)
		}
	}
}
