package child

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// What was planned against a graph that was lost never reaches the empty one in its place.
func TestEmptyGraphIsHeld(t *testing.T) {
	cfg, e := testConfig("kuzu", filepath.Join(t.TempDir(), "graph"))
	cfg.HoldEmpty = true
	s := mustStart(t, cfg)
	defer s.Close()
	change := []graphstore.Change{fact("ada", "f1")}
	if err := s.Apply(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if err := s.Quarantine(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	wait(t, e.quarantined)
	if err := s.Apply(t.Context(), change); !errors.Is(err, ErrEmptied) {
		t.Errorf("apply: %v, want ErrEmptied", err)
	}
	if _, err := s.Head(t.Context()); !errors.Is(err, ErrEmptied) || !s.Emptied() {
		t.Errorf("head: %v, emptied %v: want ErrEmptied", err, s.Emptied())
	}
	s.AcceptEmpty()
	wait(t, e.restarted)
	if err := s.Apply(t.Context(), change); !errors.Is(err, ErrUntrusted) {
		t.Errorf("apply to a child that nobody has looked at: %v, want ErrUntrusted", err)
	}
	foreign := errors.New("not what was committed")
	if err := s.Trust(t.Context(), func(graphstore.Head) error { return foreign }); !errors.Is(err, foreign) {
		t.Errorf("trust: %v, want the error of the check", err)
	}
	if err := s.Apply(t.Context(), change); !errors.Is(err, ErrUntrusted) {
		t.Errorf("apply to a child that was refused: %v, want ErrUntrusted", err)
	}
	if err := s.Trust(t.Context(), func(h graphstore.Head) error {
		if h.Digest != (graphstore.Digest{}) {
			t.Errorf("head %+v: want that of the empty graph", h)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Facts != 0 {
		t.Errorf("stats: %+v, %v: want the empty graph", st, err)
	}
	if err := s.Apply(t.Context(), change); err != nil {
		t.Error(err)
	}
}
