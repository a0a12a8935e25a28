package child

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

func mustStart(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExerciseChildMemory(t *testing.T) {
	graphstoretest.Exercise(t, graphstoretest.Harness{
		Name: "child over memory",
		Open: func(t testing.TB) graphstore.Store {
			cfg, _ := testConfig("memory", filepath.Join(t.TempDir(), "graph"))
			return mustStart(t, cfg)
		},
		ChurnTime: time.Second,
	})
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
}

// lent is a store that others use before and after.
type lent struct{ *Store }

func (lent) Close() error { return nil }

// emptied takes out everything that is in a store.
func emptied(t testing.TB, s *Store) lent {
	t.Helper()
	var gone []graphstore.Change
	err := s.LoadAll(t.Context(), func(c graphstore.Change) error {
		gone = append(gone, graphstore.DeleteKey(c.Space, c.Key()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(gone) > 300 { // so many take longer than a new file
		err = s.Quarantine(t.Context(), "of no more use")
	} else {
		err = s.Apply(t.Context(), gone)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lent{s}
}

// ownStore are the parts of the suite that need a store of their own: they close, open again or kill it, or look at what is
// new in a new one.
var ownStore = []string{"/head/", "/reopen/", "/close/", "/context/", "/concurrent/", "/churn/"}

// TestExerciseChildKuzu runs the suite over Kuzu. The children are killed in the churn, between transactions; a reopen
// ends one parent's store and starts another's. Most of the time of that goes into processes that open a file, so where the
// suite does not look at them, one child does for all, and nothing is opened again: that is the suite of graphstore/kuzu's.
func TestExerciseChildKuzu(t *testing.T) {
	happened := make(map[graphstore.Store]*events)
	open := func(t testing.TB, path string) *Store {
		t.Helper()
		cfg, e := testConfig("kuzu", path)
		s := mustStart(t, cfg)
		happened[s] = e
		return s
	}
	shared := open(t, filepath.Join(t.TempDir(), "graph"))
	graphstoretest.Exercise(t, graphstoretest.Harness{
		Name: "child over kuzu",
		Open: func(t testing.TB) graphstore.Store {
			if slices.ContainsFunc(ownStore, func(part string) bool { return strings.Contains(t.Name(), part) }) {
				return open(t, filepath.Join(t.TempDir(), "graph"))
			}
			return emptied(t, shared)
		},
		Reopen: func(t testing.TB, s graphstore.Store) graphstore.Store {
			t.Helper()
			own, is := s.(*Store)
			if !is || testing.Short() {
				return s
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, own.cfg.Path)
		},
		FailNext: func(s graphstore.Store) {
			if err := syscall.Kill(s.(*Store).Health().PID, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			wait(t, happened[s].restarted)
		},
		Features:  graphstoretest.Features{OnDisk: true},
		ChurnTime: 2 * time.Second,
	})
	if err := shared.Close(); err != nil {
		t.Error(err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
}
