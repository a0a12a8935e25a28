package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kithgraph/kith/internal/server"
)

// halfway is a service whose work ends early; only what the commands of this test ask is there.
type halfway struct {
	server.Operator
	server.DeadLetters
}

func (halfway) Instance() string { return "halfway" }
func (halfway) ReplayDead(context.Context, server.DeadWork) (server.DeadReport, error) {
	return server.DeadReport{Matched: 9, Done: 4, Replayed: []server.DeadReplay{{Number: 3, Sequence: 17, Subject: "memory.events.x"}}},
		fmt.Errorf("%w: NATS is gone", server.ErrNoDeadLetters)
}
func (halfway) DropDead(context.Context, server.DeadWork) (server.DeadReport, error) {
	return server.DeadReport{}, fmt.Errorf("%w: NATS is gone", server.ErrNoDeadLetters)
}
func (halfway) Forget(context.Context, server.ForgetRequest) (server.Forgotten, error) {
	return server.Forgotten{UserID: "ann", Sequence: 18, Log: server.ForgottenLog{Events: 5}, Graph: server.ForgottenGraph{Edges: map[string]int{}}, Steps: []server.ForgotStep{{Step: "erase events"}}},
		errors.New("disk is full")
}

// TestWorkThatEndsEarlyIsPrinted: the account of what was done is on standard output, and the error makes the command fail.
func TestWorkThatEndsEarlyIsPrinted(t *testing.T) {
	h, dir := halfway{}, t.TempDir()
	web := httptest.NewServer(server.New(nil, h, server.Config{Dead: h, Logger: slog.New(slog.DiscardHandler)}).Handler())
	t.Cleanup(web.Close)
	if err := (runFile{PID: 1, Instance: h.Instance(), HTTP: web.URL}).write(dir); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args      []string
		out, errs string
	}{
		"replay":       {[]string{"dead", "replay", "--all", "--user=ann"}, "replayed 4 of 9 dead letters", "NATS is gone"},
		"replay, JSON": {[]string{"dead", "replay", "--all", "--user=ann", "--json"}, `"done": 4`, "NATS is gone"},
		"forget":       {[]string{"forget", "ann"}, "5 events", "disk is full"},
		"forget, JSON": {[]string{"forget", "ann", "--json"}, `"events": 5`, "disk is full"},
	} {
		code, out, errs := kith(t, append([]string{"--data-dir", dir}, c.args...)...)
		if code != exitFailed || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("%s: %d\n%s%s\nwant %d, %q and %q", name, code, out, errs, exitFailed, c.out, c.errs)
		}
	}
	if code, out, errs := kith(t, "--data-dir", dir, "dead", "drop", "3"); code != exitFailed || out != "" || !strings.Contains(errs, "NATS is gone") {
		t.Errorf("drop of which nothing was done: %d %s%s, want the error alone", code, out, errs)
	}
}
