package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// childEnv makes the test binary act as the kith command: processes that are killed need one.
const childEnv = "KITH_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if soakChild() {
		return
	}
	// A command that runs in the test's own process starts its store's process from this binary too.
	if os.Getenv(childEnv) != "" || (len(os.Args) > 1 && (os.Args[1] == graphChildName || os.Args[1] == searchFilesName)) {
		main()
		return
	}
	for _, kv := range os.Environ() { // the developer's own settings are no part of the tests
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "KITH_") || strings.HasPrefix(name, "MEMORY_") ||
			strings.HasPrefix(name, "QDRANT_") || name == "NATS_URL" {
			if name != "KITH_TEST_QDRANT" {
				_ = os.Unsetenv(name) // cannot fail for a name that is set
			}
		}
	}
	os.Exit(m.Run())
}

// kith runs one command in this process and returns its exit code and output.
func kith(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	code = run(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

// process is a kith command in a process of its own.
type process struct {
	cmd *exec.Cmd
	log *bytes.Buffer
}

// command starts a process with the data directory and free ports.
func command(t *testing.T, dir string, extra []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], args...), log: &bytes.Buffer{}}
	p.cmd.Env = append(os.Environ(), append([]string{
		childEnv + "=1", "KITH_DATA_DIR=" + dir, "KITH_LISTEN=127.0.0.1:0", "KITH_NATS_LISTEN=127.0.0.1:0",
	}, extra...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	_ = p.cmd.Wait()         // its status is that of a killed process
}

// stop is an orderly stop; it returns the exit error.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// terminate is an orderly stop that must succeed.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, p.log)
	}
}

// serve starts kith serve and returns when it answers.
func serve(t *testing.T, dir string, extra ...string) (*process, *client) {
	t.Helper()
	p := command(t, dir, extra, "serve")
	e := &env{ctx: context.Background(), stdout: io.Discard}
	e.cfg.DataDir = dir
	var cl *client
	eventually(t, p, func() bool {
		r, ok, err := e.running()
		if err != nil || !ok || r.PID != p.cmd.Process.Pid {
			return false
		}
		var clErr error
		cl, clErr = e.newClient()
		return clErr == nil
	})
	return p, cl
}

// eventually polls a condition of another process, which nothing in this one can be told of.
func eventually(t *testing.T, p *process, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("condition never came true; the process said:\n%s", p.log)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// projected waits until every event of the stream is in the graph.
func projected(t *testing.T, p *process, cl *client, events uint64) {
	t.Helper()
	eventually(t, p, func() bool {
		h, err := cl.health(context.Background())
		return err == nil && h.AppliedSeq >= events
	})
}

// writeEvents writes n write events of a few users, deterministic, each with two facts that mention, relate to and
// repeat others, some updates, supersessions and deletions; and returns the file.
func writeEvents(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	for i := range n {
		user, round := fmt.Sprintf("user-%d", i%5), i/5
		id := func(k int) string { return fmt.Sprintf("f%d", k) }
		var typ string
		var data map[string]any
		switch {
		case round%13 == 12:
			typ, data = "memory.fact.superseded.v1", map[string]any{"fact_id": id(round * 2 / 3), "by": id(round), "version": 5}
		case round%29 == 28:
			typ, data = "memory.fact.deleted.v1", map[string]any{"fact_id": id(round), "version": 7}
		default:
			fact := func(k int) map[string]any {
				return map[string]any{
					"id": id(k), "op": "add", "version": round + 1, "content": fmt.Sprintf("fact %d of %s", k, user),
					"tags":      []string{fmt.Sprintf("tag %d", k%7)},
					"entities":  []map[string]any{{"name": fmt.Sprintf("Entity %d", k%31), "type": "person"}},
					"relations": []map[string]any{{"to": id(k / 2), "type": "elaborates", "weight": .8}},
				}
			}
			typ, data = "memory.facts.written.v1", map[string]any{"facts": []any{fact(2 * round), fact(2*round + 1)}}
		}
		data["user_id"] = user
		line, err := json.Marshal(map[string]any{
			"specversion": "1.0", "id": fmt.Sprintf("e%d", i), "source": "test", "type": typ,
			"time": time.Unix(1_780_000_000+int64(i), 0).UTC(), "data": data,
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func publish(t *testing.T, dir, file string) {
	t.Helper()
	if code, out, errs := kith(t, "--data-dir", dir, "--log-level=warn", "publish", file); code != exitOK {
		t.Fatalf("publish: %d\n%s%s", code, out, errs)
	}
}

func digestOf(t *testing.T, cl *client) string {
	t.Helper()
	d, err := cl.digest(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// closedPort returns an address that nothing listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func searchRequest(user string) server.SearchRequest {
	return server.SearchRequest{UserID: user, Vector: []float32{1, 0}}
}

func itoa(n int) string { return fmt.Sprint(n) }

func results(ids ...string) []server.Result {
	out := make([]server.Result, len(ids))
	for i, id := range ids {
		out[i] = server.Result{ID: id, RankAfter: i + 1}
	}
	return out
}

// startWire starts a wire-level Qdrant at the address.
func startWire(t *testing.T, addr string) *wire.Server {
	t.Helper()
	srv, err := wire.New(wire.Options{Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	return srv
}
