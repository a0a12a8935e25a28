package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// builders are what children build with, by role.
var builders = map[string]func(context.Context, string, string, graphstore.Mark, func(func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error){
	"memory": buildMemory,
	"odd":    buildOdd,
	"count":  buildCount,
	"kuzu":   buildKuzu,
}

// buildMemory writes the digest of the records to the file.
func buildMemory(ctx context.Context, path, id string, mark graphstore.Mark, records func(func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error) {
	h, st := graphstore.Head{ID: id, Mark: mark}, graphstore.Stats{Bytes: 1 << 40}
	err := records(func(c graphstore.Change) error {
		h.Digest.Add(c)
		if c.Fact != nil {
			st.Facts++
		}
		return ctx.Err()
	})
	if err != nil {
		return h, st, err
	}
	return h, st, os.WriteFile(path, []byte(h.Digest.String()), 0o600)
}

// buildOdd obeys the ids of the graph to build.
func buildOdd(ctx context.Context, path, id string, mark graphstore.Mark, records func(func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error) {
	n := 0
	err := records(func(graphstore.Change) error {
		if n++; n < 3000 { // three chunks
			return nil
		}
		switch id {
		case "panic":
			panic("odd build")
		case "kill":
			die()
		case "refuse":
			return fmt.Errorf("%w: the 3000th", graphstore.ErrDangling)
		case "hang":
			fmt.Fprintln(os.Stderr, "waiting")
			select {}
		case "wait":
			if n == 3000 {
				fmt.Fprintln(os.Stderr, "waiting")
				<-ctx.Done()
				_ = os.WriteFile(path, []byte("noticed"), 0o600)
			}
			return ctx.Err()
		}
		return nil
	})
	if id == "twice" {
		err = records(func(graphstore.Change) error { return nil })
	}
	if id == "wait at the end" {
		fmt.Fprintln(os.Stderr, "waiting")
		<-ctx.Done()
		err = ctx.Err()
	}
	return graphstore.Head{ID: id, Mark: mark}, graphstore.Stats{}, err
}

func buildKuzu(ctx context.Context, path, id string, mark graphstore.Mark, records func(func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error) {
	cfg := kuzu.BuildConfig{Config: kuzu.Config{BufferPoolBytes: 128 << 20, MaxDBBytes: 1 << 34, Logger: quiet()}, ID: id, Mark: mark}
	return kuzu.Build(ctx, path, cfg, records)
}

func buildConfig(t testing.TB, kind, id string) BuildConfig {
	cfg, _ := testConfig(kind, filepath.Join(t.TempDir(), "graph"))
	return BuildConfig{Command: cfg.Command, Env: cfg.Env, Path: cfg.Path, ID: id, Mark: graphstore.Mark{Log: "log", Seq: 42},
		Errors: cfg.Errors, Stderr: cfg.Stderr}
}

// each yields changes.
func each(changes []graphstore.Change) func(func(graphstore.Change) error) error {
	return func(yield func(graphstore.Change) error) error {
		for _, c := range changes {
			if err := yield(c); err != nil {
				return err
			}
		}
		return nil
	}
}

func nothingLeft(t testing.TB) {
	t.Helper()
	if left := append(children(t), sockets(t, os.TempDir())...); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBuild(t *testing.T) {
	for name, records := range map[string][]graphstore.Change{"nothing": nil, "a graph": graphstoretest.Graph(5, 3, 2000)} {
		cfg := buildConfig(t, "memory", "the id")
		want := graphstore.Head{ID: "the id", Mark: cfg.Mark}
		facts := 0
		for _, c := range records {
			want.Digest.Add(c)
			if c.Fact != nil {
				facts++
			}
		}
		h, st, err := Build(t.Context(), cfg, each(records))
		if err != nil || h != want || st.Facts != facts || st.Bytes != 1<<40 {
			t.Errorf("%s: built %+v, %+v, %v, want %+v of %d facts", name, h, st, err, want, facts)
		}
		if b, err := os.ReadFile(cfg.Path); err != nil || string(b) != want.Digest.String() {
			t.Errorf("%s: wrote %q, %v", name, b, err)
		}
		nothingLeft(t)
	}
}

// TestBuildThatFails has builds end early in every way.
func TestBuildThatFails(t *testing.T) {
	records := graphstoretest.Graph(5, 3, 2000)
	if len(records) < 5000 {
		t.Fatalf("%d records: want more than the children look at", len(records))
	}
	bad := append(records[:100:100], graphstore.PutFact(records[0].Space, graphstore.Fact{ID: ""}))
	mine := errors.New("the records cannot be read")
	mineAfter := func(yield func(graphstore.Change) error) error {
		if err := each(records[:10])(yield); err != nil {
			return err
		}
		return mine
	}
	for name, c := range map[string]struct {
		kind, id string
		records  func(func(graphstore.Change) error) error
		want     error
		text     string
	}{
		"child panics":              {"odd", "panic", each(records), ErrChildDied, "panic: odd build"},
		"child is killed":           {"odd", "kill", each(records), ErrChildDied, "signal: killed"},
		"child refuses a record":    {"odd", "refuse", each(records), graphstore.ErrDangling, "the 3000th"},
		"builder reads twice":       {"odd", "twice", each(records), nil, "only once"},
		"record is bad":             {"memory", "id", each(bad), graphstore.ErrBadChange, "record 100"},
		"records end with an error": {"memory", "id", mineAfter, mine, "cannot be read"},
		"child builds nothing":      {"lean", "id", each(records), errors.ErrUnsupported, "ServeConfig.Build"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := buildConfig(t, c.kind, c.id)
			_, _, err := Build(t.Context(), cfg, c.records)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.text)
			}
			if exists(cfg.Path) {
				t.Error("left a file")
			}
			nothingLeft(t)
		})
	}
	if _, _, err := Build(t.Context(), BuildConfig{StopWait: -1}, each(nil)); err == nil || !strings.Contains(err.Error(), `ID ""`) ||
		!strings.Contains(err.Error(), `Path ""`) || !strings.Contains(err.Error(), "Command []") || !strings.Contains(err.Error(), "StopWait -1ns") {
		t.Errorf("empty config: %v", err)
	}
}

// TestBuildEndsWithItsContext ends the context while the child is at work: it hears of it, and one that does not end is killed.
func TestBuildEndsWithItsContext(t *testing.T) {
	for id, noticed := range map[string]bool{"wait": true, "wait at the end": false, "hang": false} {
		t.Run(id, func(t *testing.T) {
			cfg := buildConfig(t, "odd", id)
			waiting := make(heard, 10)
			cfg.Stderr = waiting
			if id == "hang" {
				cfg.StopWait = 100 * time.Millisecond
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error)
			go func() {
				_, _, err := Build(ctx, cfg, each(graphstoretest.Graph(5, 3, 4000)))
				ended <- err
			}()
			wait(t, waiting)
			cancel()
			if err := wait(t, ended); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the context's error", err)
			}
			if exists(cfg.Path) != noticed { // it is how the child says that it was told
				t.Errorf("child noticed: %v", !noticed)
			}
			nothingLeft(t)
		})
	}
}

// TestBuildHoldsTheRecordsUp has a child that reads a part of 20 MB and then nothing: what is under way is bounded by the
// window (1 MiB), the transport's buffers and a few chunks (256 KiB), as in TestReaderThatDoesNotRead.
func TestBuildHoldsTheRecordsUp(t *testing.T) {
	const records, most = 20_000, 3000 + 4000
	cfg := buildConfig(t, "odd", "wait")
	waiting := make(heard, 10)
	cfg.Stderr = waiting
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent := make(chan int, records)
	ended := make(chan error)
	go func() {
		_, _, err := Build(ctx, cfg, func(yield func(graphstore.Change) error) error {
			for i, c := range large(0, records) {
				if err := yield(c); err != nil {
					return err
				}
				sent <- i
			}
			return nil
		})
		ended <- err
	}()
	wait(t, waiting)
	for last := -1; last != len(sent); { // until it stands still
		last = len(sent)
		<-time.After(100 * time.Millisecond)
	}
	if n := len(sent); n > most || n < 3000-chunkRecords {
		t.Errorf("%d records sent to a child that read 3000, want at most %d", n, most)
	}
	cancel()
	if err := wait(t, ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	nothingLeft(t)
}
