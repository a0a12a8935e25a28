package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
)

func cmpStrings(want, got []string) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

func point(id string, v ...float32) vdb.Point {
	return vdb.Point{Space: mustSpace("u"), ID: id, Vector: v, Payload: vdb.Payload{Content: "coffee"}}
}

func TestNew_dimension(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	reopen := func(dimension int) (*sqlite.Store, error) {
		t.Helper()
		st, err := sqlite.New(path, sqlite.Config{Dimension: dimension})
		if err == nil {
			t.Cleanup(func() { _ = st.Close() })
		}
		return st, err
	}
	check := func(what string, err error, got, want int) {
		t.Helper()
		var mismatch *vdb.DimensionError
		if !errors.As(err, &mismatch) || *mismatch != (vdb.DimensionError{Got: got, Want: want}) {
			t.Errorf("%s: got error %v, want a DimensionError with %d and %d", what, err, got, want)
		}
	}
	unknown, err := reopen(0)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := reopen(3) // recorded without a point
	if err != nil {
		t.Fatal(err)
	}
	for what, st := range map[string]*sqlite.Store{"the handle opened before": unknown, "the handle that fixed it": fixed} {
		check(what, st.Upsert(t.Context(), []vdb.Point{point("x", 1, 2)}), 2, 3)
	}
	_, err = reopen(4)
	check("New", err, 4, 3)
	for _, dimension := range []int{0, 3} {
		st, err := reopen(dimension)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := st.Info(t.Context()); err != nil || info.Dimension != 3 {
			t.Errorf("opened with %d: dimension %d, error %v, want 3", dimension, info.Dimension, err)
		}
	}
}

func TestNew_modesAndOddPaths(t *testing.T) {
	for _, name := range []string{"plain", "blank and 咖啡", "a?mode=ro", "a#b", "a%41", "a&b;c", "it's", `a\b`, "a:b"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			path := filepath.Join(dir, name+".db")
			st := open(t, path, sqlite.Config{})
			if err := st.Upsert(t.Context(), []vdb.Point{point("x", 1, 2)}); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
				if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: mode %v, error %v, want 0600", e.Name(), info.Mode(), err)
				}
			}
			if diff := cmpStrings([]string{name + ".db", name + ".db-shm", name + ".db-wal"}, names); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("folder: mode %v, error %v, want 0700", info.Mode(), err)
			}
		})
	}
}

func TestNew_refusedPaths(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	readOnly := filepath.Join(dir, "read-only")
	if err := os.Mkdir(readOnly, 0o500); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		path string
		say  string
		is   error
	}{
		"empty":                 {"", "path is empty", nil},
		"a folder":              {dir, dir, nil},
		"inside of a file":      {filepath.Join(file, "x.db"), file, nil},
		"in a read-only folder": {filepath.Join(readOnly, "x.db"), readOnly, fs.ErrPermission},
		"below a read-only one": {filepath.Join(readOnly, "sub", "x.db"), readOnly, fs.ErrPermission},
		"with a NUL":            {dir + "/a\x00b", "open vector store", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if errors.Is(tc.is, fs.ErrPermission) && os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			st, err := sqlite.New(tc.path, sqlite.Config{})
			if err == nil {
				_ = st.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), tc.say) || (tc.is != nil && !errors.Is(err, tc.is)) {
				t.Errorf("got error %q, want one that names %q (%v)", err, tc.say, tc.is)
			}
		})
	}
}

func TestNew_foreignFilesStayAsTheyAre(t *testing.T) {
	execAll := func(t *testing.T, path string, statements ...string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	}
	write := func(content []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		make func(t *testing.T, path string)
		is   error
		say  []string
	}{
		"text":             {write([]byte(strings.Repeat("dear diary, ", 2000))), sqlite.ErrForeignFile, nil},
		"short text":       {write([]byte("hello")), sqlite.ErrForeignFile, nil},
		"zeros":            {write(make([]byte, 40_000)), sqlite.ErrForeignFile, nil},
		"another database": {func(t *testing.T, path string) { execAll(t, path, "CREATE TABLE notes (text TEXT)") }, sqlite.ErrForeignFile, nil},
		"another application": {func(t *testing.T, path string) { execAll(t, path, "PRAGMA application_id = 7") },
			sqlite.ErrForeignFile, []string{"0x7"}},
		"a newer schema": {func(t *testing.T, path string) {
			st := open(t, path, sqlite.Config{})
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			execAll(t, path, "UPDATE meta SET value = 99 WHERE key = 'schema_version'", "PRAGMA wal_checkpoint(TRUNCATE)")
		}, nil, []string{"schema version 99", "knows 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vectors.db")
			tc.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			st, err := sqlite.New(path, sqlite.Config{})
			if err == nil {
				_ = st.Close()
				t.Fatal("opened")
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got error %q, want %q", err, tc.is)
			}
			for _, say := range append(tc.say, path) {
				if !strings.Contains(err.Error(), say) {
					t.Errorf("error %q does not name %q", err, say)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (error %v)", err)
			}
		})
	}
}

