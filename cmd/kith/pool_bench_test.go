package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver of the comparison

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/kuzu"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/rerank"
)

// BenchmarkPool reads the edges among a pool of 50 facts of a user of 20,000 facts and about 100,000 edges in four ways:
// a plain walk over adjacency lists in a Go map, the whole support propagation from the live graph (which reads the same
// edges, folds them, passes support on and sorts), SQL over the same edges in SQLite, and Kuzu's best form. All four run in
// turns in one process, the ratios are of their fastest blocks. x-walk is live to the plain walk, sqlite-x and kuzu-x are
// how many times slower than live the others are.
func BenchmarkPool(b *testing.B) {
	f := newPoolFixture(b)
	walked, viaSQL, viaKuzu := f.walk(), f.sqlite(b), f.kuzu(b)
	if walked != viaSQL || walked != viaKuzu || walked < 25 {
		b.Fatalf("edges among the pool: walk %d, sqlite %d, kuzu %d: want the same, and a pool with edges", walked, viaSQL, viaKuzu)
	}
	b.ReportAllocs()
	for b.Loop() {
		f.live(b)
	}
	b.StopTimer()
	took := fastest(
		[]int{200, 200, 10, 2},
		func() { f.walk() }, func() { f.live(b) }, func() { f.sqlite(b) }, func() { f.kuzu(b) })
	b.ReportMetric(float64(walked), "edges")
	b.ReportMetric(took[0], "walk-ns")
	b.ReportMetric(took[1], "live-ns")
	b.ReportMetric(took[1]/took[0], "x-walk")
	b.ReportMetric(took[2]/took[1], "sqlite-x")
	b.ReportMetric(took[3]/took[1], "kuzu-x")
}

// fastest returns the nanoseconds of one call of each function, from its fastest of ten blocks, taken in turns.
func fastest(calls []int, fs ...func()) []float64 {
	least := make([]float64, len(fs))
	for i := range least {
		least[i] = math.Inf(1)
	}
	for range 10 {
		for i, f := range fs {
			start := time.Now()
			for range calls[i] {
				f()
			}
			least[i] = min(least[i], float64(time.Since(start).Nanoseconds())/float64(calls[i]))
		}
	}
	return least
}

type poolFixture struct {
	space     graphstore.Space
	pool      []string
	adjacency map[string][]neighbour
	graph     *live.Graph
	ranker    *rerank.Ranker
	request   rerank.Request
	statement *sql.Stmt
	args      []any
	store     *kuzu.Store
}

type neighbour struct {
	id     string
	typ    graphstore.RelationType
	weight float64
}

func newPoolFixture(b *testing.B) *poolFixture {
	b.Helper()
	f := &poolFixture{space: graphstoretest.SpaceName(0), adjacency: map[string][]neighbour{}}
	changes := graphstoretest.Graph(1, 1, 20_000)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	var err error
	if f.store, err = kuzu.Open(filepath.Join(b.TempDir(), "pool.kuzu"), kuzu.Config{Logger: quiet}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.store.Close() })
	f.graph = live.New(f.store, live.Config{Logger: quiet})
	ctx := context.Background()
	if err := f.graph.Load(ctx); err != nil {
		b.Fatal(err)
	}
	for piece := range slices.Chunk(changes, 5000) {
		if err := f.graph.Apply(ctx, piece); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range changes {
		if e := c.Edge; e != nil && isLink(*e) {
			f.adjacency[e.Source] = append(f.adjacency[e.Source], neighbour{e.Target, e.Type, e.Weight})
			f.adjacency[e.Target] = append(f.adjacency[e.Target], neighbour{e.Source, e.Type, e.Weight})
		}
	}
	f.choosePool(changes)
	f.openSQLite(b, changes)
	if f.ranker, err = rerank.New(rerank.DefaultSettings()); err != nil {
		b.Fatal(err)
	}
	f.request = rerank.Request{Space: f.space, Now: graphstore.InstantOf(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))}
	for i, id := range f.pool {
		f.request.Pool = append(f.request.Pool, rerank.Candidate{Space: f.space, ID: id, Cosine: .9 - float64(i)/100})
	}
	return f
}

func isLink(e graphstore.Edge) bool {
	_, target := e.Type.Ends()
	return target == graphstore.KindFact
}

// choosePool takes a fact from the middle and those nearest to it in the graph: a pool as a search about one thing
// returns it, with many edges inside.
func (f *poolFixture) choosePool(changes []graphstore.Change) {
	var facts []string
	for _, c := range changes {
		if c.Fact != nil {
			facts = append(facts, c.Fact.ID)
		}
	}
	f.pool = []string{facts[len(facts)/2]}
	for i := 0; i < len(f.pool) && len(f.pool) < 50; i++ {
		for _, n := range f.adjacency[f.pool[i]] {
			if !slices.Contains(f.pool, n.id) && len(f.pool) < 50 {
				f.pool = append(f.pool, n.id)
			}
		}
	}
}

// walk counts the contributions among the pool, each once.
func (f *poolFixture) walk() int {
	in := make(map[string]struct{}, len(f.pool))
	for _, id := range f.pool {
		in[id] = struct{}{}
	}
	edges := 0
	for _, id := range f.pool {
		for _, n := range f.adjacency[id] {
			if _, ok := in[n.id]; ok && id < n.id {
				edges++
			}
		}
	}
	return edges
}

func (f *poolFixture) live(b *testing.B) {
	view, err := f.graph.View(f.space)
	if err != nil {
		b.Fatal(err)
	}
	f.request.Graph = view
	if _, err := f.ranker.Rerank(f.request); err != nil {
		b.Fatal(err)
	}
}

// openSQLite stores the same links with text keys and an index for each direction.
func (f *poolFixture) openSQLite(b *testing.B, changes []graphstore.Change) {
	b.Helper()
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "pool.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	exec := func(run func(string, ...any) (sql.Result, error), query string, args ...any) {
		if _, err := run(query, args...); err != nil {
			b.Fatal(err)
		}
	}
	exec(db.Exec, `PRAGMA journal_mode=WAL`)
	exec(db.Exec, `CREATE TABLE edges (src TEXT, dst TEXT, type INTEGER, weight REAL)`)
	tx, err := db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range changes {
		if e := c.Edge; e != nil && isLink(*e) {
			exec(tx.Exec, `INSERT INTO edges VALUES (?, ?, ?, ?)`, e.Source, e.Target, int(e.Type), e.Weight)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	exec(db.Exec, `CREATE INDEX by_src ON edges (src, dst)`)
	exec(db.Exec, `CREATE INDEX by_dst ON edges (dst, src)`)
	exec(db.Exec, `ANALYZE`)
	marks := strings.TrimSuffix(strings.Repeat("?,", len(f.pool)), ",")
	f.statement, err = db.Prepare(fmt.Sprintf(`SELECT src, dst, type, weight FROM edges WHERE src IN (%s) AND dst IN (%s)`, marks, marks))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.statement.Close() })
	for range 2 {
		for _, id := range f.pool {
			f.args = append(f.args, id)
		}
	}
}

func (f *poolFixture) sqlite(b *testing.B) int {
	rows, err := f.statement.Query(f.args...)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	edges := 0
	for rows.Next() {
		var src, dst string
		var typ int
		var weight float64
		if err := rows.Scan(&src, &dst, &typ, &weight); err != nil {
			b.Fatal(err)
		}
		edges++
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return edges
}

func (f *poolFixture) kuzu(b *testing.B) int {
	edges, err := f.store.PoolEdges(context.Background(), f.space, f.pool)
	if err != nil {
		b.Fatal(err)
	}
	return len(edges)
}
