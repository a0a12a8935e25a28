package kuzu

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// TestChangedTextsDoNotGrowTheFile changes a text of one fact, one entity and one edge between checkpoints. Kept in columns
// of their own, each would cost a copy of all texts of its table, here 2,000 of 100 bytes: more than a megabyte per round for
// the facts alone. The first rounds do not count: Kuzu makes room once, which later rounds use again.
func TestChangedTextsDoNotGrowTheFile(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), testConfig())
	defer s.Close()
	long := func(i, round int) string { return fmt.Sprintf("%d-%d-%s", i, round, strings.Repeat("x", 90)) }
	node := func(i, round int) []graphstore.Change {
		id, entity := fmt.Sprint("f", i), fmt.Sprint("e", i)
		return []graphstore.Change{
			graphstore.PutFact(ada, graphstore.Fact{ID: id, AgentID: long(i, round)}),
			graphstore.PutEntity(ada, graphstore.Entity{ID: entity, Norm: entity, Name: long(i, round)}),
			graphstore.PutEdge(ada, graphstore.Edge{Source: id, Target: entity, Type: graphstore.Mentions, Weight: 1, Detail: long(i, round),
				Asserter: graphstore.Asserter{Kind: graphstore.ByBatch, ID: long(i, round)}}),
		}
	}
	const nodes, warmUp, rounds = 2000, 5, 30
	var first []graphstore.Change
	for i := range nodes {
		first = append(first, node(i, 0)...)
	}
	mustApply(t, s, first...)
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	var before int64
	for round := 1; round <= rounds; round++ {
		if round == warmUp {
			before = fileSize(s.path)
		}
		changed := node(round, round)
		mustApply(t, s, append(changed, graphstore.DeleteKey(ada, node(round, 0)[2].Key()))...)
		if err := s.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if grown := fileSize(s.path) - before; grown > 2<<20 {
		t.Errorf("the file grew from %d KiB by %d KiB in %d rounds of three records", before>>10, grown>>10, rounds-warmUp)
	}
	// Each fact, entity and edge of a number share their long text; each entity has a normalised name besides.
	if n := len(s.index.texts); n != 2*nodes {
		t.Errorf("%d texts are known, want %d: the old ones are not referred to any more", n, 2*nodes)
	}
}

// TestLongTextsFitTheSmallestPool: in one column 16 MiB of texts of any length made a checkpoint fail for want of memory, and a checkpoint
// that fails can cost the file. In pieces they do not.
func TestLongTextsFitTheSmallestPool(t *testing.T) {
	cfg := testConfig()
	cfg.BufferPoolBytes = MinBufferPoolBytes
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	var want graphstore.Digest
	for tx := range 9 {
		var changes []graphstore.Change
		for i := range 40 {
			text := make([]byte, 50_000)
			for j := range text {
				text[j] = 'a' + byte(rng.IntN(26))
			}
			c := graphstore.PutTopic(ada, graphstore.Topic{ID: fmt.Sprint(tx, "-", i), Name: string(text)})
			changes = append(changes, c)
			want.Add(c)
		}
		mustApply(t, s, changes...)
		mustApply(t, s, graphstore.PutTopic(ada, graphstore.Topic{ID: "again", Name: changes[0].Topic.Name}))
		if err := s.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mustApply(t, s, graphstore.DeleteKey(ada, graphstore.Key{Kind: graphstore.KindTopic, Node: "again"}))
	if got := digestOf(t, s); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
