package kuzu

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// buildPath and buildTemp, when they are set in the environment, make TestBuildUntilKilled the process that is to be killed.
const (
	buildPath = "KITH_TEST_BUILD_PATH"
	buildTemp = "KITH_TEST_BUILD_TEMP"
)

// TestBuildUntilKilled is no test by itself. It builds and says what it begins.
func TestBuildUntilKilled(t *testing.T) {
	path := os.Getenv(buildPath)
	if path == "" {
		t.Skip("runs as a child")
	}
	cfg := BuildConfig{Config: testConfig(), TempDir: os.Getenv(buildTemp), Verify: true}
	stop := make(chan struct{}) // nobody closes it: the kill is to hit in this phase
	cfg.phase = func(name string) {
		fmt.Println("phase", name)
		if name == os.Getenv("KITH_TEST_BUILD_STOP") {
			<-stop
		}
	}
	_, _, err := Build(context.Background(), path, cfg, func(yield func(graphstore.Change) error) error {
		for i, c := range killedRecords() {
			if i == 1000 {
				cfg.phase("middle of the records")
			}
			if err := yield(c); err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println("phase ended", err)
}

func killedRecords() []graphstore.Change { return graphstoretest.Graph(1, 2, 200) }

// TestKilledBuildLeavesNothingInTheWay kills a build where it stands still at the beginning of a phase, or while it runs
// through one. A store opens at the path as if nothing had been, and the next build removes what is left.
func TestKilledBuildLeavesNothingInTheWay(t *testing.T) {
	for i, tt := range []struct {
		stop    string
		running bool
	}{{"middle of the records", false}, {"copy Memory", false}, {"copy RELATED", true}, {"checkpoint", true}, {"verify", true}, {"publish", true}} {
		temp, dir := "", t.TempDir()
		if i%2 == 1 {
			temp = t.TempDir()
		}
		path := filepath.Join(dir, "graph")
		runBuildAndKill(t, path, temp, tt.stop, tt.running)
		_, err := os.Lstat(path)
		published := err == nil
		if published && tt.stop != "publish" {
			t.Fatalf("killed in %s: there is a file", tt.stop)
		}
		var want graphstore.Digest
		if published {
			want = digest(killedRecords()...)
		}
		s := mustOpen(t, path, testConfig())
		if got := digestOf(t, s); got != want {
			t.Errorf("killed in %s: the graph has %v, want %v", tt.stop, got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		cfg := testBuildConfig()
		cfg.TempDir = temp
		mustBuild(t, path, cfg, killedRecords()...)
		wantFiles(t, dir, "graph", "graph.lock")
		if temp != "" {
			wantFiles(t, temp)
		}
	}
}

// runBuildAndKill kills the child when it begins a phase. It waits there, or runs on.
func runBuildAndKill(t *testing.T, path, temp, stop string, running bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBuildUntilKilled$")
	cmd.Env = append(os.Environ(), buildPath+"="+path, buildTemp+"="+temp)
	if !running {
		cmd.Env = append(cmd.Env, "KITH_TEST_BUILD_STOP="+stop)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hit := false
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if lines.Text() == "phase "+stop {
			hit = true
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // killed
	if !hit {
		t.Fatalf("child never came to %s:\n%s", stop, strings.Join(said, "\n"))
	}
}
