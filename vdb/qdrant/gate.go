package qdrant

import "sync"

// gate lets calls in until it is closed, and closing it waits for those inside. It exists because the client panics when
// it is used after its Close. A call that comes while the gate closes is turned away at once, not made to wait.
type gate struct {
	mu struct {
		sync.Mutex
		closed bool
	}
	inside sync.WaitGroup
}

// enter reports whether the caller is in; it must leave then.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.closed {
		return false
	}
	g.inside.Add(1)
	return true
}

func (g *gate) leave() { g.inside.Done() }

// close returns when nobody is inside any more, and whether this call was the first.
func (g *gate) close() bool {
	g.mu.Lock()
	first := !g.mu.closed
	g.mu.closed = true
	g.mu.Unlock()
	g.inside.Wait()
	return first
}
