package child

import "errors"

// ErrEmptied reports, with Config.HoldEmpty, that the graph was moved aside and an empty one stands in its place, of which the
// caller may not know. Nothing was done.
var ErrEmptied = errors.New("graph was lost: an empty one is in its place")

// Emptied reports whether calls return ErrEmptied.
func (s *Store) Emptied() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.emptied
}

// AcceptEmpty lets calls through to the empty graph that took the place of a lost one: the caller plans anew.
func (s *Store) AcceptEmpty() { s.hold(false) }

func (s *Store) hold(emptied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.emptied = emptied && s.cfg.HoldEmpty
	close(s.mu.changed) // calls that wait for a child must not reach the empty graph
	s.mu.changed = make(chan struct{})
}
