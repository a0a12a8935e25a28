package kuzu

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

func testBuildConfig() BuildConfig { return BuildConfig{Config: testConfig(), Verify: true} }

func mustBuild(t testing.TB, path string, cfg BuildConfig, records ...graphstore.Change) (graphstore.Head, graphstore.Stats) {
	t.Helper()
	head, st, err := Build(t.Context(), path, cfg, recordsOf(records))
	if err != nil {
		t.Fatal(err)
	}
	return head, st
}

// wantFiles fails the test unless the directory has these files only.
func wantFiles(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", dir, got, want)
	}
}

// loaded returns what a store yields, by key.
func loaded(t testing.TB, s graphstore.Store) map[string]graphstore.Change {
	t.Helper()
	all := make(map[string]graphstore.Change)
	err := s.LoadAll(context.Background(), func(c graphstore.Change) error {
		all[fmt.Sprintf("%q %s", c.Space, c.Key())] = c
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBuiltGraphIsTheAppliedOne builds and applies the same records, with texts of every sort in every place, and compares
// what the two files hold.
func TestBuiltGraphIsTheAppliedOne(t *testing.T) {
	defer setFlag(t, "rapid.checks", "4")()
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt)
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		applied := mustOpen(t, filepath.Join(dir, "applied"), testConfig())
		defer applied.Close()
		mustApply(t, applied, records...)
		cfg := testBuildConfig()
		cfg.Verify = false // what differs is to be seen
		head, st, err := Build(t.Context(), filepath.Join(dir, "built"), cfg, recordsOf(records))
		if err != nil {
			rt.Fatal(err)
		}
		built := mustOpen(t, filepath.Join(dir, "built"), testConfig())
		defer built.Close()
		opts := []gocmp.Option{cmpopts.EquateEmpty(), gocmp.Comparer(func(a, b graphstore.Space) bool { return a == b })}
		if diff := gocmp.Diff(loaded(t, applied), loaded(t, built), opts...); diff != "" {
			rt.Fatalf("applied and built differ (-applied +built):\n%s", diff)
		}
		if got := digestOf(t, built); got != digest(records...) || head.Digest != got {
			rt.Fatalf("digest %s, head %s, want %s", got, head.Digest, digest(records...))
		}
		want, err := applied.Stats(t.Context())
		st.Bytes, want.Bytes = 0, 0
		if err != nil || st != want {
			rt.Fatalf("stats %+v, want %+v (%v)", st, want, err)
		}
		if got, err := built.Head(t.Context()); err != nil || got != head {
			rt.Fatalf("head of the store is %+v, %v, want %+v", got, err, head)
		}
	})
}

// setFlag sets a flag and returns what sets it back.
func setFlag(t testing.TB, name, value string) (restore func()) {
	t.Helper()
	old := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	return func() { _ = flag.Set(name, old) }
}

