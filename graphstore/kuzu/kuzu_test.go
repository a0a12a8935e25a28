package kuzu

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// The random comparison runs for a few seconds; a hard run is go test -run Exercise/churn -churn 10m. Each round prints its
// seed, which -churn-seed repeats.
var (
	churnTime = flag.Duration("churn", 3*time.Second, "how long the random comparison of the suite runs")
	churnSeed = flag.Uint64("churn-seed", 0, "seed of the random comparison's first round; 0 takes a new one")
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		fmt.Fprintln(os.Stderr, killed(path))
		os.Exit(1)
	}
	if path := os.Getenv(checkpointPath); path != "" {
		fmt.Fprintln(os.Stderr, checkpointed(path))
		os.Exit(1)
	}
	if path := os.Getenv(damagedPath); path != "" {
		fmt.Println(readDamaged(path))
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// testConfig is small and quiet.
func testConfig() Config {
	return Config{BufferPoolBytes: 128 << 20, MaxDBBytes: 1 << 34, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func mustOpen(t testing.TB, path string, cfg Config) *Store {
	t.Helper()
	s, err := Open(path, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// breaker makes a statement in the middle of a transaction fail.
type breaker struct{ left atomic.Int64 }

var errBroken = errors.New("injected into the transaction")

func (b *breaker) statement(string) error {
	if b.left.Load() > 0 && b.left.Add(-1) == 0 {
		return errBroken
	}
	return nil
}

// emptyGraph returns the bytes of a file with all tables and nothing in them, no identity either: copying it is faster than
// making the tables again.
var emptyGraph = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "kith-empty-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := Open(filepath.Join(dir, "graph"), testConfig())
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	err = withEngine(s.path, "MATCH (h:Head) DELETE h", "MATCH (i:Identity) DELETE i", "MATCH (m:Meta) SET m.schema_version = 1")
	if err != nil {
		return nil, err
	}
	return os.ReadFile(s.path)
})

// newGraph makes a file without records.
func newGraph(t testing.TB) (path string) {
	t.Helper()
	empty, err := emptyGraph()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "graph")
	if err := os.WriteFile(path, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// harness opens stores in a directory of the test's own. Reopening alternates between a clean end and one like a crash,
// that leaves the log to be replayed.
func harness(name string, change func(*Config)) graphstoretest.Harness {
	reopens := 0
	open := func(path string, crash bool) (*Store, *breaker, error) {
		cfg, b := testConfig(), &breaker{}
		change(&cfg)
		cfg.hooks.statement, cfg.hooks.keepLog, cfg.hooks.forceBatch = b.statement, crash, reopens%3 == 0
		if reopens%2 == 0 {
			cfg.hooks.page = 100
		}
		s, err := Open(path, cfg)
		return s, b, err
	}
	breakers := make(map[graphstore.Store]*breaker)
	must := func(t testing.TB, path string) graphstore.Store {
		t.Helper()
		reopens++
		s, b, err := open(path, reopens%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		breakers[s] = b
		return s
	}
	return graphstoretest.Harness{
		Name: name,
		Open: func(t testing.TB) graphstore.Store { return must(t, newGraph(t)) },
		Reopen: func(t testing.TB, s graphstore.Store) graphstore.Store {
			t.Helper()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return must(t, s.(*Store).path)
		},
		Checkpoint: func(s graphstore.Store) error { return s.(*Store).Checkpoint(context.Background()) },
		FailNext:   func(s graphstore.Store) { breakers[s].left.Store(1 + int64(reopens)%5) },
		ChurnTime:  *churnTime,
		ChurnSeed:  *churnSeed,
		Features:   graphstoretest.Features{OnDisk: true},
	}
}

func TestExerciseKuzu(t *testing.T) {
	graphstoretest.Exercise(t, harness("kuzu", func(*Config) {}))
}
