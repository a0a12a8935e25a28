package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/embed"
	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// testEmbedder returns an embedder of the endpoint over an empty store, which has no dimension yet.
func testEmbedder(t *testing.T, endpoint string) *embedder {
	t.Helper()
	e := &env{ctx: context.Background(), log: slog.New(slog.DiscardHandler)}
	e.cfg.DataDir = t.TempDir()
	e.cfg.Embed = config.Embed{URL: endpoint, Model: "words", Key: embedKey, Timeout: time.Second}
	m, err := e.newEmbedder(vdbtest.NewMemory(0), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	return m
}

// A vector store that was not there at the start, and has another dimension than the model, is noticed when it is: by the
// embedding, not by the search. What it refuses is not remembered.
func TestTheCollectionsDimensionIsLearntLater(t *testing.T) {
	endpoint := httptest.NewServer(&wordModel{dimension: 8})
	defer endpoint.Close()
	m := testEmbedder(t, endpoint.URL)
	m.found(vdb.Info{}) // still empty
	m.found(vdb.Info{Dimension: 16})
	if _, err := m.Embed(t.Context(), "tea"); !errors.Is(err, embed.ErrDimension) || !strings.Contains(err.Error(), "8 elements of model \"words\": want 16") {
		t.Errorf("%v: want both dimensions", err)
	}
	if _, err := os.Stat(m.file); !os.IsNotExist(err) {
		t.Errorf("%v: want nothing remembered", err)
	}
	m.found(vdb.Info{Dimension: 8})
	if _, err := m.Embed(t.Context(), "tea"); err != nil {
		t.Error(err)
	}
	if records, err := readEmbedRecords(m.file); err != nil || records.Collections["the embedded store"].Dimension != 8 {
		t.Errorf("%+v, %v: want the model remembered", records, err)
	}
}

// An endpoint that stops answering is told of by readiness until it answers again.
func TestTroubleOfTheEndpoint(t *testing.T) {
	endpoint := httptest.NewServer(&wordModel{dimension: 8})
	m := testEmbedder(t, endpoint.URL)
	if _, err := m.Embed(t.Context(), "tea"); err != nil || m.trouble() != nil {
		t.Errorf("%v, %v: want none", err, m.trouble())
	}
	endpoint.Close()
	if _, err := m.Embed(t.Context(), "coffee"); !errors.Is(err, embed.ErrUnavailable) {
		t.Errorf("%v: want it unavailable", err)
	}
	if got := m.trouble(); len(got) != 1 || !strings.Contains(got[0], "texts without a vector are searched by keyword: embeddings endpoint is unavailable") {
		t.Errorf("%q", got)
	}
	if none := (*embedder)(nil); none.trouble() != nil {
		t.Error("no endpoint has trouble")
	}
}

// Collections have records of their own; one that says the same stays as it is, with its date.
func TestEmbedRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "embedding.json")
	day := func(n int) time.Time { return time.Date(2026, 9, n, 0, 0, 0, 0, time.UTC) }
	for _, r := range []struct {
		collection string
		record     embedRecord
	}{
		{"a", embedRecord{Model: "one", Dimension: 8, Since: day(1)}},
		{"b", embedRecord{Model: "two", Dimension: 4, Since: day(2)}},
		{"a", embedRecord{Model: "one", Dimension: 8, Since: day(3)}}, // says the same
		{"b", embedRecord{Model: "two", ServedAs: "two-large", Dimension: 6, Since: day(4)}},
	} {
		if err := r.record.remember(path, r.collection); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readEmbedRecords(path)
	if err != nil {
		t.Fatal(err)
	}
	want := embedRecords{map[string]embedRecord{
		"a": {Model: "one", Dimension: 8, Since: day(1)},
		"b": {Model: "two", ServedAs: "two-large", Dimension: 6, Since: day(4)},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%v, %v: want the one file", files, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readEmbedRecords(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("%v: want the file named", err)
	}
}