// drawRecords draws a graph of a few spaces that interleave, nodes before their edges, with edges of all types.
func drawRecords(t *rapid.T) []graphstore.Change {
	texts := rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "  lead", "trail ", `"`, `""`, `a"b`, `\`, `\\n`, "'", "a,b", "a|b", "NULL", "null", "a\nb", "\n",
			"\r\n", "\t", "\x01\x7f", "\u2028", "\ufeff", "日本", "e\u0301", "👩‍👩‍👧‍👦", "\U0010ffff", "0", "-1", "{}", "[]", "[a", "1,2"}),
		rapid.Map(rapid.String(), noNUL),
		rapid.Map(rapid.IntRange(20, 200), func(n int) string { return strings.Repeat("aé日👩", n) }), // ten bytes each
	)
	ids := rapid.Map(texts, func(s string) string {
		s = strings.Map(func(r rune) rune {
			if graphstore.CheckID(string(r)) != nil {
				return '.'
			}
			return r
		}, s)
		return s[:min(len(s), 200)]
	}).Filter(func(s string) bool { return graphstore.CheckID(s) == nil })
	d := &drawing{T: t, texts: texts, seen: make(map[string]bool)}
	for i, name := range rapid.SliceOfNDistinct(ids, 1, 3, rapid.ID).Draw(t, "users") {
		space, err := graphstore.NewSpace(name)
		if err != nil {
			t.Fatal(err)
		}
		d.space(space, fmt.Sprint(i), rapid.SliceOfNDistinct(ids, 2, 20, rapid.ID).Draw(t, "ids"))
	}
	nodes, edges := d.interleave(), d.edges
	return append(nodes, edges...)
}

func noNUL(s string) string { return strings.ReplaceAll(s, "\x00", "0") }

type drawing struct {
	*rapid.T
	texts        *rapid.Generator[string]
	nodes, edges []graphstore.Change
	seen         map[string]bool
}

// interleave mixes the nodes of the spaces.
func (d *drawing) interleave() []graphstore.Change {
	return rapid.Permutation(d.nodes).Draw(d.T, "order")
}

func (d *drawing) text(label string) string { return d.texts.Draw(d.T, label) }

func (d *drawing) space(s graphstore.Space, label string, ids []string) {
	stamp := func() graphstore.Stamp {
		return graphstore.Stamp{Version: rapid.Int64Min(math.MinInt64+1).Draw(d.T, "version"), Rank: graphstore.RankAdd, EventID: d.text("event"),
			At: graphstore.Instant(rapid.Int64Min(math.MinInt64+1).Draw(d.T, "time of the event")), Source: d.text("source of the event")}
	}
	at := func() graphstore.Instant {
		return graphstore.Instant(rapid.Int64Min(math.MinInt64+1).Draw(d.T, "time"))
	}
	for _, id := range ids {
		f := graphstore.Fact{ID: id, State: graphstore.StateActive, AgentID: d.text("agent"), SourceID: d.text("source"), EpisodeID: d.text("episode"),
			BatchID: d.text("batch"), BatchSeq: rapid.Int32().Draw(d.T, "seq"), MemoryAt: at(), ValidFrom: at(), ValidTo: at(), RecordedAt: at(),
			SupersededBy: d.text("by"), SupersededAt: at()}
		f.Registers = graphstore.Registers{State: stamp(), Base: stamp()}.With(graphstore.Field(d.text("field")), stamp())
		e := graphstore.Entity{ID: id, Type: d.text("type"), Name: d.text("name"), Norm: d.text("norm"), Mentions: rapid.IntMin(math.MinInt64+1).Draw(d.T, "n"),
			Aliases: rapid.SliceOfN(d.texts, 0, 3).Draw(d.T, "aliases")}
		if kind := d.text("kind"); kind != "" {
			e.HardIDs = []graphstore.HardID{{Kind: kind, Value: d.text("value")}}
		}
		d.nodes = append(d.nodes, graphstore.PutFact(s, f), graphstore.PutEntity(s, e),
			graphstore.PutTopic(s, graphstore.Topic{ID: id, Name: d.text("topic"), Facts: rapid.IntMin(math.MinInt64+1).Draw(d.T, "n")}),
			graphstore.PutSchema(s, graphstore.Schema{ID: id, Level: d.text("level"), Title: d.text("title"), Deleted: rapid.Bool().Draw(d.T, "deleted"),
				Stamp: stamp()}),
			graphstore.PutRef(s, graphstore.Ref{ID: id}),
			graphstore.PutTombstone(s, graphstore.Tombstone{Source: id, At: graphstore.Instant(rapid.Int64Min(1).Draw(d.T, "up to"))}))
	}
	d.nodes = append(d.nodes,
		graphstore.PutTombstone(s, graphstore.Tombstone{At: graphstore.Instant(rapid.Int64Max(-1).Draw(d.T, "up to")) | 1}),
		graphstore.PutMerge(s, graphstore.Merge{Merged: ids[0], Kept: ids[1], Step: graphstore.Step(d.text("step")), Undone: rapid.Bool().Draw(d.T, "undone"),
			Evidence: d.text("evidence"), MergedName: d.text("merged"), KeptName: d.text("kept"), Stamp: stamp()}),
		graphstore.PutMerge(s, graphstore.Merge{Merged: ids[1], Kept: ids[0]}))
	for _, typ := range graphstore.RelationTypes() {
		if source, _ := typ.Ends(); source == 0 {
			continue
		}
		for range 3 {
			d.edge(s, label, typ, rapid.SampledFrom(ids).Draw(d.T, "source"), rapid.SampledFrom(ids).Draw(d.T, "target"))
		}
	}
}

func (d *drawing) edge(s graphstore.Space, label string, typ graphstore.RelationType, source, target string) {
	by := graphstore.Asserter{Kind: graphstore.AsserterKind(rapid.IntRange(1, 4).Draw(d.T, "kind")),
		ID: rapid.OneOf(rapid.Just(source), rapid.Just(target), d.texts).Draw(d.T, "asserter")}
	c := graphstore.PutEdge(s, graphstore.Edge{Source: source, Target: target, Type: typ, Asserter: by, Detail: d.text("detail"),
		Weight: rapid.Float64Range(1e-300, 1).Draw(d.T, "weight")})
	if k := fmt.Sprintf("%s %q", label, c.Key()); c.Validate() == nil && !d.seen[k] {
		d.seen[k] = true
		d.edges = append(d.edges, c)
	}
}

// TestBuiltGraphIsWrittenOn goes on with a built graph as with any other: changes, deletes, new records, another start.
func TestBuiltGraphIsWrittenOn(t *testing.T) {
	all := graphstoretest.Graph(1, 3, 200)
	head, rest := all[:len(all)*2/3], all[len(all)*2/3:]
	model := graphstoretest.NewMemory()
	if err := model.Apply(t.Context(), head); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "graph")
	cfg := testBuildConfig()
	cfg.ID, cfg.Mark = "the graph's id", graphstore.Mark{Log: "events 'of' 1", Seq: 1 << 63}
	built, _ := mustBuild(t, path, cfg, head...)
	if built.ID != cfg.ID || built.Mark != cfg.Mark || built.Digest != digest(head...) {
		t.Errorf("got head %+v", built)
	}
	var deletes []graphstore.Change
	for i := len(head) - 1; i >= 0 && len(deletes) < 400; i-- {
		if head[i].Edge != nil {
			deletes = append(deletes, graphstore.DeleteKey(head[i].Space, head[i].Key()))
		}
	}
	for _, tx := range [][]graphstore.Change{nil, rest, deletes, {graphstore.PutTopic(ada, graphstore.Topic{ID: "t", Name: "renamed"})}} {
		s := mustOpen(t, path, testConfig())
		if h, err := s.Head(t.Context()); err != nil || h.ID != cfg.ID || h.Mark != cfg.Mark || h.Digest != digestOf(t, model) {
			t.Errorf("head %+v, %v", h, err)
		}
		mustApply(t, s, tx...)
		if err := model.Apply(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		if got, want := digestOf(t, s), digestOf(t, model); got != want {
			t.Errorf("after %d changes: got %v, want %v", len(tx), got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBuildOfSeveralGroups stages more rows of a table than a group of them has.
func TestBuildOfSeveralGroups(t *testing.T) {
	all := graphstoretest.Graph(1, 2, rowsPerGroup*6/10)
	dir := t.TempDir()
	head, st := mustBuild(t, filepath.Join(dir, "graph"), testBuildConfig(), all...)
	if st.Facts+st.Entities+st.Topics+st.Edges != len(all) || st.Spaces != 2 || head.Digest != digest(all...) {
		t.Errorf("got %+v, %+v of %d records", head, st, len(all))
	}
	if size := fileSize(filepath.Join(dir, "graph")); st.Bytes != size || size == 0 {
		t.Errorf("%d bytes, the file has %d", st.Bytes, size)
	}
	wantFiles(t, dir, "graph", "graph.lock")
}

func TestBuildOfNothingIsAnEmptyGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "graph")
	head, st := mustBuild(t, path, testBuildConfig())
	if u, err := uuid.Parse(head.ID); err != nil || u.Version() != 4 || head.Mark != (graphstore.Mark{}) || head.Digest != (graphstore.Digest{}) {
		t.Errorf("head %+v, want a new id only", head)
	}
	if st.Bytes = 0; st != (graphstore.Stats{}) {
		t.Errorf("stats %+v, want none", st)
	}
	s := mustOpen(t, path, testConfig())
	defer s.Close()
	if fileSize(path+walSuffix) != 0 {
		t.Error("open wrote to the log")
	}
	mustApply(t, s, some...)
	if got := digestOf(t, s); got != digest(some...) {
		t.Errorf("got %v, want %v", got, digest(some...))
	}
}

// TestBuiltNodesAreInTheOrderTheyCame reads the numbers of facts and where the table has them.
func TestBuiltNodesAreInTheOrderTheyCame(t *testing.T) {
	const n = 3000 // more than one vector of values
	var records []graphstore.Change
	for i := range n {
		records = append(records, factOf([]graphstore.Space{ada, bob}[i%2], fmt.Sprintf("fact %d", (i*7919)%n)))
	}
	path := filepath.Join(t.TempDir(), "graph")
	mustBuild(t, path, testBuildConfig(), records...)
	s := mustOpen(t, path, testConfig())
	defer s.Close()
	for _, order := range []string{"m.id", "offset(id(m))"} {
		i := 0
		err := s.read(t.Context(), func(session *session) error {
			return session.query("MATCH (m:Memory) RETURN m.key ORDER BY "+order, nil, func(row []any) error {
				if row[0] != records[i].Fact.ID {
					return fmt.Errorf("%d by %s is %v, want %s", i, order, row[0], records[i].Fact.ID)
				}
				i++
				return nil
			})
		})
		if err != nil || i != n {
			t.Errorf("%d rows: %v", i, err)
		}
	}
}

// TestRefusedBuildLeavesNothing: whatever is wrong, there is no file and no remainder of one.
func TestRefusedBuildLeavesNothing(t *testing.T) {
	errOwn := errors.New("the caller's own")
	loop := edgeOf(ada, "f1", "f2", 0.5)
	loop.Edge = &graphstore.Edge{Source: "f1", Target: "f1", Type: graphstore.Causes, Asserter: loop.Edge.Asserter, Weight: 1}
	good := []graphstore.Change{factOf(ada, "f1"), factOf(ada, "f2"), graphstore.PutEntity(ada, graphstore.Entity{ID: "e"}), edgeOf(ada, "f1", "f2", 0.5)}
	after := func(bad ...graphstore.Change) func(func(graphstore.Change) error) error {
		return recordsOf(append(slices.Clone(good), bad...))
	}
	for name, tt := range map[string]struct {
		records func(func(graphstore.Change) error) error
		change  func(*BuildConfig)
		want    error
		says    string
	}{
		"no record": {records: after(graphstore.Change{Space: ada, Op: graphstore.Put}), want: graphstore.ErrBadChange, says: "record 4"},
		"no space":  {records: after(graphstore.PutFact(graphstore.Space{}, graphstore.Fact{ID: "x"})), want: graphstore.ErrNoSpace},
		"delete":    {records: after(graphstore.DeleteKey(ada, good[0].Key())), want: graphstore.ErrBadChange},
		"NUL":       {records: after(graphstore.PutTopic(ada, graphstore.Topic{ID: "t", Name: "a\x00b"})), want: graphstore.ErrBadChange},
		"loop":      {records: after(loop), want: graphstore.ErrBadChange},
		"a number that Kuzu loses": {records: after(graphstore.PutEntity(ada, graphstore.Entity{ID: "e3", Mentions: math.MinInt64})),
			want: graphstore.ErrBadChange, says: "mentions -9223372036854775808"},
		"node twice":      {records: after(factOf(ada, "f1")), want: graphstore.ErrBadChange, says: "fact f1 comes twice"},
		"edge twice":      {records: after(edgeOf(ada, "f1", "f2", 0.25)), want: graphstore.ErrBadChange, says: "comes twice"},
		"edge of no node": {records: after(edgeOf(ada, "f1", "f3", 1)), want: graphstore.ErrDangling, says: "f3"},
		"edge before its node": {records: after(edgeOf(ada, "f3", "f1", 1), factOf(ada, "f3")), want: graphstore.ErrDangling,
			says: "f3"},
		"edge into another space":      {records: after(factOf(bob, "f1"), edgeOf(bob, "f1", "f2", 1)), want: graphstore.ErrDangling, says: "f2"},
		"edge of an unknown space":     {records: after(edgeOf(bob, "f1", "f2", 1)), want: graphstore.ErrDangling},
		"edge of another kind of node": {records: after(edgeOf(ada, "f1", "e", 1)), want: graphstore.ErrDangling, says: "no fact"},
		"the caller's error":           {records: func(yield func(graphstore.Change) error) error { return errors.Join(yield(good[0]), errOwn) }, want: errOwn},
		"an error that is swallowed": {records: func(yield func(graphstore.Change) error) error {
			_, _ = yield(loop), yield(good[0])
			return nil
		}, want: graphstore.ErrBadChange, says: "record 0"},
		"no disk": {records: after(), change: func(c *BuildConfig) {
			c.hooks.freeBytes = func(string) (uint64, error) { return buildMargin - 1, nil }
		}, want: ErrDisk, says: "free"},
		"no TempDir": {records: after(), change: func(c *BuildConfig) { c.TempDir = "/nonexistent/dir" }, want: fs.ErrNotExist, says: "staging"},
		"id":         {records: after(), change: func(c *BuildConfig) { c.ID = "a\nb" }, says: "ID"},
		"mark":       {records: after(), change: func(c *BuildConfig) { c.Mark.Log = "a\x00b" }, says: "Mark.Log"},
		"pool":       {records: after(), change: func(c *BuildConfig) { c.BufferPoolBytes = 1 }, says: "BufferPoolBytes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cfg := testBuildConfig()
			if tt.change != nil {
				tt.change(&cfg)
			}
			_, _, err := Build(t.Context(), filepath.Join(dir, "graph"), cfg, tt.records)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.says) {
				t.Errorf("got %v, want %v and %q", err, tt.want, tt.says)
			}
			_ = os.Remove(filepath.Join(dir, "graph"+lockSuffix)) // stays as with Open, if it came so far
			wantFiles(t, dir)
		})
	}
}

// TestCancelledBuildLeavesNothing ends the context at the beginning of every phase.
func TestCancelledBuildLeavesNothing(t *testing.T) {
	for stop := 0; ; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		cfg, n, last := testBuildConfig(), 0, ""
		cfg.phase = func(name string) {
			if last = name; n == stop {
				cancel()
			}
			n++
		}
		dir := t.TempDir()
		_, _, err := Build(ctx, filepath.Join(dir, "graph"), cfg, recordsOf(some))
		cancel()
		if last == "publish" { // from here on it is done
			if err != nil || stop < 10 {
				t.Errorf("stopped in phase %d: %v", stop, err)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stopped in %s: got %v", last, err)
		}
		wantFiles(t, dir, "graph.lock")
	}
}

func TestBuildLeavesAloneWhatIsThere(t *testing.T) {
	path := newGraph(t)
	if _, _, err := Build(t.Context(), path, testBuildConfig(), recordsOf(some)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a graph: %v, want %v", err, fs.ErrExist)
	}
	s := mustOpen(t, path, testConfig())
	if _, _, err := Build(t.Context(), path, testBuildConfig(), recordsOf(some)); !errors.Is(err, ErrInUse) {
		t.Errorf("over a graph in use: %v, want %v", err, ErrInUse)
	}
	if got := digestOf(t, s); got != (graphstore.Digest{}) {
		t.Errorf("the graph is now %v", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(t.TempDir(), "graph")
	if err := os.WriteFile(stray+walSuffix, []byte("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Build(t.Context(), stray, testBuildConfig(), recordsOf(some)); !errors.Is(err, ErrForeign) {
		t.Errorf("beside a log without its file: %v, want %v", err, ErrForeign)
	}
}

// TestBuildInOddPlaces has names in which a query, a pattern or a shell would see something else.
func TestBuildInOddPlaces(t *testing.T) {
	for i, odd := range []string{"it's", `"`, `back\slash`, "st*r", "wh?t", "br[a]cket", "[", "new\nline", "日本", "$x {y}", " "} {
		temp, dir := filepath.Join(t.TempDir(), odd), filepath.Join(t.TempDir(), odd)
		if err := os.Mkdir(temp, 0o700); err != nil {
			t.Fatal(err)
		}
		cfg := testBuildConfig()
		if i%2 == 0 {
			cfg.TempDir = temp
		}
		if head, _ := mustBuild(t, filepath.Join(dir, odd), cfg, some...); head.Digest != digest(some...) {
			t.Errorf("in %q: digest %v", odd, head.Digest)
		}
		wantFiles(t, temp)
		wantFiles(t, dir, odd, odd+".lock")
	}
	cfg := testBuildConfig()
	cfg.TempDir = filepath.Join(t.TempDir(), "\xff")
	if err := os.Mkdir(cfg.TempDir, 0o700); err != nil {
		t.Skip("the file system refuses the name")
	}
	if _, _, err := Build(t.Context(), filepath.Join(t.TempDir(), "graph"), cfg, recordsOf(some)); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("in a directory that is not UTF-8: %v", err)
	}
}

