package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kithgraph/kith/graphstore"
)

// What the parent that is to be killed runs, in its environment.
const (
	parentKind = "KITH_TEST_PARENT_KIND"
	parentPath = "KITH_TEST_PARENT_PATH"
	parentFact = "KITH_TEST_PARENT_FACT"
)

// killedParent is the parent that is to be killed. It starts a child and says which; then it applies one fact, or waits.
func killedParent() error {
	cfg, _ := testConfig(os.Getenv(parentKind), os.Getenv(parentPath))
	cfg.Stderr, cfg.SocketDir = os.Stdout, filepath.Dir(os.Getenv(parentPath))
	s, err := Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	fmt.Println(s.Health().PID)
	if id := os.Getenv(parentFact); id != "" {
		return s.Apply(context.Background(), []graphstore.Change{fact("ada", id)})
	}
	select {}
}

// parent starts such a parent and returns it and its child, of which the descriptor tells when it has ended.
func parent(t *testing.T, kind, path string, more ...string) (cmd *exec.Cmd, childFD int) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), role+"=parent", parentKind+"="+kind, parentPath+"="+path), more...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatalf("parent does not name its child: %v", err)
	}
	childFD, err = unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(childFD) })
	if strings.Contains(strings.Join(more, " "), "until") {
		var word string
		if _, err := fmt.Fscan(out, &word); err != nil || word != "waiting" {
			t.Fatalf("child says %q, %v", word, err)
		}
	}
	return cmd, childFD
}

// ended waits for the end of a process.
func ended(t *testing.T, pidfd int, limit time.Duration) bool {
	t.Helper()
	until := time.Now().Add(limit)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(time.Until(until).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			if err != nil {
				t.Fatal(err)
			}
			return n == 1
		}
	}
}

// shortDir returns a directory with a name that leaves room for that of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
}

// TestKilledParentTakesTheChildAlong kills a parent: its child ends within a second, and its socket is gone.
func TestKilledParentTakesTheChildAlong(t *testing.T) {
	dir := shortDir(t)
	cmd, child := parent(t, "kuzu", filepath.Join(dir, "graph"))
	kill(t, cmd)
	killed := time.Now()
	if !ended(t, child, time.Second) {
		t.Fatal("the child lives a second after its parent")
	}
	t.Logf("the child ended %v after its parent", time.Since(killed))
	if left, _ := filepath.Glob(filepath.Join(dir, "kith-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	cfg, _ := testConfig("kuzu", filepath.Join(dir, "graph")) // the lock is free
	start(t, cfg)
}

// TestOrphanFinishesItsTransaction kills a parent while the child is in a transaction: the child ends after it, not
// before.
func TestOrphanFinishesItsTransaction(t *testing.T) {
	dir := shortDir(t)
	sign, log := filepath.Join(dir, "sign"), filepath.Join(dir, "log")
	cmd, child := parent(t, "odd", filepath.Join(dir, "graph"), parentFact+"=until "+sign, logFile+"="+log)
	kill(t, cmd)
	for deadline := time.Now().Add(30 * time.Second); ; {
		b, _ := os.ReadFile(log) // it comes into being
		if strings.Contains(string(b), "parent is gone") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the child has not noticed; its log: %s", b)
		}
	}
	if ended(t, child, 50*time.Millisecond) {
		t.Fatal("the child ended in its transaction")
	}
	if err := os.WriteFile(sign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !ended(t, child, 30*time.Second) {
		t.Fatal("the child lives on after its transaction")
	}
	if !exists(sign + ".done") {
		t.Error("the transaction was not finished")
	}
}

// TestSignalsForTheGroupAreTheParents sends the child what a terminal or a service manager sends to all processes.
func TestSignalsForTheGroupAreTheParents(t *testing.T) {
	cfg, happened := testConfig("odd", "graph")
	s := start(t, cfg)
	pid := s.Health().PID
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE} {
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f")}); err != nil {
		t.Error(err)
	}
	if h := s.Health(); h.PID != pid || len(happened.crashed) > 0 {
		t.Errorf("health %+v, want process %d still", h, pid)
	}
}

// TestSocketIsPrivate looks at the one way into a running child.
func TestSocketIsPrivate(t *testing.T) {
	cfg, _ := testConfig("memory", "graph")
	start(t, cfg)
	dirs := sockets(t, os.TempDir())
	if len(dirs) != 1 {
		t.Fatalf("directories of sockets: %v, want one", dirs)
	}
	dir, err := os.Stat(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	if dir.Mode().Perm() != 0o700 || len(entries) != 1 || entries[0].Type() != os.ModeSocket {
		t.Errorf("directory %v with %v, want mode 0700 and one socket", dir.Mode(), entries)
	}
}
