package kuzu

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
)

func TestIDIsThatOfTheFile(t *testing.T) {
	dir := t.TempDir()
	ids := map[string]string{}
	for _, name := range []string{"one", "two"} {
		for _, keepLog := range []bool{true, false} { // as after a crash, then after a clean end
			cfg := testConfig()
			cfg.hooks.keepLog = keepLog
			s := mustOpen(t, filepath.Join(dir, name), cfg)
			id := s.ID()
			if u, err := uuid.Parse(id); err != nil || u.Version() != 4 || u.String() != id {
				t.Errorf("id %q, want a random UUID", id)
			}
			if before, ok := ids[name]; ok && before != id {
				t.Errorf("file %s has id %s after %s", name, id, before)
			}
			ids[name] = id
			if size := fileSize(s.path + walSuffix); size != 0 {
				t.Errorf("the log has %d bytes after open, want none", size)
			}
			mustApply(t, s, some...)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ids["one"] == ids["two"] {
		t.Errorf("two files have the id %s", ids["one"])
	}
}

// TestFileWithoutAnIDIsDamaged: without it nobody can tell what became of the graph that the file was.
func TestFileWithoutAnIDIsDamaged(t *testing.T) {
	for _, damage := range []string{"MATCH (i:Identity) DELETE i", "MATCH (i:Identity) SET i.graph = ''",
		"MATCH (i:Identity) SET i.graph = '5a0a5a7e-0000-4000-8000-000000000000'"} {
		path := filepath.Join(t.TempDir(), "graph")
		s := mustOpen(t, path, testConfig())
		mustApply(t, s, some...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := withEngine(path, damage); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path, testConfig()); !errors.Is(err, graphstore.ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", damage, err)
			if err == nil {
				s.Close()
			}
		}
	}
}
