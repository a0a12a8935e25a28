package calibrate

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func space(t *testing.T, user string) graphstore.Space {
	t.Helper()
	s, err := graphstore.NewSpace(user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at is the unit vector at an angle of that cosine to (1, 0).
func at(cos float64) []float32 { return []float32{float32(cos), float32(math.Sqrt(1 - cos*cos))} }

func put(t *testing.T, store vdb.Store, user, id string, v []float32, edit ...func(*vdb.Payload)) {
	t.Helper()
	p := vdb.Point{Space: space(t, user), ID: id, Vector: v}
	for _, e := range edit {
		e(&p.Payload)
	}
	if err := store.Upsert(t.Context(), []vdb.Point{p}); err != nil {
		t.Fatal(err)
	}
}

// ask is n questions of a user, all the vector (1, 0).
func ask(t *testing.T, user string, n int) []Query {
	t.Helper()
	queries := make([]Query, n)
	for i := range queries {
		queries[i] = Query{Name: fmt.Sprint(user, i), Space: space(t, user), Vector: []float32{1, 0}}
	}
	return queries
}

// twoUsers is ada with facts of cosine 0, .1, ... .9 to (1, 0), mean .45, and bob with -.4, -.3, ... .5, mean .05; and what a search
// of theirs does not find.
func twoUsers(t *testing.T) *vdbtest.Memory {
	store := vdbtest.NewMemory(2)
	for i := range 10 {
		put(t, store, "ada", fmt.Sprint("a", i), at(float64(i)/10))
		put(t, store, "bob", fmt.Sprint("b", i), at(float64(i-4)/10))
	}
	put(t, store, "ada", "old", at(1), func(p *vdb.Payload) { p.State = "superseded" })
	put(t, store, "ada", "ended", at(1), func(p *vdb.Payload) { p.ValidTo = now })
	put(t, store, "ada", "to come", at(1), func(p *vdb.Payload) { p.ValidFrom = now.Add(time.Hour) })
	put(t, store, "eve", "other", at(1))
	return store
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-6) {
		t.Errorf("%s %v, want %v", what, got, want)
	}
}

// By hand: of 10 questions of ada and 90 of bob with 10 facts each, there are 1000 pairs, all of which are taken: LO is
// (100*.45 + 900*.05)/1000 = .09. The best cosine is .9 for ada's and .5 for bob's; sorted, the value at .9*99 = 89.1 lies a tenth of
// the way from the last .5 (place 89) to the first .9 (place 90): HI is .54.
func TestMeasureByHand(t *testing.T) {
	store := twoUsers(t)
	facts, err := ReadFacts(t.Context(), store, graphstore.Space{}, now)
	if err != nil {
		t.Fatal(err)
	}
	if facts.Count != 21 || len(facts.Spaces) != 3 || facts.Retired != 3 {
		t.Errorf("%d facts of %d users, %d retired: want 21 of 3, 3 retired", facts.Count, len(facts.Spaces), facts.Retired)
	}
	queries := append(append(ask(t, "ada", 10), ask(t, "bob", 90)...), ask(t, "nobody", 5)...)
	r, err := Measure(t.Context(), store, facts, queries, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "LO", r.Lo.Value, .09)
	near(t, "HI", r.Hi.Value, .54)
	if r.Pairs != 1000 || r.Queries != 100 || r.LeftOut != 5 || r.Identity() {
		t.Errorf("%+v", r)
	}
	// Of samples of 100 questions, 10 in 100 with .9: fewer than 10 of these in 45 %, more than 10 in 42 %, so that the quantile is .5
	// in more and .9 in more than 2.5 % of the samples.
	near(t, "HI at least", r.Hi.Low, .5)
	near(t, "HI at most", r.Hi.High, .9)
	if !(r.Lo.Low < .09 && .09 < r.Lo.High) || r.Lo.High-r.Lo.Low > .1 {
		t.Errorf("interval of LO %+v", r.Lo)
	}
	again, err := Measure(t.Context(), store, facts, queries, 1000, 1)
	if err != nil || again != r {
		t.Errorf("%+v, then %+v: want the same (%v)", r, again, err)
	}
}

// circle is one user's facts every 3 degrees: each has two others at cos 3 degrees, and the mean cosine to the other 119 is -1/119,
// since all 120 sum to 0.
func circle(t *testing.T) (*vdbtest.Memory, *Facts) {
	t.Helper()
	store := vdbtest.NewMemory(2)
	for i := range 120 {
		angle := float64(i) * math.Pi / 60
		put(t, store, "ada", fmt.Sprintf("f%03d", i), []float32{float32(math.Cos(angle)), float32(math.Sin(angle))})
	}
	facts, err := ReadFacts(t.Context(), store, space(t, "ada"), now)
	if err != nil {
		t.Fatal(err)
	}
	return store, facts
}

// A fact that stands in for a question is no answer to itself: HI would be 1, and LO 0.
func TestOwnQueriesLeaveThemselvesOut(t *testing.T) {
	store, facts := circle(t)
	queries, err := OwnQueries(t.Context(), store, facts, 500, 1)
	if err != nil || len(queries) != 120 {
		t.Fatalf("%d questions, %v: want 120", len(queries), err)
	}
	r, err := Measure(t.Context(), store, facts, queries, 120*119, 1)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "LO", r.Lo.Value, -1./119)
	near(t, "HI", r.Hi.Value, math.Cos(math.Pi/60))
}

