package graphstore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// TestStampsWithoutOriginTakeNoRoom: a graph that was written before stamps had times and sources takes no more memory than one
// whose stamps follow from the facts, and is not taken for it.
func TestStampsWithoutOriginTakeNoRoom(t *testing.T) {
	s, err := graphstore.NewSpace("ada")
	if err != nil {
		t.Fatal(err)
	}
	build := func(stamp func(*graphstore.Stamp)) (snap *graphstore.Snapshot, facts []graphstore.Fact) {
		b := graphstore.NewBuilder(graphstore.NewSnapshot(s))
		for i := range 1000 {
			f := graphstore.Fact{ID: fmt.Sprint("fact ", i), State: graphstore.StateActive, SourceID: "doc"}
			f.Registers.Base = graphstore.Stamp{Version: int64(i + 1), Rank: graphstore.RankAdd, EventID: "e"}
			stamp(&f.Registers.Base)
			f.Registers.State = f.Registers.Base
			facts = append(facts, f)
			if err := b.Add(graphstore.PutFact(s, f)); err != nil {
				t.Fatal(err)
			}
		}
		return b.Snapshot(), facts
	}
	plain, _ := build(func(x *graphstore.Stamp) { x.At, x.Source = graphstore.InstantOfMicros(x.Version), "doc" })
	old, facts := build(func(*graphstore.Stamp) {})
	if old.Bytes() > plain.Bytes() {
		t.Errorf("%d bytes without times and sources, %d with those that follow", old.Bytes(), plain.Bytes())
	}
	for _, want := range facts {
		if got, ok := old.Fact(want.ID); !ok || !got.Equal(want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
	if n := len(slices.Collect(old.FactsOfSource("doc"))); n != 0 {
		t.Errorf("%d facts were settled by a source that no stamp names", n)
	}
	if n := len(slices.Collect(plain.FactsOfSource("doc"))); n != len(facts) {
		t.Errorf("%d facts are of the source, want %d", n, len(facts))
	}
}