func TestNew_twoAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	const openers = 6
	errs := make(chan error, openers)
	for range openers {
		go func() {
			st, err := sqlite.New(path, sqlite.Config{Dimension: 2})
			if err == nil {
				err = errors.Join(st.Upsert(noContext, []vdb.Point{point("x", 1, 2)}), st.Close())
			}
			errs <- err
		}()
	}
	for range openers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// A damaged file gives errors, never short answers.
func TestCorruptFile(t *testing.T) {
	fill := func(t *testing.T) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "vectors.db")
		st := open(t, path, sqlite.Config{})
		if err := st.Upsert(t.Context(), manyPoints(t, 300, 64)); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil { // moves everything from the WAL to the file
			t.Fatal(err)
		}
		return path
	}
	query := vdb.Query{Space: mustSpace("u"), Vector: manyPoints(t, 1, 64)[0].Vector, Limit: 1000}

	t.Run("pages overwritten", func(t *testing.T) {
		path := fill(t)
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		const page = 16384 // keep the first, with the schema
		if _, err := file.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size())-page), page); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		st, err := sqlite.New(path, sqlite.Config{})
		if err == nil {
			defer st.Close()
			_, err = st.Search(t.Context(), query)
		}
		if !errors.Is(err, sqlite.ErrCorrupt) {
			t.Errorf("got error %v, want ErrCorrupt", err)
		}
	})
	for name, damage := range map[string]string{
		"a vector is missing":   "DELETE FROM vecs WHERE row = (SELECT max(row) - 7 FROM vecs)",
		"the last is missing":   "DELETE FROM vecs WHERE row = (SELECT max(row) FROM vecs)",
		"a vector is short":     "UPDATE vecs SET unit = x'0000' WHERE row = (SELECT min(row) FROM vecs)",
		"tags are no JSON":      "UPDATE facts SET tags = '[' WHERE row = (SELECT min(row) FROM facts)",
		"extra is no object":    "UPDATE facts SET extra = '[1]' WHERE row = (SELECT min(row) FROM facts)",
		"extra number is wrong": "UPDATE facts SET extra = '{\"a\":1e999}' WHERE row = (SELECT min(row) FROM facts)",
	} {
		t.Run(name, func(t *testing.T) {
			path := fill(t)
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			st := open(t, path, sqlite.Config{})
			if m, err := st.Search(t.Context(), query); !errors.Is(err, sqlite.ErrCorrupt) {
				t.Errorf("got %d matches, error %v, want ErrCorrupt", len(m), err)
			}
		})
	}
}

// Another process that holds the write lock delays writes up to the busy timeout, and reads not at all.
func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	st := open(t, path, sqlite.Config{BusyTimeout: 20 * time.Millisecond})
	patient := open(t, path, sqlite.Config{BusyTimeout: time.Hour})
	if err := st.Upsert(t.Context(), []vdb.Point{point("x", 1, 2)}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if err := st.Upsert(t.Context(), []vdb.Point{point("y", 1, 2)}); !errors.Is(err, vdb.ErrUnavailable) {
		t.Errorf("Upsert: got error %v, want ErrUnavailable", err)
	}
	if err := st.Delete(t.Context(), mustSpace("u"), []string{"x"}); !errors.Is(err, vdb.ErrUnavailable) {
		t.Errorf("Delete: got error %v, want ErrUnavailable", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := patient.Upsert(ctx, []vdb.Point{point("y", 1, 2)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Upsert until the deadline: got error %v, want DeadlineExceeded", err)
	}
	if m, err := st.Search(t.Context(), vdb.Query{Space: mustSpace("u"), Vector: []float32{1, 2}, Limit: 5}); err != nil || len(m) != 1 {
		t.Errorf("Search: %d matches, error %v, want 1", len(m), err)
	}
	if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for _, handle := range []vdb.Store{st, patient} {
		if err := handle.Upsert(t.Context(), []vdb.Point{point("y", 1, 2)}); err != nil {
			t.Errorf("after the lock: %v", err)
		}
	}
}
