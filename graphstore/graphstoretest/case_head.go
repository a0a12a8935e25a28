package graphstoretest

import (
	"github.com/kithgraph/kith/graphstore"
)

// headCases: what a store says of itself. Digests are compared with those of the wanted records all over the suite.
func headCases() []testCase {
	return []testCase{
		{"head/of an empty graph", func(f *fixture) {
			f.want()
			if h := f.head(); h.ID == "" || h.Mark != (graphstore.Mark{}) {
				f.Fatalf("head of an empty graph: %+v: want an id and no mark", h)
			}
		}},
		{"head/id stays and is no other's", func(f *fixture) {
			id := f.head().ID
			f.apply(village(ada)...)
			f.apply(goneAll(village(ada))...)
			f.want()
			f.wantID(id)
			if f.h.Reopen != nil {
				f.reopen()
				f.wantID(id)
			}
			if other := newFixture(f.TB, f.h).head().ID; other == id {
				f.Fatalf("two graphs have the id %s", id)
			}
		}},
		{"head/mark goes with its transaction", func(f *fixture) {
			one, two := graphstore.Mark{Log: "log one", Seq: 7}, graphstore.Mark{Log: "log two", Seq: 3}
			f.applyMarked(one, village(ada)...)
			f.wantMark(one)
			f.apply(village(bob)...)
			f.wantMark(one) // no mark keeps it
			f.applyMarked(two, goneAll(village(ada))...)
			f.wantMark(two) // not ordered: it is a value, not a counter
		}},
		{"head/mark alone", func(f *fixture) {
			f.apply(village(ada)...)
			for seq := range uint64(5) {
				mark := graphstore.Mark{Log: "log", Seq: 1<<63 + seq}
				f.applyMarked(mark)
				f.wantMark(mark)
			}
			f.want(village(ada)...)
		}},
		{"head/mark of a refused transaction is not taken", func(f *fixture) {
			mark := graphstore.Mark{Log: "log", Seq: 1}
			f.applyMarked(mark, fact(ada, "f1"))
			err := f.store.ApplyMarked(f.Context(), []graphstore.Change{edge(ada, "f1", graphstore.Mentions, "nobody")},
				graphstore.Mark{Log: "log", Seq: 2})
			if !isError(err, graphstore.ErrDangling) {
				f.Fatalf("apply: %v: want a dangling edge", err)
			}
			f.wantMark(mark)
			f.want(fact(ada, "f1"))
		}},
	}
}

func (f *fixture) head() graphstore.Head {
	f.Helper()
	h, err := f.store.Head(f.Context())
	if err != nil {
		f.Fatalf("head: %v", err)
	}
	return h
}

func (f *fixture) wantID(id string) {
	f.Helper()
	if got := f.head().ID; got != id {
		f.Fatalf("id of the graph: got %s, want %s", got, id)
	}
}

// applyMarked commits one transaction with a mark.
func (f *fixture) applyMarked(mark graphstore.Mark, changes ...graphstore.Change) {
	f.Helper()
	if err := f.store.ApplyMarked(f.Context(), changes, mark); err != nil {
		f.Fatalf("apply with mark %+v: %v", mark, err)
	}
}

// wantMark looks at the mark, and again after the store was opened again.
func (f *fixture) wantMark(want graphstore.Mark) {
	f.Helper()
	if got := f.head().Mark; got != want {
		f.Fatalf("mark: got %+v, want %+v", got, want)
	}
	if f.h.Reopen == nil {
		return
	}
	f.reopen()
	if got := f.head().Mark; got != want {
		f.Fatalf("mark after opening again: got %+v, want %+v", got, want)
	}
}

// wantDigest compares the digest of the head with that of the records.
func (f *fixture) wantDigest(records []graphstore.Change) {
	f.Helper()
	var want graphstore.Digest
	for _, c := range records {
		want.Add(c)
	}
	if got := f.head().Digest; got != want {
		f.Fatalf("digest of the head: got %s, want %s", got, want)
	}
}
