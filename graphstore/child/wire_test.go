package child

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// chunks keeps what a chunker sends.
type chunks [][]byte

func (c *chunks) SendMsg(m any) error {
	*c = append(*c, m.(*message).data)
	return nil
}

// spaceOf compares spaces, which have no exported fields.
var spaceOf = cmp.Comparer(func(a, b graphstore.Space) bool { return a == b })

// TestChangesCrossUnchanged packs a generated graph and the edges of every range, and reads it back.
func TestChangesCrossUnchanged(t *testing.T) {
	want := graphstoretest.Graph(3, 3, 900)
	s := want[0].Space
	stamp := graphstore.Stamp{Version: math.MinInt64, Rank: graphstore.RankDeleted, EventID: "e\u00e9\n", At: math.MaxInt64, Source: "s"}
	want = append(want,
		graphstore.PutFact(s, graphstore.Fact{ID: "all", State: graphstore.StateDeleted, AgentID: "a", SourceID: "s", EpisodeID: "e",
			BatchID: "b", BatchSeq: math.MinInt32, MemoryAt: math.MinInt64, ValidFrom: math.MaxInt64, ValidTo: 1, RecordedAt: -1,
			SupersededBy: "x", SupersededAt: 2, Registers: graphstore.Registers{State: stamp, Base: stamp,
				Fields: []graphstore.FieldStamp{{Field: graphstore.FieldTags, Stamp: stamp}, {Field: graphstore.FieldAgent, Stamp: stamp}}}}),
		graphstore.PutEntity(s, graphstore.Entity{ID: "e", Type: "t", Name: "n", Norm: "N", Aliases: []string{"", "a,b"},
			HardIDs: []graphstore.HardID{{Kind: "k", Value: "v"}, {}}, Mentions: math.MaxInt}),
		graphstore.PutEdge(s, graphstore.Edge{Source: "a", Target: "b", Type: graphstore.Related, Weight: math.SmallestNonzeroFloat64,
			Asserter: graphstore.Asserter{Kind: graphstore.BySpine}, Detail: "d"}),
		graphstore.DeleteKey(s, graphstore.Key{Kind: graphstore.KindTopic, Node: "t"}))
	want = append(want, minorRecords(s)...)
	var sent chunks
	out := &chunker{to: &sent}
	for _, c := range want {
		if err := out.add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.flush(); err != nil {
		t.Fatal(err)
	}
	if least := len(want) / chunkRecords; len(sent) < least || least < 2 {
		t.Errorf("%d chunks of %d records", len(sent), len(want))
	}
	var got []graphstore.Change
	var r reader
	for _, chunk := range sent {
		stopped, broken := r.each(chunk[1:], func(c graphstore.Change) error { got = append(got, c); return nil })
		if stopped != nil || broken != nil {
			t.Fatal(stopped, broken)
		}
	}
	if !reflect.DeepEqual(want, got) {
		diff := cmp.Diff(want, got, spaceOf)
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// minorRecords has a value other than zero in every field of every kind, and each kind without any.
func minorRecords(s graphstore.Space) []graphstore.Change {
	stamp := graphstore.Stamp{Version: -1, Rank: graphstore.RankAdd, EventID: "e", At: math.MinInt64, Source: "doc"}
	return []graphstore.Change{
		graphstore.PutSchema(s, graphstore.Schema{ID: "s", Level: "l6", Title: "t", Deleted: true, Stamp: stamp}),
		graphstore.PutSchema(s, graphstore.Schema{}),
		graphstore.PutRef(s, graphstore.Ref{ID: "r"}), graphstore.PutRef(s, graphstore.Ref{}),
		graphstore.PutMerge(s, graphstore.Merge{Merged: "m", Kept: "k", Step: graphstore.StepRetyped, Undone: true, Evidence: "v",
			MergedName: "M", KeptName: "K", Stamp: stamp}),
		graphstore.PutMerge(s, graphstore.Merge{}),
		graphstore.PutTombstone(s, graphstore.Tombstone{Source: "doc", At: math.MinInt64}), graphstore.PutTombstone(s, graphstore.Tombstone{}),
		graphstore.DeleteKey(s, graphstore.Key{Kind: graphstore.KindMerge, Node: "m", Target: "k"}),
		graphstore.DeleteKey(s, graphstore.Tombstone{Source: "doc"}.Key()),
		graphstore.PutEdge(s, graphstore.Edge{Source: "s", Target: "r", Type: graphstore.DerivedFromRef, Weight: 1,
			Asserter: graphstore.Asserter{Kind: graphstore.BySchema, ID: "s"}}),
	}
}

// TestTornChunksAreRefused cuts a chunk at every byte: it must never be taken for a shorter one with other records.
func TestTornChunksAreRefused(t *testing.T) {
	whole := graphstore.PutFact(fact("ada", "x").Space, graphstore.Fact{ID: "x", AgentID: "agent"})
	for _, c := range append(minorRecords(whole.Space), whole) {
		e := &encoder{}
		if err := e.change(c); err != nil {
			t.Fatal(err)
		}
		for cut := range e.buf {
			if c, err := new(reader).change(string(e.buf[:cut])); err == nil {
				t.Errorf("cut at %d of %d: taken for %+v", cut, len(e.buf), c)
			}
		}
		if _, err := new(reader).change(string(e.buf) + "x"); err == nil {
			t.Errorf("%s: a byte too many is not noticed", c.Key())
		}
	}
	if err := new(encoder).change(graphstore.Change{Space: whole.Space, Op: graphstore.Put}); !errors.Is(err, errNoRecord) {
		t.Errorf("change without record: %v", err)
	}
}

// TestDamagedChunks changes bytes of a chunk at random: whatever comes out, it is no panic, and a record that is read is one
// that can be written.
func TestDamagedChunks(t *testing.T) {
	var sent chunks
	out := &chunker{to: &sent}
	for _, c := range append(graphstoretest.Graph(2, 1, 20), minorRecords(graphstoretest.SpaceName(0))...) {
		if err := out.add(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.flush(); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	refused := 0
	for range 2000 {
		chunk := slices.Clone(sent[0][1:])
		for range 1 + rng.IntN(3) {
			chunk[rng.IntN(len(chunk))] = byte(rng.Uint32())
		}
		_, broken := new(reader).each(chunk, func(c graphstore.Change) error { return new(encoder).change(c) })
		if broken != nil {
			refused++
		}
	}
	if refused == 0 { // lengths and kinds are among the bytes
		t.Error("no damage was noticed")
	}
}

// FuzzChunk reads arbitrary bytes: no panic, no memory beyond their measure, and what is read is written the same again.
func FuzzChunk(f *testing.F) {
	var sent chunks
	out := &chunker{to: &sent}
	for _, c := range append(graphstoretest.Graph(1, 1, 20), minorRecords(graphstoretest.SpaceName(0))...) {
		if err := out.add(c); err != nil {
			f.Fatal(err)
		}
	}
	if err := out.flush(); err != nil {
		f.Fatal(err)
	}
	f.Add(sent[0][1:])
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Add([]byte("\x09\x01a\x01e\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r reader
		_, _ = r.each(data, func(c graphstore.Change) error {
			e := &encoder{}
			if err := e.change(c); err != nil {
				t.Fatal(err)
			}
			again, err := new(reader).change(string(e.buf))
			if err != nil || again.Key() != c.Key() || again.Op != c.Op || again.Space != c.Space {
				t.Fatalf("%+v became %+v, %v", c, again, err)
			}
			return nil
		})
	})
}
