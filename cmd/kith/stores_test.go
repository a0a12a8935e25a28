package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/vdb"
)

// The settings of keyword search in Qdrant reach the driver under the names an operator sets them by.
func TestQdrantKeywordSettings(t *testing.T) {
	srv := startWire(t, "127.0.0.1:0")
	t.Setenv("QDRANT_URL", "http://"+srv.Addr())
	t.Setenv("QDRANT_CREATE_DIMENSION", "2")
	open := func(settings ...string) (vdb.Store, error) {
		t.Helper()
		for _, s := range settings {
			name, value, _ := strings.Cut(s, "=")
			t.Setenv(name, value)
		}
		var c config.Config
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(nil); err != nil {
			return nil, err
		}
		store, err := (&env{cfg: c, log: slog.New(slog.DiscardHandler)}).openVectors()
		if err == nil {
			t.Cleanup(func() { _ = store.Close() })
		}
		return store, err
	}
	keyword := func(settings ...string) error {
		t.Helper()
		store, err := open(settings...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Keyword(t.Context(), vdb.KeywordQuery{Space: spaceOf(t, "ann"), Text: "tea", Limit: 1})
		return err
	}
	for _, how := range []string{"client", "server"} {
		if err := keyword("QDRANT_KEYWORD="+how, "QDRANT_COLLECTION="+how); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
	if err := keyword("QDRANT_KEYWORD=off"); !errors.Is(err, vdb.ErrUnsupported) {
		t.Errorf("off: got %v", err)
	}
	if err := keyword("QDRANT_KEYWORD=client", "QDRANT_SPARSE_VECTOR_NAME=elsewhere"); !errors.Is(err, vdb.ErrUnsupported) || !strings.Contains(err.Error(), `"elsewhere"`) {
		t.Errorf("another sparse vector: got %v", err)
	}
	// The server for tests refuses every language but none, which shows that the setting arrives.
	if err := keyword("QDRANT_KEYWORD=server", "QDRANT_SPARSE_VECTOR_NAME=bm25", "QDRANT_BM25_LANGUAGE=english", "QDRANT_BM25_TOKENIZER=word"); err == nil || !strings.Contains(err.Error(), `"english"`) {
		t.Errorf("english: got %v", err)
	}
	for setting, say := range map[string]string{"QDRANT_BM25_LANGUAGE=englsh": `"englsh"`, "QDRANT_BM25_TOKENIZER=prefix": `"prefix"`, "QDRANT_KEYWORD=bm25": `"bm25"`} {
		good := []string{"QDRANT_KEYWORD=server", "QDRANT_BM25_LANGUAGE=english", "QDRANT_BM25_TOKENIZER=word"}
		if _, err := open(append(good, setting)...); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: got %v, want it refused", setting, err)
		}
	}
}
