package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/kithgraph/kith/internal/server"
)

// maintenance is what is done to the graph's file apart from writing events: one thing at a time.
type maintenance struct {
	mu    sync.Mutex
	name  string // empty: none
	since time.Time
	done  chan struct{} // closed at its end
}

// What the service does of itself when its store's process has started.
const (
	verifyName = "verification"
	reloadName = "loading anew"
)

// try does the work, or refuses at once while other maintenance goes on that somebody asked for. It waits for what the
// service does of itself, which nobody can know of.
func (m *maintenance) try(name string, work func() error) error {
	for {
		other, over := m.begin(name)
		switch other {
		case "":
			defer m.end()
			return work()
		case verifyName, reloadName:
			<-over
		default:
			return fmt.Errorf("%w: %s", server.ErrBusy, other)
		}
	}
}

// wait does the work when other maintenance is over.
func (m *maintenance) wait(ctx context.Context, name string, work func() error) error {
	for {
		other, over := m.begin(name)
		if other == "" {
			defer m.end()
			return work()
		}
		select {
		case <-over:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", other, ctx.Err())
		}
	}
}

// begin begins, or returns what is going on and a channel that is closed at its end.
func (m *maintenance) begin(name string) (other string, over <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.name != "" {
		return m.name, m.done
	}
	m.name, m.since, m.done = name, time.Now(), make(chan struct{})
	return "", nil
}

func (m *maintenance) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.done)
	m.name, m.since = "", time.Time{}
}

// now returns what is going on, if anything.
func (m *maintenance) now() (name string, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.name, m.since
}
