package main

import (
	"errors"
	"testing"

	"github.com/kithgraph/kith/internal/server"
)

// What somebody asked for is refused beside other such work, and waits for what the service does of itself.
func TestMaintenanceWaitsForTheServicesOwn(t *testing.T) {
	var m maintenance
	if other, _ := m.begin("backup"); other != "" {
		t.Fatal(other)
	}
	if err := m.try("compaction", func() error { return nil }); !errors.Is(err, server.ErrBusy) {
		t.Errorf("beside a backup: %v, want busy", err)
	}
	m.end()
	for _, own := range []string{verifyName, reloadName} {
		if other, _ := m.begin(own); other != "" {
			t.Fatal(other)
		}
		started, done := make(chan struct{}), make(chan error)
		go func() {
			close(started)
			done <- m.try("compaction", func() error { return nil })
		}()
		<-started
		select {
		case err := <-done:
			t.Errorf("beside %s: done at once: %v", own, err)
		default:
		}
		m.end()
		if err := <-done; err != nil {
			t.Errorf("after %s: %v", own, err)
		}
	}
}
