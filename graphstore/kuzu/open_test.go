package kuzu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

var (
	ada  = space("ada")
	bob  = space("bob")
	some = []graphstore.Change{factOf(ada, "f1"), factOf(ada, "f2"), edgeOf(ada, "f1", "f2", 0.5)}
)

func space(user string) graphstore.Space {
	s, err := graphstore.NewSpace(user)
	if err != nil {
		panic(err)
	}
	return s
}

func factOf(s graphstore.Space, id string) graphstore.Change {
	return graphstore.PutFact(s, graphstore.Fact{ID: id, State: graphstore.StateActive})
}

func edgeOf(s graphstore.Space, source, target string, w float64) graphstore.Change {
	return graphstore.PutEdge(s, graphstore.Edge{Source: source, Target: target, Type: graphstore.Causes, Weight: w,
		Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: source}})
}

func mustApply(t testing.TB, s *Store, changes ...graphstore.Change) {
	t.Helper()
	if err := s.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}

// digestOf returns the digest of everything in a store.
func digestOf(t testing.TB, s graphstore.Store) graphstore.Digest {
	t.Helper()
	var d graphstore.Digest
	if err := s.LoadAll(t.Context(), func(c graphstore.Change) error { d.Add(c); return nil }); err != nil {
		t.Fatal(err)
	}
	return d
}

func digest(changes ...graphstore.Change) graphstore.Digest {
	var d graphstore.Digest
	for _, c := range changes {
		d.Add(c)
	}
	return d
}

func TestSecondOwnerIsRefusedWithThePid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	s := mustOpen(t, path, testConfig())
	mustApply(t, s, some...)
	link := path + "-link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link, filepath.Join(filepath.Dir(path), ".", "x", "..", "graph")} {
		_, err := Open(name, testConfig())
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
			t.Errorf("%s: got %v, want ErrInUse with pid %d", name, err, os.Getpid())
		}
	}
	mustApply(t, s, factOf(bob, "f")) // the owner is undisturbed
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, path, testConfig())
	defer again.Close()
	if got, want := digestOf(t, again), digest(append(some, factOf(bob, "f"))...); got != want {
		t.Errorf("after close: got %v, want %v", got, want)
	}
}

func TestOpenMakesDirectoriesForTheOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := mustOpen(t, filepath.Join(dir, "graph"), testConfig())
	defer s.Close()
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v, want mode 0700", info, err)
	}
}

// header is the beginning of a Kuzu file of some format version.
func header(version uint64) []byte {
	return append(binary.LittleEndian.AppendUint64([]byte("KUZU"), version), make([]byte, 4096-12)...)
}

func TestOpenRefusesWhatIsNotItsOwn(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(path string) error
		says string
	}{
		{"directory", func(p string) error { return os.Mkdir(p, 0o700) }, "directory"},
		{"dangling link", func(p string) error { return os.Symlink(p+"-nothing", p) }, "link"},
		{"text file", func(p string) error { return os.WriteFile(p, bytes.Repeat([]byte("hello "), 999), 0o600) }, "Kuzu file"},
		{"short file", func(p string) error { return os.WriteFile(p, []byte("KUZU"), 0o600) }, "Kuzu file"},
		{"older format", func(p string) error { return os.WriteFile(p, header(38), 0o600) }, "format 38"},
		{"newer format", func(p string) error { return os.WriteFile(p, header(40), 0o600) }, "format 40"},
		{"stray log", func(p string) error { return os.WriteFile(p+".wal", []byte("x"), 0o600) }, ".wal"},
		{"stray shadow", func(p string) error { return os.WriteFile(p+".shadow", []byte("x"), 0o600) }, ".shadow"},
		{"other tables", func(p string) error { return withEngine(p, "CREATE NODE TABLE Person(id INT64 PRIMARY KEY)") }, "Person"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph")
			if err := tc.make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			_, err := Open(path, testConfig())
			if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want ErrForeign that says %q and the path", err, tc.says)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			l, err := lock(path)
			if err != nil {
				t.Errorf("the lock was kept: %v", err)
			} else if err := l.Unlock(); err != nil {
				t.Error(err)
			}
		})
	}
}

// withEngine runs statements on a file without this package's schema.
func withEngine(path string, statements ...string) error {
	s := newStore(path, testConfig().withDefaults(), nil)
	e, err := openEngine(path, s.cfg, &s.leaked)
	if err != nil {
		return err
	}
	defer e.close()
	for _, q := range append(statements, "CHECKPOINT") {
		if err := e.writer.exec(q); err != nil {
			return err
		}
	}
	return nil
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	if err := mustOpen(t, path, testConfig()).Close(); err != nil {
		t.Fatal(err)
	}
	if err := withEngine(path, fmt.Sprintf("MATCH (m:Meta) SET m.schema_version = %d", SchemaVersion+1)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, testConfig())
	if !errors.Is(err, ErrNewerSchema) || !strings.Contains(err.Error(), fmt.Sprint(SchemaVersion+1)) {
		t.Errorf("got %v, want ErrNewerSchema with both versions", err)
	}
}

// TestOpenCompletesASchemaThatWasInterrupted stands for a crash between the first statements.
func TestOpenCompletesASchemaThatWasInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	err := withEngine(path, "CREATE NODE TABLE Meta(id INT64 PRIMARY KEY, schema_version INT64)", schemaSteps()[0][0], schemaSteps()[0][1])
	if err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, testConfig())
	defer s.Close()
	mustApply(t, s, some...)
}

func TestOpenTakesAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, testConfig())
	defer s.Close()
	mustApply(t, s, some...)
}

func TestOpenSaysWhyThePathIsImpossible(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"empty path":            "",
		"parent is a file":      filepath.Join(file, "graph"),
		"name is too long":      filepath.Join(dir, strings.Repeat("n", 255)),
		"file system refuses":   "/proc/kith/graph", // for every user
		"path is much too long": filepath.Join(dir, strings.Repeat(strings.Repeat("d", 200)+"/", 30), "graph"),
	} {
		if s, err := Open(path, testConfig()); err == nil {
			t.Errorf("%s: opened", name)
			s.Close()
		}
	}
}

func TestOpenInADirectoryWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere; the impossible paths cover the refusal")
	}
	dir := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "graph"), testConfig()); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v, want a permission error", err)
	}
}
