package kuzu

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

var checkpointKills = flag.Int("checkpoint-kills", 6, "how many checkpoints are killed")

// checkpointPath, when it is set in the environment, makes the test binary a process that checkpoints.
const checkpointPath = "KITH_TEST_CHECKPOINT_PATH"

const (
	checkpointFacts = 3000 // of a step
	checkpointLives = 6    // steps until they are deleted
)

// checkpointed applies step after step, each followed by a checkpoint. It says when one begins and when it has ended.
func checkpointed(path string) error {
	cfg := testConfig()
	cfg.CheckpointRecords = 1 << 30
	cfg.hooks.merging = func() { fmt.Println("begin") }
	s, err := Open(path, cfg)
	if err != nil {
		return err
	}
	done, err := lastStep(s)
	if err != nil {
		return err
	}
	for n := done + 1; ; n++ {
		if err := s.Apply(context.Background(), checkpointStep(n)); err != nil {
			return err
		}
		if err := s.Checkpoint(context.Background()); err != nil {
			return err
		}
		fmt.Println("end")
	}
}

// checkpointStep makes facts with texts of their own and deletes those of an earlier step, so that pages of the file, those of
// the indexes among them, are used again in no order.
func checkpointStep(n int) []graphstore.Change {
	tx := []graphstore.Change{graphstore.PutTopic(bob, graphstore.Topic{ID: "count", Facts: n})}
	for i := range checkpointFacts {
		tx = append(tx, graphstore.PutFact(ada, graphstore.Fact{ID: fmt.Sprintf("f%d-%d", n, i), AgentID: fmt.Sprintf("agent %d of %d", i, n)}))
		if n > checkpointLives && i%3 != 0 {
			tx = append(tx, graphstore.DeleteKey(ada, factOf(ada, fmt.Sprintf("f%d-%d", n-checkpointLives, i)).Key()))
		}
	}
	return tx
}

// checkpointLeft returns how many facts are left after n steps: of a step that is old enough one in three.
func checkpointLeft(n int) int {
	old := max(0, n-checkpointLives)
	return old*(checkpointFacts/3) + (n-old)*checkpointFacts
}

// TestKilledCheckpointIsTakenBack kills a process at random moments of a checkpoint, whose transaction was committed before.
// The file must open and be whole: what is in it is found by its key, which shows that the index is whole too.
func TestKilledCheckpointIsTakenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	undone := 0
	for range *checkpointKills {
		killCheckpoint(t, path, 2+rng.IntN(3), time.Duration(rng.IntN(60))*time.Millisecond)
		if _, err := os.Stat(path + undoSuffix); err == nil {
			undone++
		}
		s := mustOpen(t, path, testConfig())
		steps, err := lastStep(s)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.index.stats().Facts, checkpointLeft(steps); got != want {
			t.Fatalf("%d facts after %d steps, want %d", got, steps, want)
		}
		onWriter(t, s, func() { findLast(t, s) })
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{undoSuffix, undoNoteSuffix, undoSuffix + partialSuffix} {
			if _, err := os.Stat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is left: %v", path+suffix, err)
			}
		}
	}
	if undone == 0 {
		t.Error("no kill hit a checkpoint: the test shows nothing")
	}
	t.Logf("%d of %d kills left a checkpoint to be taken back", undone, *checkpointKills)
}

// keysLooked is how many rows are looked up, of each table those that were made last: they are in the pages in question.
const keysLooked = 500

// findLast looks rows of two tables up by their keys.
func findLast(t *testing.T, s *Store) {
	t.Helper()
	for _, table := range []*nodeTable{textTable, memoryTable} {
		var ids []int64
		err := s.engine.writer.query("MATCH (n:"+table.name+") RETURN n.id ORDER BY n.id DESC LIMIT $n", params{"n": int64(keysLooked)}, func(row []any) error {
			ids = append(ids, row[0].(int64))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			n, err := s.engine.writer.count("MATCH (n:"+table.name+" {id: $id}) RETURN count(*)", params{"id": id})
			if err != nil || n != 1 {
				t.Fatalf("%s %d is found %d times by its key: %v", table.name, id, n, err)
			}
		}
	}
}

// killCheckpoint starts the process and kills it some time after its nth checkpoint began.
func killCheckpoint(t *testing.T, path string, n int, after time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), checkpointPath+"="+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() != "begin" {
			continue
		}
		if n--; n == 0 {
			time.Sleep(after)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	if n > 0 {
		t.Fatalf("child ended by itself:\n%s", stderr.String())
	}
}

// TestCopyOfAnotherTimeIsNotPutBack leaves copies beside a graph that they do not belong to.
func TestCopyOfAnotherTimeIsNotPutBack(t *testing.T) {
	for name, change := range map[string]func(*undoNote){
		"another start of the machine": func(n *undoNote) { n.Boot = "other" },
		"another file":                 func(n *undoNote) { n.File++ },
		"the log was merged":           func(n *undoNote) { n.Log = 1 << 40 },
		"no log":                       func(n *undoNote) { n.Log = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig()
			cfg.hooks.keepLog = true
			s := mustOpen(t, newGraph(t), cfg)
			mustApply(t, s, factOf(ada, "a"))
			want := digestOf(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			note, err := newUndoNote(s.path)
			if err != nil {
				t.Fatal(err)
			}
			change(&note)
			b, err := json.Marshal(note)
			if err != nil {
				t.Fatal(err)
			}
			for suffix, content := range map[string]string{undoNoteSuffix: string(b), undoSuffix: "no graph"} {
				if err := os.WriteFile(s.path+suffix, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			again := mustOpen(t, s.path, testConfig())
			defer again.Close()
			if got := digestOf(t, again); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
			if _, err := os.Stat(s.path + undoSuffix); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the copy is left: %v", err)
			}
		})
	}
}
