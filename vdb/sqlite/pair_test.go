package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

// pair is two handles on one file, as two processes have them: every call goes to the other one than the call before. A
// store that misses a write through the other handle fails the suite.
type pair struct {
	handles [2]*sqlite.Store
	calls   atomic.Int64
}

func (p *pair) next() *sqlite.Store { return p.handles[p.calls.Add(1)%2] }

func (p *pair) Info(ctx context.Context) (vdb.Info, error) { return p.next().Info(ctx) }

func (p *pair) Search(ctx context.Context, q vdb.Query) ([]vdb.Match, error) {
	return p.next().Search(ctx, q)
}

func (p *pair) SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error) {
	return p.next().SearchMany(ctx, queries)
}

func (p *pair) Score(ctx context.Context, q vdb.Query, ids []string) ([]vdb.Match, error) {
	return p.next().Score(ctx, q, ids)
}

func (p *pair) Keyword(ctx context.Context, q vdb.KeywordQuery) ([]vdb.Match, error) {
	return p.next().Keyword(ctx, q)
}

func (p *pair) Hybrid(ctx context.Context, q vdb.HybridQuery) (vdb.HybridMatches, error) {
	return p.next().Hybrid(ctx, q)
}

func (p *pair) Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]vdb.Point, error) {
	return p.next().Get(ctx, space, ids, withVectors)
}

func (p *pair) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	return p.next().Scroll(ctx, q)
}

func (p *pair) Upsert(ctx context.Context, points []vdb.Point) error {
	return p.next().Upsert(ctx, points)
}

func (p *pair) Delete(ctx context.Context, space graphstore.Space, ids []string) error {
	return p.next().Delete(ctx, space, ids)
}

func (p *pair) Count(ctx context.Context, space graphstore.Space) (int64, error) {
	return p.next().Count(ctx, space)
}

func (p *pair) Erase(ctx context.Context, space graphstore.Space) (int64, error) {
	return p.next().Erase(ctx, space)
}

func (p *pair) Close() error { return errors.Join(p.handles[0].Close(), p.handles[1].Close()) }

func TestExercise_sqliteThroughTwoHandles(t *testing.T) {
	t.Parallel()
	vdbtest.Exercise(t, vdbtest.Harness{
		Name: "sqlite through two handles",
		Open: func(t *testing.T, _ int) vdb.Store {
			path := filepath.Join(t.TempDir(), "vectors.db")
			return &pair{handles: [2]*sqlite.Store{open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})}}
		},
		Features: vdbtest.Features{Keyword: true},
	})
}

// TestOtherHandle spells out what the suite through two handles implies.
func TestOtherHandle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	reader, writer := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	u := mustSpace("u")
	search := func(want ...string) {
		t.Helper()
		matches, err := reader.Search(t.Context(), vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]string, 0, len(matches))
		for _, m := range matches {
			got = append(got, m.ID+"="+m.Payload.Content)
		}
		if diff := cmpStrings(want, got); diff != "" {
			t.Errorf("what the reader sees (-want +got):\n%s", diff)
		}
	}
	put := func(id, content string, v ...float32) {
		t.Helper()
		if err := writer.Upsert(t.Context(), []vdb.Point{{Space: u, ID: id, Vector: v, Payload: vdb.Payload{Content: content}}}); err != nil {
			t.Fatal(err)
		}
	}
	search()
	put("a", "first", 1, 0) // also fixes the dimension, which the reader has to learn
	search("a=first")
	search("a=first")
	put("b", "second", 2, 1)
	search("a=first", "b=second")
	put("a", "rewritten", 0, 1)
	search("b=second", "a=rewritten")
	if err := writer.Delete(t.Context(), u, []string{"b"}); err != nil {
		t.Fatal(err)
	}
	search("a=rewritten")
	put("b", "back", 1, 0)
	search("b=back", "a=rewritten")
}
