package kuzu

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// flatIndex returns what an index knows, by name.
func flatIndex(x *index) map[string]any {
	out := make(map[string]any)
	for space, s := range x.spaces {
		out[fmt.Sprintf("space %q", space)] = s.no
		for k, id := range s.nodes {
			out[fmt.Sprintf("%q: %s %q", space, k.kind, k.key)] = id
		}
		for text, t := range s.texts {
			out[fmt.Sprintf("%q: text %q", space, text)] = fmt.Sprint(t.ids, t.space == space, t.text == text, t.refs, x.texts[t.ids[0]] == t)
		}
	}
	for kind, n := range x.counts {
		out["count of "+kind.String()] = n
	}
	for t, n := range x.edges {
		out["count of "+t.name] = n
	}
	out["texts"] = len(x.texts)
	return out
}

// TestLoadedIndexIsTheKeptOne writes and deletes, and compares the index that the writer kept with one that is read from the
// file, in small pages and in those of a start.
func TestLoadedIndexIsTheKeptOne(t *testing.T) {
	s := mustOpen(t, newGraph(t), testConfig())
	defer s.Close()
	all := graphstoretest.Graph(5, 3, 150)
	long := strings.Repeat("three rows of text, ", 30)
	all = append(all, graphstore.PutTopic(ada, graphstore.Topic{ID: "long", Name: long}), factOf(bob, "a \"name\",\\"))
	for piece := range slices.Chunk(all, 400) {
		mustApply(t, s, piece...)
	}
	compare := func(after string) {
		t.Helper()
		for _, sizes := range []pageSizes{{30, 50, 20}, s.cfg.pageSizes()} {
			got, err := loadIndex(s.engine.writer, sizes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(flatIndex(s.index), flatIndex(got)); diff != "" {
				t.Fatalf("after %s, pages of %v (-kept +loaded):\n%s", after, sizes, diff)
			}
			if got.next > s.index.next {
				t.Errorf("next is %d, %d were handed out", got.next, s.index.next)
			}
		}
	}
	compare("writes")
	gone := map[string]bool{}
	var deletes []graphstore.Change
	for i := len(all) - 1; i >= 0; i-- { // edges come after their nodes
		if c := all[i]; c.Edge != nil && i%3 > 0 || c.Space == ada || c.Space == graphstoretest.SpaceName(1) {
			gone[c.Space.UserID()] = true
			deletes = append(deletes, graphstore.DeleteKey(c.Space, c.Key()))
		}
	}
	mustApply(t, s, deletes...)
	if _, known := s.index.space(ada); known || len(gone) < 4 {
		t.Fatalf("%d deletes in %v left a space without nodes", len(deletes), gone)
	}
	compare("deletes")
}

// TestIndexOfDamagedFile looks for what does not fit together.
func TestIndexOfDamagedFile(t *testing.T) {
	for name, statement := range map[string]string{
		"no space":      "MATCH (m:Memory {key: 'f1'}) SET m.space = 99",
		"negative":      "MATCH (m:Memory {key: 'f1'}) SET m.space = -99",
		"no text":       "MATCH (m:Memory {key: 'f1'}) SET m.agent_id = 99",
		"no asserter":   "MATCH ()-[e:RELATED]->() SET e.asserter = 99",
		"twice":         "MATCH (m:Memory {key: 'f1'}) SET m.key = 'f2'",
		"a line end":    "MATCH (m:Memory {key: 'f1'}) SET m.key = '1\n2'",
		"missing":       "MATCH (m:Memory {key: 'f1'}) SET m.agent_id = NULL",
		"missing space": "MATCH (s:Space) SET s.user_id = ''",
	} {
		path := filepath.Join(t.TempDir(), "graph")
		mustBuild(t, path, testBuildConfig(), some...)
		if err := withEngine(path, statement); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, testConfig())
		if err == nil {
			t.Errorf("%s: no error", name)
			s.Close()
		}
	}
}

// TestNumberedIsAMap compares with a map.
func TestNumberedIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got, want := newNumbered[string](), make(map[int64]string)
		ids := rapid.OneOf(rapid.Int64Range(-300, 300), rapid.Int64())
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			id := ids.Draw(t, "id")
			if rapid.Bool().Draw(t, "set") {
				v := rapid.String().Draw(t, "value")
				got.set(id, v)
				want[id] = v
			}
			for _, id := range []int64{id, ids.Draw(t, "other")} {
				if g := got.get(id); g != want[id] {
					t.Fatalf("%d: got %q, want %q", id, g, want[id])
				}
			}
		}
	})
}

func TestCutNumber(t *testing.T) {
	for s, want := range map[string]string{
		"0 x": "0 x true", "-1 ": "-1  true", "007 1": "7 1 true", "9223372036854775807 a b": "9223372036854775807 a b true",
		"-9223372036854775808 ": "-9223372036854775808  true", "999999999999999999 ": "999999999999999999  true",
		"9223372036854775808 ": "", "-9223372036854775809 ": "", "": "", "-": "", " ": "", "- ": "", "1": "", "1x ": "", "x": "", "+1 ": "", "1-1 ": "",
	} {
		n, rest, ok := cutNumber(s)
		if got := fmt.Sprint(n, " ", rest, " ", ok); ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
