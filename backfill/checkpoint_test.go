package backfill_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// of is work of a source.
func of(t *testing.T, source, dir string, points backfill.Points, g backfill.Graph, req backfill.Request) (backfill.Account, error) {
	t.Helper()
	return workWith(t, backfill.Config{Dir: dir, Source: source}, points, g, req)
}

// A checkpoint of another collection, or of other options, is not resumed, and the error says what it was begun with.
func TestResumeOfSomethingElse(t *testing.T) {
	g, dir := newGraph(t), t.TempDir()
	store := &pages{Store: newPoints(t, clustered(t, 1, 30)...), most: 10}
	g.killedAt = 1
	begun := backfill.Request{UserID: "user-0", NoNeighbors: true}
	if _, err := of(t, "collection a", dir, store, g, begun); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		source string
		req    backfill.Request
		says   string
	}{
		"collection": {"collection b", backfill.Request{UserID: "user-0", NoNeighbors: true}, "is of collection a, this is collection b"},
		"neighbours": {"collection a", backfill.Request{UserID: "user-0"}, "no_neighbors true"},
		"agent":      {"collection a", backfill.Request{UserID: "user-0", NoNeighbors: true, AgentID: "x"}, `agent ""`},
		"since":      {"collection a", backfill.Request{UserID: "user-0", NoNeighbors: true, Since: time.Unix(9, 0)}, "begun with no since:"},
	} {
		c.req.Resume = true
		if _, err := of(t, c.source, dir, store, g, c.req); !errors.Is(err, backfill.ErrNoCheckpoint) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	begun.Resume = true
	if a, err := of(t, "collection a", dir, store, g, begun); err != nil || !a.Done || a.Resumed != 1 {
		t.Errorf("the same: %v %+v", err, a)
	}
}

