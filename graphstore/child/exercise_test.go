package child

import (
	"path/filepath"
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

// emptyKuzu returns an empty graph's file: to make one takes twice as long as to open it.
func emptyKuzu(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph")
	cfg, _ := testConfig("kuzu", path)
	if err := mustStart(t, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	return at(path)[""]
}

// TestExerciseChildKuzu runs the suite over Kuzu. The children are killed in the churn, between transactions; a reopen
// ends one parent's store and starts another's.
func TestExerciseChildKuzu(t *testing.T) {
	empty := emptyKuzu(t)
	happened := make(map[graphstore.Store]*events)
	open := func(t testing.TB, path string) graphstore.Store {
		t.Helper()
		cfg, e := testConfig("kuzu", path)
		s := mustStart(t, cfg)
		happened[s] = e
		return s
	}
	h := graphstoretest.Harness{
		Name: "child over kuzu",
		Open: func(t testing.TB) graphstore.Store {
			path := filepath.Join(t.TempDir(), "graph")
			if !strings.Contains(t.Name(), "/head/id") { // which wants graphs of different ids
				write(t, path, map[string]string{"": empty})
			}
			return open(t, path)
		},
		Reopen: func(t testing.TB, s graphstore.Store) graphstore.Store {
			t.Helper()
			// Most of the time of a reopen goes into the new process. What the file keeps is the suite of graphstore/kuzu's.
			if name := t.Name(); !strings.Contains(name, "/reopen/") && !strings.Contains(name, "/head/") {
				return s
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, s.(*Store).cfg.Path)
		},
		FailNext: func(s graphstore.Store) {
			if err := syscall.Kill(s.(*Store).Health().PID, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			wait(t, happened[s].restarted)
		},
		Features:  graphstoretest.Features{OnDisk: true},
		ChurnTime: 2 * time.Second,
	}
	if testing.Short() {
		h.Reopen, h.ChurnTime = nil, time.Nanosecond
	}
	graphstoretest.Exercise(t, h)
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
}
