package main

import (
	"context"
	"errors"
	"sync"

	"github.com/kithgraph/kith/graphstore/live"
)

// turns lets others work on the graph while nothing else does: the feed has stopped, nothing is applied, nobody looks after
// the store. The graph's own goroutine does the work, between two spells of keeping the graph.
type turns struct {
	mu        sync.Mutex
	waiting   *errand
	interrupt context.CancelFunc // ends the present spell; nil between spells
	over      chan struct{}      // closed when there are no more turns
}

// errand is work for a turn. It returns the graph to go on with if it has put another one in the store.
type errand struct {
	work func(g *live.Graph) (next *live.Graph, err error)
	done chan error
}

// errNoTurn is why an errand is not done: the graph is not kept any more.
var errNoTurn = errors.New("the service is stopping")

func newTurns() *turns { return &turns{over: make(chan struct{})} }

// ask has the work done and returns its error, or that of ctx if it ends before the work begins. Only one asks at a time.
func (t *turns) ask(ctx context.Context, work func(g *live.Graph) (*live.Graph, error)) error {
	e := &errand{work: work, done: make(chan error, 1)}
	t.mu.Lock()
	t.waiting = e
	if t.interrupt != nil {
		t.interrupt()
	}
	t.mu.Unlock()
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		if t.withdraw(e) {
			return context.Cause(ctx)
		}
	case <-t.over:
		if t.withdraw(e) {
			return errNoTurn
		}
	}
	return <-e.done // it has begun
}

// withdraw takes an errand back that has not begun.
func (t *turns) withdraw(e *errand) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.waiting == e
	if mine {
		t.waiting = nil
	}
	return mine
}

// spell returns a context for keeping the graph that ends when somebody asks for a turn.
func (t *turns) spell(ctx context.Context) (spell context.Context, end func()) {
	spell, cancel := context.WithCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interrupt = cancel
	if t.waiting != nil {
		cancel()
	}
	return spell, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.interrupt = nil
		cancel()
	}
}

// take returns the errand that waits, if any, which then has to be done.
func (t *turns) take() *errand {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.waiting
	t.waiting = nil
	return e
}

// end says that there are no more turns.
func (t *turns) end() { close(t.over) }

// successor is a graph that has taken the place of the one that searches see in the store. They see it when it has caught
// up with what they have seen already.
type successor struct{ shown chan struct{} }

// show lets searches see a graph, and lets go of the one that they have seen.
func (h *graphHost) show(g *live.Graph) {
	h.place(g)
	h.tellShown()
}

// reveal is show for a graph that is whole: nothing is withheld any more when those who wait for it are told.
func (h *graphHost) reveal(g *live.Graph) {
	h.place(g)
	h.withheld.Store(nil)
	h.tellShown()
}

func (h *graphHost) place(g *live.Graph) {
	if old := h.live.Swap(g); old != g {
		old.Close()
	}
}

func (h *graphHost) tellShown() {
	if h.next != nil {
		close(h.next.shown)
		h.next = nil
	}
}
