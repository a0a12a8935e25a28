package vdbtest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/vdb"
)

var searchParts = []part{
	{"Search/scores are the cosines, for any limit", searchScores},
	{"Search/known angles", searchAngles},
	{"Search/equal scores are ordered by id", searchTies},
	{"Search/equal questions have equal answers", searchRepeats},
	{"Search/vectors of extreme length", searchExtremes},
	{"Search/bad queries", searchBad},
}

// scoreTolerance allows for stores that compute in float32.
const scoreTolerance = 1e-5

func searchScores(e *env) {
	const n, dim = 300, 48
	st, u := e.open(dim), e.space("u")
	points := Points(5, u, n, dim)
	e.upsert(st, points...)
	e.upsert(st, Points(6, e.space("other"), n, dim)...)
	for seed := range uint64(3) {
		for _, limit := range []int{1, 10, n - 1, n, n + 1, vdb.MaxLimit} {
			q := vdb.Query{Space: u, Vector: Vector(seed, dim), Limit: limit}
			checkNearest(e.T, fmt.Sprintf("seed %d, limit %d", seed, limit), points, q, e.search(st, q))
		}
	}
}

// checkNearest checks an answer against the cosines of all points that may be in it. Points whose cosine lies within the
// tolerance of the last one of the answer may or may not be part of it.
func checkNearest(t *testing.T, what string, points []vdb.Point, q vdb.Query, got []vdb.Match) {
	t.Helper()
	if want := min(q.Limit, len(points)); len(got) != want {
		t.Errorf("%s: %d matches, want %d", what, len(got), want)
		return
	}
	found := make(map[string]float64, len(got))
	for _, m := range got {
		found[m.ID] = m.Score
	}
	if len(found) != len(got) {
		t.Errorf("%s: ids repeat: %q", what, matchIDs(got))
	}
	for _, p := range points {
		want := Cosine(q.Vector, p.Vector)
		score, ok := found[p.ID]
		switch {
		case ok && math.Abs(score-want) > scoreTolerance:
			t.Errorf("%s: score of %q: got %v, want %v", what, p.ID, score, want)
		case !ok && len(got) > 0 && want > got[len(got)-1].Score+scoreTolerance:
			t.Errorf("%s: %q with cosine %v is missing, the last match has %v", what, p.ID, want, got[len(got)-1].Score)
		}
		delete(found, p.ID)
	}
	for id := range found {
		t.Errorf("%s: match %q is not among the points", what, id)
	}
}

func searchAngles(e *env) {
	st, u := e.open(2), e.space("u")
	at := func(degrees, length float64) []float32 {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		return []float32{float32(length * cos), float32(length * sin)}
	}
	for id, degrees := range map[string]float64{"same": 0, "half": 60, "right": 90, "obtuse": 120, "opposite": 180} {
		e.upsert(st, vdb.Point{Space: u, ID: id, Vector: at(degrees, 1+degrees)}) // the length must not matter
	}
	want := []struct {
		id    string
		score float64
	}{{"same", 1}, {"half", 0.5}, {"right", 0}, {"obtuse", -0.5}, {"opposite", -1}} // cos 0, 60, 90, 120, 180 degrees
	for _, length := range []float64{0.01, 1, 1000} {
		got := e.search(st, vdb.Query{Space: u, Vector: at(0, length)})
		if len(got) != len(want) {
			e.Fatalf("%d matches, want %d: negative scores count", len(got), len(want))
		}
		for i, m := range got {
			if m.ID != want[i].id || math.Abs(m.Score-want[i].score) > 1e-6 || m.Score > 1 || m.Score < -1 {
				e.Errorf("match %d: got %q %v, want %q %v", i, m.ID, m.Score, want[i].id, want[i].score)
			}
		}
	}
}

func searchTies(e *env) {
	const dim = 24
	st, u := e.open(dim), e.space("u")
	v := Vector(9, dim)
	ids := []string{"b", "a", "é", "Z", "10", "9", "aa", "咖"}
	for _, id := range ids { // one call each: the order of writing must not matter
		e.upsert(st, vdb.Point{Space: u, ID: id, Vector: v})
	}
	for seed := range uint64(5) {
		q := vdb.Query{Space: u, Vector: Vector(100+seed, dim)}
		sameIDs(e.T, "all", sorted(ids), matchIDs(e.search(st, q)))
		q.Limit = 3
		sameIDs(e.T, "first three", sorted(ids)[:3], matchIDs(e.search(st, q)))
		if m := e.search(st, q); m[0].Score != m[2].Score {
			e.Errorf("equal vectors have scores %v and %v", m[0].Score, m[2].Score)
		}
	}
}

func searchRepeats(e *env) {
	const dim = 16
	st, u := e.open(dim), e.space("u")
	e.upsert(st, Points(11, u, 200, dim)...)
	q := vdb.Query{Space: u, Vector: Vector(2, dim), Limit: 50, WithVectors: true}
	first := e.search(st, q)
	for range 5 {
		if diff := cmp.Diff(first, e.search(st, q), cmp.Comparer(sameSpace)); diff != "" {
			e.Fatalf("the answer changed (-first +later):\n%s", diff)
		}
	}
}

