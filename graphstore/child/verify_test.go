package child

import (
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// A graph that is what it says is verified where it is; nothing of it travels.
func TestVerify(t *testing.T) {
	for _, kind := range []string{"memory", "kuzu"} {
		cfg, _ := testConfig(kind, filepath.Join(t.TempDir(), "graph"))
		s := mustStart(t, cfg)
		if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f1"), fact("bob", "f1")}); err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