// TestFailedCopyLeavesNothing takes a staging file away, and puts a foreign one in its place.
func TestFailedCopyLeavesNothing(t *testing.T) {
	for _, damage := range []func(path string) error{os.Remove, func(path string) error { return os.Truncate(path, 20) }} {
		dir := t.TempDir()
		cfg := testBuildConfig()
		cfg.phase = func(name string) {
			if name == "copy RELATED" {
				if err := damage(filepath.Join(dir, "graph.building.staging", "RELATED.parquet")); err != nil {
					t.Error(err)
				}
			}
		}
		_, _, err := Build(t.Context(), filepath.Join(dir, "graph"), cfg, recordsOf(some))
		if err == nil || !strings.Contains(err.Error(), "copy 1 rows of RELATED") {
			t.Errorf("got %v", err)
		}
		wantFiles(t, dir, "graph.lock")
	}
}

// TestVerifyNoticesAnotherGraph builds and looks for another head.
func TestVerifyNoticesAnotherGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph")
	head, _ := mustBuild(t, path, testBuildConfig(), some...)
	cfg := testConfig().withDefaults()
	if err := verify(t.Context(), path, cfg, head); err != nil {
		t.Error(err)
	}
	for _, statement := range []string{"MATCH (m:Memory {key: 'f1'}) SET m.batch_seq = 1", "MATCH (i:Identity) SET i.graph = 'x'"} {
		if err := withEngine(path, statement); err != nil {
			t.Fatal(err)
		}
		if err := verify(t.Context(), path, cfg, head); !errors.Is(err, graphstore.ErrDamaged) {
			t.Errorf("after %s: %v, want %v", statement, err, graphstore.ErrDamaged)
		}
	}
}
