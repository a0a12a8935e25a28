package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

func TestExercise_sqlite(t *testing.T) { exercise(t, "sqlite", sqlite.Config{}) }

// A cache too small for any user: every search reads the file.
func TestExercise_sqliteWithoutCache(t *testing.T) {
	exercise(t, "sqlite without cache", sqlite.Config{CacheBytes: 1, Readers: 1})
}

func exercise(t *testing.T, name string, cfg sqlite.Config) {
	t.Parallel() // most of the time goes into waiting for the disk
	paths := make(map[vdb.Store]string)
	vdbtest.Exercise(t, vdbtest.Harness{
		Name: name,
		Open: func(t *testing.T, _ int) vdb.Store {
			path := filepath.Join(t.TempDir(), "memory", "vectors.db")
			st := open(t, path, cfg)
			paths[st] = path
			return st
		},
		Reopen: func(t *testing.T, st vdb.Store) vdb.Store {
			path := paths[st]
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, path, cfg)
			paths[again] = path
			return again
		},
		Features: vdbtest.Features{Keyword: true, Durable: true},
	})
}

func open(t testing.TB, path string, cfg sqlite.Config) *sqlite.Store {
	t.Helper()
	st, err := sqlite.New(path, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// noContext is for code that runs outside of a test.
var noContext = context.Background()

func mustSpace(user string) graphstore.Space {
	sp, err := graphstore.NewSpace(user)
	if err != nil {
		panic(err)
	}
	return sp
}
