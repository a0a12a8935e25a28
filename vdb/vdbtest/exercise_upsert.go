package vdbtest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

var upsertParts = []part{
	{"Upsert/replaces as a whole", upsertReplaces},
	{"Upsert/nothing to store", func(e *env) {
		st := e.open(2)
		e.upsert(st)
		if n := e.count(st); n != 0 {
			e.Errorf("%d points", n)
		}
	}},
	{"Upsert/last of a repeated id wins", func(e *env) {
		st, u := e.open(2), e.space("u")
		e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{Content: "first", AgentID: "a"}), sample(u, "y", 2, 0, vdb.Payload{}),
			sample(u, "x", 2, 1, vdb.Payload{Content: "last"}))
		samePoints(e.T, "x", []vdb.Point{sample(u, "x", 2, 1, vdb.Payload{Content: "last"})}, e.get(st, u, "x"))
		if n := e.count(st); n != 2 {
			e.Errorf("%d points, want 2", n)
		}
	}},
	{"Upsert/many points of many spaces in one call", upsertMany},
	{"Upsert/does not keep or modify its arguments", upsertAliasing},
	{"Upsert/bad point: nothing of the call is stored", upsertBad},
	{"Upsert/a refused first call does not fix the dimension", func(e *env) {
		st, u := e.open(2), e.space("u")
		bad := vdb.Point{Space: u, ID: "bad", Vector: []float32{1, 2, 3}}
		if err := st.Upsert(e.Context(), []vdb.Point{bad, sample(u, "x", 2, 0, vdb.Payload{})}); !errors.Is(err, vdb.ErrBadPoint) {
			e.Fatalf("got %v, want ErrBadPoint", err)
		}
		e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{}))
	}},
}

func upsertReplaces(e *env) {
	st, u := e.open(3), e.space("u")
	full := vdb.Payload{Content: "old words", AgentID: "a", State: "shadowed", Version: 3, EpisodeID: "e", BatchID: "b", SourceID: "s",
		Tags: []string{"t"}, MemoryAt: day(1), CreatedAt: day(2), ValidFrom: day(3), ValidTo: day(4), Extra: map[string]any{"k": "v"}}
	e.upsert(st, sample(u, "x", 3, 0, full), sample(u, "y", 3, 0, full))
	e.upsert(st, sample(u, "x", 3, 2, vdb.Payload{Content: "new"})) // every other field is gone, and so is the old vector
	want := []vdb.Point{sample(u, "x", 3, 2, vdb.Payload{Content: "new"}), sample(u, "y", 3, 0, full)}
	samePoints(e.T, "after the replacement", want, e.get(st, u, "x", "y"))

	matches := e.search(st, vdb.Query{Space: u, Vector: []float32{0, 0, 1}})
	sameIDs(e.T, "nearest to the new vector", []string{"x", "y"}, matchIDs(matches))
	for _, m := range matches {
		if want := map[string]float64{"x": 1, "y": 0}[m.ID]; math.Abs(m.Score-want) > 1e-6 {
			e.Errorf("score of %s: got %v, want %v", m.ID, m.Score, want)
		}
	}
	byTag := vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldTags, Any: []string{"t"}}}}
	sameIDs(e.T, "by the removed tag", []string{"y"}, matchIDs(e.search(st, vdb.Query{Space: u, Vector: []float32{1, 1, 1}, Filter: byTag})))
}

// day returns the start of a day of January 2026.
func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

func upsertMany(e *env) {
	const spaces, each = 3, 400
	st := e.open(4)
	var all []vdb.Point
	for s := range spaces {
		all = append(all, Points(7, e.space(fmt.Sprintf("user %d", s)), each, 4)...)
	}
	e.upsert(st, all...)
	if n := e.count(st); n != spaces*each {
		e.Fatalf("%d points, want %d", n, spaces*each)
	}
	for s := range spaces {
		mine := all[s*each : (s+1)*each]
		samePoints(e.T, fmt.Sprintf("user %d", s), mine, e.get(st, mine[0].Space, pointIDs(mine)...))
	}
}

