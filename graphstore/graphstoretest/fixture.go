package graphstoretest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// fixture is one subtest's store and the graph it must hold.
type fixture struct {
	testing.TB
	h       Harness
	store   graphstore.Store
	wanted  []graphstore.Change // the last graph given to want; nil before
	checked bool                // want was called
	gone    bool                // there is nothing to see by opening the store again
}

func newFixture(t testing.TB, h Harness) *fixture {
	f := &fixture{TB: t, h: h, store: h.Open(t)}
	t.Cleanup(func() {
		if err := f.store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return f
}

// finish opens a durable store again and looks whether everything is still there.
func (f *fixture) finish() {
	f.Helper()
	if f.checked && !f.gone && f.h.Reopen != nil && !f.Failed() {
		f.reopen()
		f.wantAll()
	}
}

func (f *fixture) reopen() {
	f.Helper()
	f.store = f.h.Reopen(f.TB, f.store)
}

// apply commits one transaction.
func (f *fixture) apply(changes ...graphstore.Change) {
	f.Helper()
	if err := f.store.Apply(f.Context(), changes); err != nil {
		f.Fatalf("apply: %v", err)
	}
}

// want fails the test unless the store holds exactly these records, by every way of reading it.
func (f *fixture) want(records ...graphstore.Change) {
	f.Helper()
	f.wanted, f.checked = slices.Clone(records), true
	sortRecords(f.wanted)
	f.wantAll()
	f.wantSpaces()
	f.wantStats()
}

// wantAll checks what LoadAll yields.
func (f *fixture) wantAll() {
	f.Helper()
	got, err := collect(f.Context(), f.store.LoadAll)
	if err != nil {
		f.Fatalf("load all: %v", err)
	}
	if diff := diffRecords(got, f.wanted); diff != "" {
		f.Fatalf("load all %s", diff)
	}
	f.wantDigest(f.wanted)
}

// loadedSpaces is how many spaces are loaded one by one, from both ends of the list: all, except where a subtest has dozens.
const loadedSpaces = 4

// wantSpaces checks the list of spaces, and Load of them.
func (f *fixture) wantSpaces() {
	f.Helper()
	per := make(map[graphstore.Space][]graphstore.Change)
	var want []graphstore.Space
	for _, c := range f.wanted {
		if per[c.Space] == nil {
			want = append(want, c.Space)
		}
		per[c.Space] = append(per[c.Space], c)
	}
	slices.SortFunc(want, func(a, b graphstore.Space) int { return cmp.Compare(a.UserID(), b.UserID()) })
	got, err := f.store.Spaces(f.Context())
	if err != nil || !slices.Equal(got, want) {
		f.Fatalf("spaces: got %v (%v), want %v", got, err, want)
	}
	for i, s := range want {
		if i >= loadedSpaces && i < len(want)-loadedSpaces {
			continue
		}
		got, err := collect(f.Context(), loadSpace(f.store, s))
		if err != nil {
			f.Fatalf("load %s: %v", s, err)
		}
		if diff := diffRecords(got, per[s]); diff != "" {
			f.Fatalf("load %s %s", s, diff)
		}
	}
}

func (f *fixture) wantStats() {
	f.Helper()
	var want graphstore.Stats
	spaces := make(map[graphstore.Space]bool)
	for _, c := range f.wanted {
		tally(&want, c)
		spaces[c.Space] = true
	}
	want.Spaces = len(spaces)
	got, err := f.store.Stats(f.Context())
	if err != nil {
		f.Fatalf("stats: %v", err)
	}
	if onDisk := got.Bytes > 0; onDisk != f.h.Features.OnDisk && len(f.wanted) > 0 {
		f.Errorf("stats: %d bytes, and the store is on disk: %v", got.Bytes, f.h.Features.OnDisk)
	}
	want.Bytes = got.Bytes
	if got != want {
		f.Fatalf("stats: got %+v, want %+v", got, want)
	}
}

// refused checks that the store refuses the changes with this error and is as before.
func (f *fixture) refused(want error, before []graphstore.Change, changes ...graphstore.Change) {
	f.Helper()
	if err := f.store.Apply(f.Context(), changes); !isError(err, want) {
		f.Fatalf("apply: got %v, want %v", err, want)
	}
	f.want(before...)
	f.gone = true // what it wrote before is what other subtests write
}

// cancelled returns a context that has ended.
func (f *fixture) cancelled() context.Context {
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	return ctx
}