// A file that no run has written is not taken for a checkpoint.
func TestResumeOfAForeignFile(t *testing.T) {
	for name, content := range map[string]string{
		"empty":                "",
		"cut off":              `{"format": 1, "cur`,
		"nothing but a format": `{"format": 1}`,
		"another format":       `{"format": 2, "report": {"id": "x", "graph_id": "g"}}`,
		"negative sizes":       `{"format": 1, "parts": [-1], "report": {"id": "x", "graph_id": "g"}}`,
		"facts that were lost": `{"format": 1, "parts": [0, 0], "scanned": true, "report": {"id": "x", "graph_id": "g", "scanned": 9}}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "all.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := of(t, "", dir, newPoints(t), newGraph(t), backfill.Request{Resume: true})
		if !errors.Is(err, backfill.ErrNoCheckpoint) || !strings.Contains(err.Error(), "without resume it begins at the first point") {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir, g := t.TempDir(), newGraph(t)
	id, err := g.ID(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	content := `{"format": 1, "report": {"id": "x", "graph_id": "` + id + `", "written": null, "problems": null}}`
	if err := os.WriteFile(filepath.Join(dir, "all.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := of(t, "", dir, newPoints(t, clustered(t, 1, 5)...), g, backfill.Request{Resume: true}); err != nil || a.Changed != 5 {
		t.Errorf("without lists: %v %+v", err, a)
	}
}

// A graph that went back under the same id, to a backup or to what a torn log has left, lacks what was written: the scan begins again.
func TestResumeOverAGraphThatWentBack(t *testing.T) {
	points := clustered(t, 2, 30)
	store, want := &pages{Store: newPoints(t, points...), most: 10}, newGraph(t)
	must(t, t.TempDir(), store, want, backfill.Request{})
	begin := func(dir string, commits int) *named {
		g := &named{newGraph(t)}
		if g.killedAt = commits; commits == 0 {
			return g
		}
		if _, err := work(t, dir, store, g, backfill.Request{}); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		return g
	}
	for _, commits := range []int{0, 1, 3, 4, 5} { // that the graph has left of five, of which the last was not noted
		dir := t.TempDir()
		g := begin(dir, 5)
		restarted := 1
		if commits < 4 {
			g = begin(t.TempDir(), commits)
		} else if restarted = 0; commits == 4 {
			g = begin(t.TempDir(), commits)
		}
		a, err := work(t, dir, store, g, backfill.Request{Resume: true})
		if err != nil || a.Restarted != restarted || g.live.Digest() != want.live.Digest() {
			t.Errorf("%d commits: %v, restarted %d times, want %d; digest %s, want %s", commits, err, a.Restarted, restarted, g.live.Digest(), want.live.Digest())
		}
	}
}

// named is a graph that keeps its id whatever becomes of it.
type named struct{ *graph }

func (named) ID(context.Context) (string, error) { return "the graph", nil }

// unread is a store that counts its points and cannot read them.
type unread struct{ vdb.Store }

func (unread) Scroll(context.Context, vdb.ScrollQuery) (vdb.Page, error) {
	return vdb.Page{}, errKilled
}

// A run that has cleared and was killed begins with the first point, whatever an older checkpoint says; and nothing is cleared of which
// nothing would come back.
func TestClearAndOlderCheckpoints(t *testing.T) {
	points, user := clustered(t, 1, 30), space(t, "user-0")
	store, want, g, dir := &pages{Store: newPoints(t, points...), most: 10}, newGraph(t), newGraph(t), t.TempDir()
	must(t, t.TempDir(), store, want, backfill.Request{UserID: "user-0"})
	req := backfill.Request{UserID: "user-0", Clear: true}
	g.killedAt = 3
	if _, err := work(t, dir, store, g, req); !errors.Is(err, errKilled) { // two pages are noted
		t.Fatal(err)
	}
	g.killedAt = g.commits + 1
	if _, err := work(t, dir, store, g, req); !errors.Is(err, errKilled) { // the clearing is done, and not noted
		t.Fatal(err)
	}
	if n := g.live.Counts().Present; n != 0 {
		t.Fatalf("%d facts after the clearing", n)
	}
	req.Resume = true
	if a, err := work(t, dir, store, g, req); err != nil || a.Scanned != 30 || g.live.Digest() != want.live.Digest() {
		t.Errorf("%v: digest %s, want %s: %+v", err, g.live.Digest(), want.live.Digest(), a)
	}

	// What a run of the whole collection has noted is not there any more when a user was cleared.
	whole := newGraph(t)
	whole.killedAt = 3
	if _, err := work(t, dir, store, whole, backfill.Request{}); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	whole.killedAt = whole.commits + 1
	req.Resume = false
	if _, err := work(t, dir, store, whole, req); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if _, err := work(t, dir, store, whole, backfill.Request{Resume: true}); !errors.Is(err, backfill.ErrNoCheckpoint) {
		t.Errorf("the whole resumed after a clearing: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}

	digest := g.live.Digest()
	req.Resume = true
	other := newPoints(t, vdb.Point{Space: space(t, "other"), ID: "x", Vector: []float32{1}})
	if _, err := work(t, dir, other, g, backfill.Request{UserID: "user-0", Clear: true}); !errors.Is(err, backfill.ErrBadRequest) || g.live.Digest() != digest {
		t.Errorf("a collection without the user: %v", err)
	}
	if _, err := work(t, dir, unread{store}, g, backfill.Request{UserID: "user-0", Clear: true}); !errors.Is(err, errKilled) {
		t.Errorf("killed after the clearing: %v", err)
	}
	if _, ok := g.view(t, user).Fact("fact-0"); ok {
		t.Error("nothing was cleared")
	}
	if _, err := work(t, dir, store, g, req); err != nil || g.live.Digest() != digest {
		t.Errorf("resumed: %v", err)
	}
}

// Facts that were kept are taken up as they were written or not at all.
func TestFilesOfFactsThatAreDamaged(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"a length":   func(data []byte) []byte { data[3] = 0xff; return data },
		"a checksum": func(data []byte) []byte { data[5]++; return data },
		"a user":     func(data []byte) []byte { return []byte(strings.Replace(string(data), "user-1", "user-0", 1)) },
		"an end":     func(data []byte) []byte { return append(data[:len(data)-3], 0, 0, 0) },
	} {
		store, g, dir := newPoints(t, clustered(t, 2, 20)...), &rewritable{graph: newGraph(t), fail: errKilled}, t.TempDir()
		if _, err := workBulk(t, dir, store, g, backfill.Request{}); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "facts", "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 {
				continue
			}
			if err := os.WriteFile(file, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		if _, err := workBulk(t, dir, store, g, backfill.Request{Resume: true}); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v", name, err)
		}
		if time.Since(start) > 30*time.Second {
			t.Errorf("%s: waited %v for damage to pass", name, time.Since(start))
		}
		if g.live.Counts().Present != 0 {
			t.Errorf("%s: something was written", name)
		}
		if _, err := workBulk(t, dir, store, g, backfill.Request{Resume: true}); !errors.Is(err, backfill.ErrNoCheckpoint) {
			t.Errorf("%s: resumed once more: %v", name, err)
		}
	}
}

// slow is a store that takes its time for each page.
type slow struct {
	pages
	wait time.Duration
}

func (s *slow) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	time.Sleep(s.wait)
	return s.pages.Scroll(ctx, q)
}

// A scan that takes longer than the time between two checkpoints notes how far it is while the next page is read. (The race detector
// is what looks here.)
func TestLongScan(t *testing.T) {
	g, dir := &rewritable{graph: newGraph(t)}, t.TempDir()
	store := &slow{pages{Store: newPoints(t, clustered(t, 2, 30)...), most: 10}, 300 * time.Millisecond}
	if a, err := workBulk(t, dir, store, g, backfill.Request{NoNeighbors: true}); err != nil || a.Changed != 60 || !a.Bulk {
		t.Errorf("%v %+v", err, a)
	}
}

// A store that answers with points of others is not believed.
func TestNeighborsOfOthers(t *testing.T) {
	store := &foreign{Store: newPoints(t, clustered(t, 1, 20)...), by: space(t, "eve")}
	if _, err := work(t, t.TempDir(), store, newGraph(t), backfill.Request{}); err == nil || !strings.Contains(err.Error(), "of another user") {
		t.Errorf("%v", err)
	}
}

type foreign struct {
	vdb.Store
	by graphstore.Space
}

func (f *foreign) SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error) {
	answers, err := f.Store.SearchMany(ctx, queries)
	for i := range answers {
		for k := range answers[i] {
			answers[i][k].Space = f.by
		}
	}
	return answers, err
}
