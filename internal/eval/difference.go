package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Resamples is how many samples an interval is made of.
const Resamples = 10_000

// Level is the share of the samples inside an interval.
const Level = 0.95

// Epsilon is the least that counts as a difference: less is how sums were rounded.
const Epsilon = 1e-9

// Difference is how much better one way of ranking is than another over the same questions, with a percentile bootstrap
// interval: the questions are drawn anew, with replacement, [Resamples] times; Low and High are the means between which
// [Level] of these samples lie. The draws have a fixed seed, so that equal input gives equal bounds.
//
// An interval that holds 0 says that these questions do not show a difference. It says nothing of other questions, and with
// fewer than some twenty it is too narrow.
type Difference struct {
	N         int // questions
	Mean      float64
	Low, High float64
	Better    int // questions on which the first way is better
	Worse     int
}

// Compare returns the difference with - without, of which the values at one index belong to one question. It is an error if
// there are no values, not as many of one as of the other, or some that are not finite.
func Compare(with, without []float64) (Difference, error) {
	if len(with) != len(without) || len(with) == 0 {
		return Difference{}, fmt.Errorf("compare %d values with %d: want as many, at least one", len(with), len(without))
	}
	diffs := make([]float64, len(with))
	d := Difference{N: len(with)}
	for i := range with {
		diffs[i] = with[i] - without[i]
		switch {
		case math.IsNaN(diffs[i]) || math.IsInf(diffs[i], 0):
			return Difference{}, fmt.Errorf("compare values at %d: %v with %v: want finite ones", i, with[i], without[i])
		case diffs[i] > Epsilon:
			d.Better++
		case diffs[i] < -Epsilon:
			d.Worse++
		}
	}
	d.Mean = mean(diffs)
	d.Low, d.High = interval(diffs)
	return d, nil
}

// Verdict says what a difference is worth.
type Verdict string

// The verdicts.
const (
	Helps  Verdict = "helps"  // the whole interval is above 0
	Harms  Verdict = "harms"  // the whole interval is below 0
	Alike  Verdict = "alike"  // no question differs
	Unsure Verdict = "unsure" // the interval holds 0
)

// Verdict returns what the difference is worth.
func (d Difference) Verdict() Verdict {
	switch {
	case d.Low > Epsilon:
		return Helps
	case d.High < -Epsilon:
		return Harms
	case d.Better == 0 && d.Worse == 0:
		return Alike
	default:
		return Unsure
	}
}

func interval(diffs []float64) (low, high float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, Resamples)
	for i := range means {
		sum := 0.0
		for range diffs {
			sum += diffs[rng.IntN(len(diffs))]
		}
		means[i] = sum / float64(len(diffs))
	}
	slices.Sort(means)
	const outside = Resamples * (1 - Level) / 2 // samples beyond each bound
	return means[int(outside)], means[Resamples-1-int(outside)]
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
