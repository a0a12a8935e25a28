package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/server"
)

// The proofs of backfills run the real command and the real service, in processes of their own. Without -backfill-proof they run in a
// short form, so that they cannot rot.
var (
	backfillProof = flag.Bool("backfill-proof", false, "run the proofs of backfills at full length, as make backfill does")
	backfillSeed  = flag.Uint64("backfill-seed", 0, "repeat the random moments of an earlier run of the proofs; 0 takes a new seed")
)

// proving returns a number at full length, or that of the short form.
func proving(atFull, short int) int {
	if *backfillProof {
		return atFull
	}
	return short
}

// proofSeed prints the seed of a proof.
func proofSeed(t *testing.T) uint64 {
	t.Helper()
	seed := *backfillSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	proofSays("%s: seed %d (repeat with -backfill-seed)", t.Name(), seed)
	return seed
}

func proofSays(format string, args ...any) { fmt.Printf("backfill: "+format+"\n", args...) }

// fullProofOnly skips what only means something at full length.
func fullProofOnly(t *testing.T) {
	t.Helper()
	if !*backfillProof {
		t.Skip("a measurement: -backfill-proof")
	}
}

// grouped is a kith command that leads a process group of its own, so that it can be killed with everything that it has started.
type grouped struct {
	process
	out   *bytes.Buffer // of the standard output; process.log has the standard error output
	ended chan struct{}
	err   error // of its end
}

// startGroup starts a command with the data directory and free ports.
func startGroup(t *testing.T, dir string, extra []string, args ...string) *grouped {
	t.Helper()
	g := &grouped{process: process{cmd: exec.Command(os.Args[0], args...), log: &bytes.Buffer{}}, out: &bytes.Buffer{}, ended: make(chan struct{})}
	g.cmd.Env = slices.Concat(os.Environ(), []string{
		childEnv + "=1", "KITH_DATA_DIR=" + dir, "KITH_LISTEN=127.0.0.1:0", "KITH_NATS_LISTEN=127.0.0.1:0", "KITH_LOG_LEVEL=warn", "KITH_GRAPH_STORE_CRASHES=1000",
	}, extra)
	g.cmd.Stdout, g.cmd.Stderr = g.out, g.log
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(g.ended)
		g.err = g.cmd.Wait()
	}()
	t.Cleanup(func() { g.killGroup() })
	return g
}

// killGroup is kill -9 of the command and all that it has started, unless it has ended by itself.
func (g *grouped) killGroup() (killed bool) {
	select {
	case <-g.ended:
		return false
	default:
	}
	_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
	<-g.ended
	return !g.cmd.ProcessState.Exited()
}

// stopGroup is an orderly stop that must succeed.
func (g *grouped) stopGroup(t *testing.T) {
	t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if <-g.ended; g.err != nil {
		t.Fatalf("stop: %v\n%s", g.err, g.log)
	}
}

// serveGroup starts kith serve and returns when it answers.
func serveGroup(t *testing.T, dir string, extra ...string) (*grouped, *client) {
	t.Helper()
	g := startGroup(t, dir, extra, "serve")
	e := &env{ctx: context.Background(), stdout: io.Discard}
	e.cfg.DataDir = dir
	var cl *client
	eventually(t, &g.process, func() bool {
		r, ok, err := e.running()
		if err != nil || !ok || r.PID != g.cmd.Process.Pid {
			return false
		}
		cl, err = e.newClient()
		return err == nil
	})
	return g, cl
}

// fileDigest is the digest of the graph of a data directory that nothing runs on.
func fileDigest(t *testing.T, dir string) string {
	t.Helper()
	code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "digest")
	if code != exitOK {
		t.Fatalf("digest: %d %s", code, errs)
	}
	return strings.TrimSpace(out)
}

// account waits for a backfill --json that must succeed.
func (g *grouped) account(t *testing.T) server.Backfill {
	t.Helper()
	if <-g.ended; g.err != nil {
		t.Fatalf("backfill: %v\n%s%s", g.err, g.out, g.log)
	}
	var b server.Backfill
	if err := json.Unmarshal(g.out.Bytes(), &b); err != nil {
		t.Fatalf("%v: %s", err, g.out)
	}
	if !b.Report.Done {
		t.Fatalf("not done: %+v", b)
	}
	return b
}

// residents are the most bytes that processes had resident at one time.
type residents struct{ command, store int64 }

func (r residents) String() string {
	return fmt.Sprintf("%d MiB, its store's process %d MiB", r.command>>20, r.store>>20)
}

// watchResidents looks at a command and its children until it is stopped.
func watchResidents(pid int) (stop func() residents) {
	var most residents
	var done sync.WaitGroup
	end := make(chan struct{})
	done.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			most.command = max(most.command, residentBytes(pid))
			for _, child := range childrenOf(pid) {
				most.store = max(most.store, residentBytes(child))
			}
		}
	})
	return func() residents {
		close(end)
		done.Wait()
		return most
	}
}

// childrenOf returns the processes that any thread of a process has started.
func childrenOf(pid int) (pids []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is good
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil { // the thread has ended
			continue
		}
		for _, field := range strings.Fields(string(data)) {
			if n, err := strconv.Atoi(field); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}
