package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kithgraph/kith/internal/eval"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
)

// Bounds. The least numbers are those under which LO and HI would be chance.
const (
	MinPairs   = 1000
	MaxPairs   = 20_000
	MinQueries = 100
	// HitQuantile is the share of the questions whose best hit is not above HI.
	HitQuantile = 0.9
)

// ErrTooFew reports that there is not enough to measure with; the text says what is missing.
var ErrTooFew = errors.New("too little to calibrate with")

// Number is something measured, with its bootstrap interval ([eval.Level]).
type Number struct{ Value, Low, High float64 }

// Result is a measurement.
type Result struct {
	Lo, Hi  Number
	Pairs   int // (question, fact) pairs behind Lo
	Queries int // questions behind Hi
	LeftOut int // questions of users who have no fact that could answer
}

// Identity says whether LO and HI, as they would be set, are so near to each other that the ranking would ignore them.
func (r Result) Identity() bool {
	return Round(r.Hi.Value)-Round(r.Lo.Value)+rerank.Epsilon < rerank.MinCalibration
}

// Round returns a cosine as it is written into a configuration, within -1 to 1. More digits would be noise.
func Round(cosine float64) float64 {
	return max(-1, min(math.Round(cosine*1e4)/1e4, 1))
}

// Measure takes the two numbers over questions: pairs (MinPairs to MaxPairs) are drawn without repetition, evenly over all that there
// are. Equal seeds draw equal pairs of an unchanged collection.
//
// Errors: [ErrTooFew], or the store's.
func Measure(ctx context.Context, store Store, f *Facts, queries []Query, pairs int, seed uint64) (Result, error) {
	if pairs < MinPairs || pairs > MaxPairs {
		return Result{}, fmt.Errorf("pairs %d: want %d to %d", pairs, MinPairs, MaxPairs)
	}
	var r Result
	useful := slices.DeleteFunc(slices.Clone(queries), func(q Query) bool { return f.answers(&q) == 0 })
	r.LeftOut = len(queries) - len(useful)
	if len(useful) < MinQueries {
		return r, fmt.Errorf("%w: %d questions of users with facts (%d of users without): want at least %d", ErrTooFew, len(useful), r.LeftOut, MinQueries)
	}
	chosen, err := f.draw(useful, pairs, seed)
	if err != nil {
		return r, err
	}
	var random, best []float64
	for i := range useful {
		hit, ok, err := f.best(ctx, store, &useful[i])
		if err != nil {
			return r, fmt.Errorf("%s: %w", useful[i].Name, err)
		}
		if ok {
			best = append(best, hit)
		}
		cosines, err := f.cosines(ctx, store, &useful[i], chosen[i])
		if err != nil {
			return r, fmt.Errorf("%s: %w", useful[i].Name, err)
		}
		random = append(random, cosines...)
	}
	if len(random) < MinPairs || len(best) < MinQueries {
		return r, fmt.Errorf("%w: %d pairs and %d questions were answered: the collection has changed meanwhile", ErrTooFew, len(random), len(best))
	}
	r.Pairs, r.Queries = len(random), len(best)
	mean, err := eval.Compare(random, make([]float64, len(random)))
	if err != nil {
		return r, err
	}
	r.Lo = Number{mean.Mean, mean.Low, mean.High}
	r.Hi = quantileOf(best, HitQuantile)
	return r, nil
}

// answers returns how many facts could answer a question.
func (f *Facts) answers(q *Query) int {
	n := len(f.IDs[q.Space])
	if q.Self != "" {
		n-- // it is one of them
	}
	return n
}

// draw chooses facts for each question: distinct pairs, each of all that there are with the same chance.
func (f *Facts) draw(queries []Query, pairs int, seed uint64) (chosen [][]string, err error) {
	ends := make([]int, len(queries)) // of the numbers that are a question's pairs
	total := 0
	for i := range queries {
		total += f.answers(&queries[i])
		ends[i] = total
	}
	if total < pairs {
		return nil, fmt.Errorf("%w: %d questions and the facts of their users make %d pairs: want at least %d", ErrTooFew, len(queries), total, pairs)
	}
	chosen = make([][]string, len(queries))
	last, self := -1, -1
	for _, n := range distinct(rand.New(rand.NewPCG(seed, 2)), total, pairs) {
		i, exact := slices.BinarySearch(ends, n)
		if exact {
			i++ // an end is the first number of the next
		}
		q := &queries[i]
		ids := f.IDs[q.Space]
		if i != last {
			last, self = i, slices.Index(ids, q.Self)
		}
		n -= ends[i] - f.answers(q)
		if q.Self != "" && self >= 0 && n >= self {
			n++ // itself is passed over
		}
		chosen[i] = append(chosen[i], ids[n])
	}
	return chosen, nil
}

// distinct returns n different numbers below total, in rising order.
func distinct(rng *rand.Rand, total, n int) []int {
	var numbers []int
	if total <= 4*n {
		numbers = rng.Perm(total)[:n]
	} else {
		seen := make(map[int]struct{}, n)
		for len(numbers) < n {
			x := rng.IntN(total)
			if _, again := seen[x]; !again {
				seen[x] = struct{}{}
				numbers = append(numbers, x)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// best returns the cosine of a question's best hit.
func (f *Facts) best(ctx context.Context, store Store, q *Query) (cosine float64, ok bool, err error) {
	limit := 1
	if q.Self != "" {
		limit = 2
	}
	found, err := store.Search(ctx, vdb.Query{Space: q.Space, Vector: q.Vector, Filter: f.filter(), Limit: limit})
	if err != nil {
		return 0, false, err
	}
	for i := range found {
		if found[i].ID != q.Self && !math.IsNaN(found[i].Score) {
			return found[i].Score, true, nil
		}
	}
	return 0, false, nil
}

// cosines returns those of a question to facts, as a search would score them.
func (f *Facts) cosines(ctx context.Context, store Store, q *Query, ids []string) ([]float64, error) {
	var out []float64
	for chunk := range slices.Chunk(ids, vdb.MaxLimit) {
		found, err := store.Score(ctx, vdb.Query{Space: q.Space, Vector: q.Vector, Filter: f.filter(), Limit: len(chunk)}, chunk)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if !math.IsNaN(found[i].Score) {
				out = append(out, found[i].Score)
			}
		}
	}
	return out, nil
}
