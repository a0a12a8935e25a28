package kuzu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// TestBackupIsTheGraphOfItsHead backs up while others write and load: each copy opens, and holds the transactions up to the
// mark of its head and no others.
func TestBackupIsTheGraphOfItsHead(t *testing.T) {
	cfg := testConfig()
	cfg.CheckpointRecords = 200 // checkpoints come in between
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	defer s.Close()
	stop := make(chan struct{})
	var wait sync.WaitGroup
	model := graphstoretest.NewMemory()
	heads := make(map[uint64]graphstore.Digest)
	started := make(chan struct{})
	wait.Go(func() {
		for n := uint64(1); ; n++ {
			mark := graphstore.Mark{Log: "log", Seq: n}
			tx := killStep(int(n))
			if err := errors.Join(s.ApplyMarked(t.Context(), tx, mark), model.ApplyMarked(t.Context(), tx, mark)); err != nil {
				t.Error(err)
				return
			}
			h, err := model.Head(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			heads[n] = h.Digest
			if n == 1 {
				close(started)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	wait.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				digestOf(t, s)
			}
		}
	})
	<-started
	type backup struct {
		path string
		head graphstore.Head
		st   graphstore.Stats
	}
	var backups []backup
	for n := range 4 {
		b := backup{path: filepath.Join(t.TempDir(), fmt.Sprint("copy", n))}
		var err error
		if b.head, b.st, err = s.Backup(t.Context(), b.path); err != nil {
			t.Error(err)
			break
		}
		backups = append(backups, b)
	}
	close(stop)
	wait.Wait()
	for _, b := range backups {
		c := mustOpen(t, b.path, testConfig())
		if got := headOf(t, c); got != b.head || got.ID != s.ID() || got.Digest != heads[got.Mark.Seq] {
			t.Errorf("head %+v, want %+v with digest %v", got, b.head, heads[got.Mark.Seq])
		}
		if got := digestOf(t, c); got != b.head.Digest {
			t.Errorf("the copy holds %v, its head says %v", got, b.head.Digest)
		}
		st, err := c.Stats(t.Context())
		if st.Bytes = b.st.Bytes; err != nil || st != b.st || b.st.Bytes == 0 {
			t.Errorf("stats %+v, %v, want %+v", st, err, b.st)
		}
		mustApply(t, c, factOf(ada, "goes on"))
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mustApply(t, s, factOf(ada, "goes on too"))
}

func TestBackupRefusesAPathThatIsTaken(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, filepath.Join(dir, "graph"), testConfig())
	defer s.Close()
	mustApply(t, s, some...)
	taken, stray := filepath.Join(dir, "taken"), filepath.Join(dir, "stray")
	for name, content := range map[string]string{taken: "text", stray + walSuffix: "log"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nothing"), link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{taken: fs.ErrExist, link: fs.ErrExist, dir: fs.ErrExist, s.path: fs.ErrExist,
		filepath.Join(dir, "none", "copy"): fs.ErrNotExist, stray: ErrForeign, s.path + walSuffix: nil, s.path + shadowSuffix: nil, "": nil} {
		if _, _, err := s.Backup(t.Context(), path); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", path, err, want)
		}
	}
	if b, err := os.ReadFile(taken); err != nil || string(b) != "text" {
		t.Errorf("the file that was there: %q, %v", b, err)
	}
	if got := digestOf(t, s); got != digest(some...) {
		t.Error("the graph changed")
	}
}

// TestBackupThatIsStoppedLeavesNothing: the context ends after the first chunk; the disk is full.
func TestBackupThatIsStoppedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	full := false
	cfg := testConfig()
	cfg.hooks.copied = func() { cancel(stopped) }
	cfg.hooks.freeBytes = func(d string) (uint64, error) {
		if full && d != dir {
			return 1 << 20, nil
		}
		return freeBytes(d)
	}
	s := mustOpen(t, filepath.Join(dir, "graph"), cfg)
	defer s.Close()
	mustApply(t, s, graphstoretest.Graph(5, 2, 300)...)
	if err := s.Checkpoint(t.Context()); err != nil || fileSize(s.path) <= copyChunk {
		t.Fatalf("%v; the file has %d bytes: want more than a chunk", err, fileSize(s.path))
	}
	to := t.TempDir()
	if _, _, err := s.Backup(ctx, filepath.Join(to, "copy")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context ended", err)
	}
	full = true
	if _, _, err := s.Backup(t.Context(), filepath.Join(to, "copy")); !errors.Is(err, ErrDisk) {
		t.Errorf("got %v, want ErrDisk", err)
	}
	if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	mustApply(t, s, factOf(ada, "goes on"))
}