func upsertAliasing(e *env) {
	st, u := e.open(2), e.space("u")
	build := func() []vdb.Point {
		return []vdb.Point{sample(u, "x", 2, 0, vdb.Payload{Content: "c", Tags: []string{"t", "u"},
			MemoryAt: time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.FixedZone("", 3600)),
			Extra:    map[string]any{"list": []any{"a", map[string]any{"k": "v"}}}})}
	}
	given := build()
	e.upsert(st, given...)
	if diff := cmp.Diff(build(), given, cmp.Comparer(sameSpace)); diff != "" {
		e.Errorf("arguments were modified (-before +after):\n%s", diff)
	}
	spoil := func(p vdb.Point) {
		p.Vector[0], p.Vector[1] = 0, 9
		p.Payload.Tags[0] = "spoilt"
		p.Payload.Extra["list"].([]any)[1].(map[string]any)["k"] = "spoilt"
		p.Payload.Extra["new"] = "spoilt"
	}
	spoil(given[0])
	samePoints(e.T, "after the caller reused its slices", build(), e.get(st, u, "x"))
	spoil(e.get(st, u, "x")[0]) // answers belong to the caller as well
	spoil(e.search(st, vdb.Query{Space: u, Vector: []float32{1, 0}, WithVectors: true})[0].Point)
	samePoints(e.T, "after a reader changed its answer", build(), e.get(st, u, "x"))
	if m := e.search(st, vdb.Query{Space: u, Vector: []float32{1, 0}}); len(m) != 1 || m[0].Score < 1-1e-6 {
		e.Errorf("search after a reader changed its answer: %+v", m)
	}
}

func upsertBad(e *env) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	const upperUUID = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
	for name, tc := range map[string]struct {
		spoil func(p *vdb.Point)
		also  error // the error must match this one, too
	}{
		"no space":            {func(p *vdb.Point) { p.Space = graphstore.Space{} }, graphstore.ErrNoSpace},
		"empty id":            {func(p *vdb.Point) { p.ID = "" }, nil},
		"id of 513 bytes":     {func(p *vdb.Point) { p.ID = strings.Repeat("x", 513) }, nil},
		"id with a newline":   {func(p *vdb.Point) { p.ID = "a\nb" }, nil},
		"id not UTF-8":        {func(p *vdb.Point) { p.ID = "a\xff" }, nil},
		"UUID in upper case":  {func(p *vdb.Point) { p.ID = upperUUID }, nil},
		"UUID in braces":      {func(p *vdb.Point) { p.ID = "{" + strings.ToLower(upperUUID) + "}" }, nil},
		"no vector":           {func(p *vdb.Point) { p.Vector = nil }, nil},
		"vector with NaN":     {func(p *vdb.Point) { p.Vector = []float32{1, nan} }, nil},
		"vector with Inf":     {func(p *vdb.Point) { p.Vector = []float32{inf, 1} }, nil},
		"vector all zero":     {func(p *vdb.Point) { p.Vector = []float32{0, 0} }, nil},
		"vector too long":     {func(p *vdb.Point) { p.Vector = []float32{1, 2, 3} }, &vdb.DimensionError{Got: 3, Want: 2}},
		"vector too short":    {func(p *vdb.Point) { p.Vector = []float32{1} }, &vdb.DimensionError{Got: 1, Want: 2}},
		"reserved extra user": {func(p *vdb.Point) { p.Payload.Extra = map[string]any{vdb.FieldUserID: "v"} }, nil},
		"reserved extra tags": {func(p *vdb.Point) { p.Payload.Extra = map[string]any{vdb.FieldTags: "v"} }, nil},
		"extra not JSON":      {func(p *vdb.Point) { p.Payload.Extra = map[string]any{"k": []any{make(chan int)}} }, nil},
	} {
		e.Run(name, func(t *testing.T) {
			e := &env{T: t, h: e.h}
			st, u := e.open(2), e.space("u")
			e.upsert(st, sample(u, "before", 2, 0, vdb.Payload{Content: "old"}))
			bad := sample(u, "bad", 2, 1, vdb.Payload{})
			tc.spoil(&bad)
			good := []vdb.Point{sample(u, "good", 2, 1, vdb.Payload{}), sample(u, "before", 2, 1, vdb.Payload{Content: "new"})}
			for _, call := range [][]vdb.Point{{bad}, append([]vdb.Point{bad}, good...), append(good, bad)} {
				checkRefused(t, st.Upsert(t.Context(), call), vdb.ErrBadPoint, tc.also)
			}
			samePoints(t, "after the refused calls", []vdb.Point{sample(u, "before", 2, 0, vdb.Payload{Content: "old"})},
				e.scrollAll(st, vdb.ScrollQuery{Space: u, Limit: 10, WithVectors: true}))
		})
	}
}

// checkRefused checks the kind of an error; also may be nil, a sentinel, or the DimensionError that is expected inside.
func checkRefused(t *testing.T, err, kind, also error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got error %v, want one that is %q", err, kind)
		return
	}
	wantDim, ok := also.(*vdb.DimensionError) //nolint:errorlint // the expectation itself, never wrapped
	if !ok {
		if also != nil && !errors.Is(err, also) {
			t.Errorf("got error %v, want one that is %q", err, also)
		}
		return
	}
	var gotDim *vdb.DimensionError
	if !errors.As(err, &gotDim) {
		t.Errorf("got error %v, want a DimensionError inside", err)
	} else if *gotDim != *wantDim {
		t.Errorf("got %+v, want %+v", *gotDim, *wantDim)
	}
}
