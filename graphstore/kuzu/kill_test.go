package kuzu

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// childPath, when it is set in the environment, makes the test binary the process that is to be killed.
const childPath = "KITH_TEST_KILL_PATH"

// killed applies transaction after transaction and acknowledges each on its output. Its first line says where it begins.
func killed(path string) error {
	cfg := testConfig()
	cfg.CheckpointRecords = 60 // so that some kills hit a checkpoint
	s, err := Open(path, cfg)
	if err != nil {
		return err
	}
	done, err := lastStep(s)
	if err != nil {
		return err
	}
	for n := done + 1; ; n++ {
		if err := s.Apply(context.Background(), killStep(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// lastStep reads how far earlier processes came.
func lastStep(s *Store) (n int, err error) {
	err = s.Load(context.Background(), bob, func(c graphstore.Change) error {
		if c.Topic != nil {
			n = c.Topic.Facts
		}
		return nil
	})
	return n, err
}

// killStep is the nth transaction: it counts in one space, makes nodes with edges in another, updates what the last one
// made and deletes what the one before made.
func killStep(n int) []graphstore.Change {
	id := func(n, i int) string { return fmt.Sprintf("f%d-%d", n, i) }
	tx := []graphstore.Change{graphstore.PutTopic(bob, graphstore.Topic{ID: "count", Facts: n})}
	for i := range 4 {
		tx = append(tx, factOf(ada, id(n, i)))
		if i > 0 {
			tx = append(tx, edgeOf(ada, id(n, i), id(n, 0), 0.5))
		}
	}
	if n > 1 {
		tx = append(tx, graphstore.PutFact(ada, graphstore.Fact{ID: id(n-1, 0), AgentID: "updated"}), edgeOf(ada, id(n-1, 1), id(n-1, 0), 1))
	}
	if n > 2 && n%3 != 0 {
		tx = append(tx, graphstore.DeleteKey(ada, edgeOf(ada, id(n-2, 3), id(n-2, 0), 1).Key()),
			graphstore.DeleteKey(ada, factOf(ada, id(n-2, 3)).Key()))
	}
	return tx
}

// TestKilledProcessLosesNothingItAcknowledged kills a process that writes, at random moments, and continues with its file:
// the graph must be that after the last acknowledged transaction, or after the one that was then in flight.
func TestKilledProcessLosesNothingItAcknowledged(t *testing.T) {
	const rounds = 5
	path := filepath.Join(t.TempDir(), "graph")
	model := graphstoretest.NewMemory()
	applied := 0
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds {
		acked := runAndKill(t, path, applied, 1+rng.IntN(40))
		s, err := Open(path, testConfig()) // the lock is free at once
		if err != nil {
			t.Fatalf("round %d, killed after %d: %v", round, acked, err)
		}
		got, states := digestOf(t, s), make([]graphstore.Digest, 0, 2)
		for ; applied < acked; applied++ {
			if err := model.Apply(t.Context(), killStep(applied+1)); err != nil {
				t.Fatal(err)
			}
		}
		states = append(states, digestOf(t, model))
		if got != states[0] { // the one in flight may have been committed
			applied++
			if err := model.Apply(t.Context(), killStep(applied)); err != nil {
				t.Fatal(err)
			}
			states = append(states, digestOf(t, model))
		}
		if got != states[len(states)-1] {
			t.Fatalf("round %d: %d acknowledged: the graph is %v, want one of %v", round, acked, got, states)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// runAndKill starts the child and kills it when it has acknowledged n transactions; it may have come further. It returns
// the last transaction that was acknowledged.
func runAndKill(t *testing.T, path string, from, n int) (acked int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childPath+"="+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	acked = from
	for lines.Scan() {
		if acked, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatalf("child says %q", lines.Text())
		}
		if acked == from+n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	if acked < from+n {
		t.Fatalf("child ended by itself after %d of %d:\n%s", acked-from, n, stderr.String())
	}
	return acked
}

// TestOtherProcessIsNamedAsTheOwner asks for a file that a living child owns.
func TestOtherProcessIsNamedAsTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childPath+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("child wrote nothing")
	}
	_, err = Open(path, testConfig())
	if want := fmt.Sprintf("process %d", cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want it to name %s", err, want)
	}
}
