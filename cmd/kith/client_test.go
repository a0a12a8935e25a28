package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/kithgraph/kith/internal/server"
)

// What panics while a command keeps a graph ends the command with an error, after the stores are closed, not the process.
func TestClientReportsPanics(t *testing.T) {
	e := &env{ctx: context.Background(), log: slog.New(slog.DiscardHandler)}
	host, err := e.newGraphHost(true, false)
	if err != nil {
		t.Fatal(err)
	}
	host.turns.over = nil // closing it panics
	dir := t.TempDir()
	lock, err := lockData(dir)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	e.ctx = stopped
	cl := e.clientOf(&service{e: e, host: host, lock: lock, http: &server.Server{}})
	if err := cl.close(); err == nil || !strings.Contains(err.Error(), "close of nil channel") {
		t.Errorf("%v, want the panic", err)
	}
	again, err := lockData(dir)
	if err != nil {
		t.Fatalf("the data directory is still locked: %v", err)
	}
	if err := again.unlock(); err != nil {
		t.Error(err)
	}
}