// A part of the pairs is an even part: its mean is within four standard errors (.707/sqrt(1000)) of that of all.
func TestPairsAreDrawnEvenly(t *testing.T) {
	store, facts := circle(t)
	queries, err := OwnQueries(t.Context(), store, facts, 110, 1)
	if err != nil || len(queries) != 110 {
		t.Fatalf("%d questions, %v", len(queries), err)
	}
	seen := map[float64]bool{}
	for seed := range uint64(5) {
		r, err := Measure(t.Context(), store, facts, queries, 1000, seed)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.Lo.Value+1./119) > .09 || r.Pairs != 1000 {
			t.Errorf("seed %d: %+v", seed, r)
		}
		seen[r.Lo.Value] = true
	}
	if len(seen) != 5 {
		t.Errorf("5 seeds give %d numbers", len(seen))
	}
}

// Every pair is drawn once, none of a fact with itself.
func TestDrawIsDistinct(t *testing.T) {
	store, facts := circle(t)
	queries, err := OwnQueries(t.Context(), store, facts, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, pairs := range []int{100 * 119, 1000} { // all of them, and a few
		chosen, err := facts.draw(queries, pairs, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, ids := range chosen {
			for _, id := range ids {
				if id == queries[i].Self {
					t.Fatalf("%s is paired with itself", id)
				}
				seen[queries[i].Self+" "+id] = true
			}
		}
		if len(seen) != pairs {
			t.Errorf("%d different pairs, want %d", len(seen), pairs)
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	store := twoUsers(t)
	facts, err := ReadFacts(t.Context(), store, graphstore.Space{}, now)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		queries []Query
		pairs   int
		want    string
		few     bool
	}{
		"questions":        {ask(t, "ada", 99), 1000, "99 questions of users with facts (0 of users without): want at least 100", true},
		"users have facts": {ask(t, "nobody", 200), 1000, "0 questions of users with facts (200 of users without)", true},
		"facts":            {ask(t, "eve", 100), 1000, "make 100 pairs: want at least 1000", true},
		"pairs":            {ask(t, "ada", 100), 999, "pairs 999: want 1000 to 20000", false},
		"dimension":        {append(ask(t, "ada", 200), Query{Name: "line 9", Space: space(t, "ada"), Vector: []float32{1}}), 1000, "line 9: bad query", false},
	} {
		_, err := Measure(t.Context(), store, facts, tc.queries, tc.pairs, 1)
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, ErrTooFew) != tc.few {
			t.Errorf("%s: %v: want %q", name, err, tc.want)
		}
	}
	if queries, err := OwnQueries(t.Context(), store, facts, 500, 1); err != nil || len(queries) != 20 {
		t.Errorf("%d questions of their own, %v: want 20: eve's fact has no other", len(queries), err)
	}
}

func TestIdentity(t *testing.T) {
	for _, tc := range []struct {
		lo, hi float64
		want   bool
	}{{.5, .549, true}, {.5, .55, false}, {.50004, .55004, false}, {.2, .1, true}, {.1, .7, false}} {
		if got := (Result{Lo: Number{Value: tc.lo}, Hi: Number{Value: tc.hi}}).Identity(); got != tc.want {
			t.Errorf("%v to %v: %v", tc.lo, tc.hi, got)
		}
	}
	if Round(1.0000001) != 1 || Round(-1.2) != -1 || Round(.12346) != .1235 {
		t.Error("rounding")
	}
}

func TestQuantile(t *testing.T) {
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for share, want := range map[float64]float64{0: 1, .5: 5.5, .9: 9.1, 1: 10} { // at share*9 from the first
		near(t, fmt.Sprint(share), quantile(ten, share), want)
	}
	near(t, "of one", quantile([]float64{3}, .9), 3)
}
