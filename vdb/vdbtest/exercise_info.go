package vdbtest

import (
	"fmt"

	"github.com/kithgraph/kith/vdb"
)

var infoParts = []part{
	{"Info", info},
	{"Info/dimension of an empty store is the collection's or unknown", emptyInfo},
}

func info(e *env) {
	st := e.open(3)
	a, b := e.space("a"), e.space("b")
	e.upsert(st, Points(1, a, 5, 3)...)
	e.upsert(st, Points(1, b, 5, 3)...) // the same ids: other points
	e.upsert(st, Points(1, a, 5, 3)...) // replaces, adds none
	e.delete(st, b, "1")
	got, err := st.Info(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	if got.Driver == "" || got.Collection == "" {
		e.Errorf("driver %q and collection %q are to be named", got.Driver, got.Collection)
	}
	want := fmt.Sprintf("dimension 3, points %d, keyword %v", 5+5-1, e.h.Features.Keyword)
	if text := fmt.Sprintf("dimension %d, points %d, keyword %v", got.Dimension, got.Points, got.Keyword); text != want {
		e.Errorf("got %s, want %s", text, want)
	}
}

func emptyInfo(e *env) {
	st := e.open(3)
	got, err := st.Info(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	if (got.Dimension != 0 && got.Dimension != 3) || got.Points != 0 {
		e.Errorf("got dimension %d, points %d, want 3 (or 0, unknown) and 0", got.Dimension, got.Points)
	}
	// Nothing is stored yet, and that is an answer, not an error.
	if m := e.search(st, vdb.Query{Space: e.space("a"), Vector: []float32{1, 0, 0}}); len(m) != 0 {
		e.Errorf("matches of an empty store: %v", matchIDs(m))
	}
}
