package kuzu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// damagedPath, when it is set in the environment, makes the test binary a process that reads a file which may be damaged.
const damagedPath = "KITH_TEST_DAMAGED_PATH"

// readDamaged returns what a process finds in the file, in one line.
func readDamaged(path string) string {
	s, err := Open(path, testConfig())
	if err != nil {
		return "open error"
	}
	defer s.Close()
	head, err := s.Head(context.Background())
	if err != nil {
		return "open error"
	}
	var all graphstore.Digest
	err = s.LoadAll(context.Background(), func(c graphstore.Change) error { all.Add(c); return nil })
	switch {
	case errors.Is(err, graphstore.ErrDamaged):
		return "damage found"
	case err != nil:
		return "load error"
	}
	return whole(head, all)
}

// whole describes a graph and its head.
func whole(h graphstore.Head, records graphstore.Digest) string {
	return fmt.Sprint("whole: ", h.ID, " ", h.Mark, " ", h.Digest, " ", records)
}

// TestFlippedBitsNeverMakeAnotherGraph flips a bit of the file or of its log and has a process of its own read it: that
// process ends, or it gets an error, or the graph is what it was, or what it was after an earlier transaction, and its head
// says so: a log that cannot be read on ends there for Kuzu. Kuzu keeps no checksums, so it is the head that finds the rest.
func TestFlippedBitsNeverMakeAnotherGraph(t *testing.T) {
	const atOnce = 2
	flips := 60
	if testing.Short() {
		flips = 16
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	path, states := fileWithLog(t)
	sound := readFiles(t, path)
	var wait sync.WaitGroup
	var mu sync.Mutex
	outcomes := make(map[string]int)
	slots := make(chan struct{}, atOnce)
	for n := range flips {
		suffix := []string{"", walSuffix}[n%2]
		bit := sound.someBit(suffix, rng)
		copied := filepath.Join(t.TempDir(), "graph")
		sound.write(t, copied, suffix, bit)
		possible := states
		if suffix == "" {
			possible = states[:1] // without the log, so that no checkpoint follows: that takes longest
			if err := os.Remove(copied + walSuffix); err != nil {
				t.Fatal(err)
			}
		}
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			got := inAProcess(t, copied)
			switch i := slices.Index(possible, got); {
			case i == len(possible)-1:
				got = "everything equal"
			case i >= 0:
				got = "an earlier state that says so"
			}
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(got, "whole") {
				t.Errorf("bit %d of %q: %s, want one of %q", bit, "graph"+suffix, got, possible)
			}
			outcomes[fmt.Sprintf("%-4s %s", strings.TrimPrefix(suffix, "."), got)]++
		})
	}
	wait.Wait()
	for outcome, n := range outcomes {
		t.Logf("%3d %s", n, outcome)
	}
}

// fileWithLog makes a file, about half of whose records are in its log, and says how it read after each transaction.
func fileWithLog(t *testing.T) (path string, states []string) {
	t.Helper()
	all := slices.Concat([]graphstore.Change{factOf(ada, "f1")}, minorRecords(ada), graphstoretest.Graph(5, 2, 150),
		[]graphstore.Change{factOf(bob, "f1")}, minorRecords(bob))
	cfg := testConfig()
	cfg.hooks.keepLog = true
	s := mustOpen(t, newGraph(t), cfg)
	want := graphstore.Head{ID: s.ID()}
	for tx := range slices.Chunk(all, 100) {
		want.Mark = graphstore.Mark{Log: "log", Seq: want.Mark.Seq + 1}
		want.Digest.Merge(digest(tx...))
		if err := s.ApplyMarked(t.Context(), tx, want.Mark); err != nil {
			t.Fatal(err)
		}
		if want.Digest.Records() > len(all)/2 && len(states) == 0 {
			if err := s.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			states = append(states, whole(want, want.Digest))
		} else if len(states) > 0 {
			states = append(states, whole(want, want.Digest))
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.path, states
}

// files are a graph file and its log, by suffix.
type files map[string][]byte

func readFiles(t *testing.T, path string) files {
	t.Helper()
	f := make(files)
	for _, suffix := range []string{"", walSuffix} {
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		f[suffix] = b
	}
	return f
}

// someBit picks a bit of a byte that is not zero: most of a small file is empty.
func (f files) someBit(suffix string, rng *rand.Rand) int {
	for {
		if at := rng.IntN(len(f[suffix])); f[suffix][at] != 0 {
			return 8*at + rng.IntN(8)
		}
	}
}

// write writes the files with one bit flipped. It leaves out what is empty.
func (f files) write(t *testing.T, path, flipped string, bit int) {
	t.Helper()
	const block = 4096
	empty := make([]byte, block)
	for suffix, content := range f {
		out, err := os.OpenFile(path+suffix, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		err = out.Truncate(int64(len(content)))
		for i := 0; i < len(content); i += block {
			if b := content[i:min(i+block, len(content))]; !bytes.Equal(b, empty[:len(b)]) {
				_, wrong := out.WriteAt(b, int64(i))
				err = errors.Join(err, wrong)
			}
		}
		if suffix == flipped {
			_, wrong := out.WriteAt([]byte{content[bit/8] ^ 1<<(bit%8)}, int64(bit/8))
			err = errors.Join(err, wrong)
		}
		if err := errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// inAProcess returns what a process of its own says about the file. One that takes too long counts as one that ended: its
// supervisor would end it.
func inAProcess(t *testing.T, path string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), damagedPath+"="+path)
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "process hangs"
	case err != nil:
		return "process dies"
	}
	return strings.TrimSpace(string(out))
}