func searchExtremes(e *env) {
	st, u := e.open(3), e.space("u")
	big, tiny := float32(math.MaxFloat32), float32(math.SmallestNonzeroFloat32)
	e.upsert(st,
		vdb.Point{Space: u, ID: "big", Vector: []float32{big, big, 0}},
		vdb.Point{Space: u, ID: "tiny", Vector: []float32{0, tiny, 0}},
		vdb.Point{Space: u, ID: "mixed", Vector: []float32{big, tiny, -big}})
	for _, scale := range []float32{tiny, 1, big} {
		got := e.search(st, vdb.Query{Space: u, Vector: []float32{scale, 0, 0}})
		sameIDs(e.T, "order", []string{"big", "mixed", "tiny"}, matchIDs(got))
		for i, want := range []float64{math.Sqrt2 / 2, math.Sqrt2 / 2, 0} { // 45 degrees, 45 degrees, a right angle
			if i < len(got) && !(math.Abs(got[i].Score-want) < scoreTolerance) {
				e.Errorf("score of %s: got %v, want %v", got[i].ID, got[i].Score, want)
			}
		}
	}
}

func searchBad(e *env) {
	st, u := e.open(2), e.space("u")
	e.upsert(st, sample(u, "x", 2, 0, vdb.Payload{}))
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	good := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 1}
	for name, tc := range map[string]struct {
		spoil  func(q *vdb.Query)
		dim    *vdb.DimensionError // expected inside
		search bool                // a mistake for Search only
		say    string              // the error names it
	}{
		"limit 0":         {spoil: func(q *vdb.Query) { q.Limit = 0 }, search: true, say: "limit 0"},
		"limit negative":  {spoil: func(q *vdb.Query) { q.Limit = -7 }, search: true, say: "limit -7"},
		"limit 10^9":      {spoil: func(q *vdb.Query) { q.Limit = 1_000_000_000 }, search: true, say: "limit 1000000000"},
		"limit past max":  {spoil: func(q *vdb.Query) { q.Limit = vdb.MaxLimit + 1 }, search: true, say: "limit 10001"},
		"vector too long": {spoil: func(q *vdb.Query) { q.Vector = []float32{1, 2, 3} }, dim: &vdb.DimensionError{Got: 3, Want: 2}, say: "3 dimensions"},
		"too short":       {spoil: func(q *vdb.Query) { q.Vector = []float32{1} }, dim: &vdb.DimensionError{Got: 1, Want: 2}, say: "has 2"},
		"no vector":       {spoil: func(q *vdb.Query) { q.Vector = nil }, say: "vector"},
		"NaN":             {spoil: func(q *vdb.Query) { q.Vector = []float32{1, nan} }, say: "vector[1]"},
		"Inf":             {spoil: func(q *vdb.Query) { q.Vector = []float32{inf, 1} }, say: "vector[0]"},
		"all zero":        {spoil: func(q *vdb.Query) { q.Vector = []float32{0, 0} }, say: "zero"},
		"filter without values": {spoil: func(q *vdb.Query) { q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldTags}} },
			say: vdb.FieldTags},
		"filter without field": {spoil: func(q *vdb.Query) { q.Filter.Match = []vdb.FieldMatch{{Any: []string{"x"}}} }, say: "filter"},
		"filter on the user": {spoil: func(q *vdb.Query) {
			q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldUserID, Any: []string{"other"}}}
		}, say: vdb.FieldUserID},
		"match on a time": {spoil: func(q *vdb.Query) {
			q.Filter.Match = []vdb.FieldMatch{{Field: vdb.FieldMemoryAt, Any: []string{"2026"}}}
		}, say: vdb.FieldMemoryAt},
		"range on a text": {spoil: func(q *vdb.Query) { q.Filter.Range = []vdb.TimeRange{{Field: vdb.FieldContent}} }, say: vdb.FieldContent},
		"range inverted": {spoil: func(q *vdb.Query) {
			q.Filter.Range = []vdb.TimeRange{{Field: vdb.FieldMemoryAt, From: day(2), To: day(1)}}
		}, say: vdb.FieldMemoryAt},
	} {
		e.Run(name, func(t *testing.T) {
			q := good
			tc.spoil(&q)
			check := func(method string, err error) {
				checkRefused(t, err, vdb.ErrBadQuery, nil)
				if tc.dim != nil {
					checkRefused(t, err, vdb.ErrBadQuery, tc.dim)
				}
				if err != nil && !strings.Contains(err.Error(), tc.say) {
					t.Errorf("%s: error %q does not name %q", method, err, tc.say)
				}
			}
			_, err := st.Search(t.Context(), q)
			check("Search", err)
			_, err = st.Score(t.Context(), q, []string{"x"})
			if tc.search {
				if err != nil {
					t.Errorf("Score ignores the limit, but: %v", err)
				}
				return
			}
			check("Score", err)
			if e.h.Features.Keyword && (len(q.Filter.Match) > 0 || len(q.Filter.Range) > 0) {
				_, err := st.Keyword(t.Context(), vdb.KeywordQuery{Space: u, Text: "x", Filter: q.Filter, Limit: 1})
				check("Keyword", err)
			}
		})
	}
}
