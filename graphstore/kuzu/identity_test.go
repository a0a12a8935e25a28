package kuzu

import (
	"path/filepath"
	"testing"

	"github.com/google/uuid"
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

// TestFileWithoutAnIDGetsOne stands for a file of a version that did not know identities.
func TestFileWithoutAnIDGetsOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	s := mustOpen(t, path, testConfig())
	mustApply(t, s, some...)
	digest, old := digestOf(t, s), s.ID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"DROP TABLE Identity", "MATCH (i:Identity) DELETE i", "MATCH (i:Identity) SET i.graph = ''"} {
		if err := withEngine(path, damage); err != nil {
			t.Fatal(err)
		}
		var id string
		for range 2 {
			s := mustOpen(t, path, testConfig())
			if got := digestOf(t, s); got != digest {
				t.Errorf("%s: graph is %v, want %v", damage, got, digest)
			}
			if s.ID() == "" || s.ID() == old || (id != "" && s.ID() != id) {
				t.Errorf("%s: id %q after %q, want a new one that stays", damage, s.ID(), old)
			}
			id = s.ID()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		old = id
	}
}
