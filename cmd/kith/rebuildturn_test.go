package main

import (
	"context"
	"errors"
	"testing"

	"github.com/kithgraph/kith/graphstore/live"
)

// keeper serves turns as the graph's goroutine does: it keeps the graph until somebody asks.
func keeper(ctx context.Context, t *turns) (ended chan struct{}) {
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		defer t.end()
		for ctx.Err() == nil {
			spell, end := t.spell(ctx)
			<-spell.Done()
			end()
			if e := t.take(); e != nil {
				_, err := e.work(nil)
				e.done <- err
			}
		}
	}()
	return ended
}

func TestTurns(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	turns := newTurns()
	failed := errors.New("failed")
	nothing := func(*live.Graph) (*live.Graph, error) { return nil, failed }

	// Nobody serves yet: an errand that is given up is not done.
	gone, leave := context.WithCancel(context.Background())
	leave()
	if err := turns.ask(gone, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
	if e := turns.take(); e != nil {
		t.Error("an errand that was given up waits")
	}
	// An errand that waits before the first spell ends it at once.
	result := make(chan error)
	go func() { result <- turns.ask(ctx, nothing) }()
	ended := keeper(ctx, turns)
	if err := <-result; !errors.Is(err, failed) {
		t.Errorf("%v, want the errand's own error", err)
	}
	for range 100 {
		if err := turns.ask(ctx, nothing); !errors.Is(err, failed) {
			t.Fatalf("%v, want the errand's own error", err)
		}
	}
	// One that has begun is waited for, whatever becomes of its context.
	begun, release := make(chan struct{}), make(chan struct{})
	during, end := context.WithCancel(context.Background())
	go func() {
		result <- turns.ask(during, func(*live.Graph) (*live.Graph, error) { close(begun); <-release; return nil, failed })
	}()
	<-begun
	end()
	close(release)
	if err := <-result; !errors.Is(err, failed) {
		t.Errorf("%v, want the errand's own error", err)
	}
	stop()
	<-ended
	if err := turns.ask(context.Background(), nothing); !errors.Is(err, errNoTurn) {
		t.Errorf("%v, want %v", err, errNoTurn)
	}
}
