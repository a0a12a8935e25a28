package child

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// TestHeadCrosses compares the child's head with that of a store in this process that took the same.
func TestHeadCrosses(t *testing.T) {
	cfg, _ := testConfig("memory", "graph")
	s, model := start(t, cfg), graphstoretest.NewMemory()
	mark := graphstore.Mark{Log: "log\u00e9", Seq: 1<<64 - 1}
	for _, store := range []graphstore.Store{s, model} {
		if err := store.ApplyMarked(t.Context(), graphstoretest.Graph(7, 2, 300), mark); err != nil {
			t.Fatal(err)
		}
	}
	want, err := model.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Head(t.Context())
	if err != nil || got.Mark != mark || got.Digest != want.Digest || got.ID == "" || got.ID == want.ID {
		t.Errorf("head %+v, %v, want mark and digest of %+v and another id", got, err, want)
	}
	if err := s.ApplyMarked(t.Context(), nil, graphstore.Mark{Log: "log", Seq: 3}); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Head(t.Context()); err != nil || got.Mark.Seq != 3 || got.Digest != want.Digest {
		t.Errorf("mark alone: head %+v, %v", got, err)
	}
}

// TestAbilities asks a store that has them and one that has not.
func TestAbilities(t *testing.T) {
	cfg, _ := testConfig("odd", "graph")
	s := start(t, cfg)
	if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "f"), fact("ada", "leak")}); err != nil {
		t.Fatal(err)
	}
	want, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy")
	h, st, err := s.Backup(t.Context(), path)
	if err != nil || h != want || !cmp.Equal(st, graphstore.Stats{Spaces: 1, Facts: 2}) {
		t.Errorf("backup: %+v, %+v, %v, want head %+v of 2 facts", h, st, err, want)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != want.ID {
		t.Errorf("backup wrote %q, %v, want the id %s", b, err, want.ID)
	}
	if _, _, err := s.Backup(t.Context(), filepath.Join(path, "no directory")); err == nil || errors.Is(err, ErrChildDied) {
		t.Errorf("backup to nowhere: %v, want the store's error", err)
	}
	// The one leak is of 64 MiB, all of them written to.
	if a, err := s.Account(t.Context()); err != nil || a.Leaked != 64<<20 || a.RSS < 64<<20 || a.RSS > 1<<40 {
		t.Errorf("account %+v, %v", a, err)
	}
	if _, err := s.Account(canceled(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("account: %v", err)
	}
	plain, _ := testConfig("memory", "graph")
	m := mustStart(t, plain)
	defer func() { _ = m.Close() }()
	for method, call := range map[string]func() error{
		"Backup":     func() error { _, _, err := m.Backup(t.Context(), path); return err },
		"Checkpoint": func() error { return m.Checkpoint(t.Context()) },
		"Leaked": func() error {
			a, err := m.Account(t.Context())
			if a.RSS < 1<<20 { // a Go program takes more than a megabyte
				t.Errorf("account without leaks: %+v", a)
			}
			return err
		},
	} {
		if err := call(); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "no method "+method) {
			t.Errorf("%s: got %v, want an error that names the method", method, err)
		}
	}
}

func canceled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestApplyBehindALongCall has an apply wait behind a checkpoint for longer than ApplyLimit: the child is not hung. It goes on
// when the end of the checkpoint's context has reached the child.
func TestApplyBehindALongCall(t *testing.T) {
	cfg, happened := testConfig("odd", "graph")
	waiting := make(heard, 10)
	cfg.Stderr, cfg.ApplyLimit = waiting, 100*time.Millisecond
	s := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	checked, applied := make(chan error, 1), make(chan error, 1)
	go func() { checked <- s.Checkpoint(ctx) }()
	wait(t, waiting)
	go func() { applied <- s.Apply(t.Context(), []graphstore.Change{fact("ada", "after the checkpoint")}) }()
	wait(t, waiting)
	<-time.After(3 * cfg.ApplyLimit) // what must not happen takes that long
	cancel()
	if err := <-checked; !errors.Is(err, context.Canceled) {
		t.Errorf("checkpoint: %v", err)
	}
	if err := <-applied; err != nil || len(happened.crashed) > 0 {
		t.Errorf("apply: %v", err)
	}
}
