package eval

import (
	"math"
	"strings"
	"testing"
)

// ones returns n values of which the first k are 1.
func ones(n, k int) []float64 {
	values := make([]float64, n)
	for i := range k {
		values[i] = 1
	}
	return values
}

// sum adds at run time, where a constant would be exact.
func sum(a, b float64) float64 { return a + b }

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name          string
		with, without []float64
		want          Difference
		verdict       Verdict
	}{
		{"all equal: every sample has the mean 0.25",
			[]float64{.5, 1, .25}, []float64{.25, .75, 0}, Difference{3, .25, .25, .25, 3, 0}, Helps},
		{"0 and 1: a quarter of the samples has the mean 0, a quarter 1",
			[]float64{1, 1}, []float64{1, 0}, Difference{2, .5, 0, 1, 1, 0}, Unsure},
		{"nothing differs", []float64{1, .5}, []float64{1, .5}, Difference{2, 0, 0, 0, 0, 0}, Alike},
		{"0.1+0.2 is a rounding away from 0.3", []float64{sum(.1, .2), sum(.1, .2)}, []float64{.3, .3}, Difference{2, 0, 0, 0, 0, 0}, Alike},
		{"100 of which half are 1: the sum of a sample is binomial (100, 1/2), 2.8 % of it is 40 or less and 1.8 % below 40",
			ones(100, 50), ones(100, 0), Difference{100, .5, .40, .60, 50, 0}, Helps},
		{"the other way round", ones(100, 0), ones(100, 50), Difference{100, -.5, -.60, -.40, 0, 50}, Harms},
		{"one of 100: 36.6 % of the samples do not hold it, 1.8 % hold it more than three times",
			ones(100, 1), ones(100, 0), Difference{100, .01, 0, .03, 1, 0}, Unsure},
	} {
		got, err := Compare(tc.with, tc.without)
		if err != nil {
			t.Fatal(err)
		}
		far := math.Abs(got.Mean-tc.want.Mean) > 1e-12 || math.Abs(got.Low-tc.want.Low) > 1e-9 || math.Abs(got.High-tc.want.High) > 1e-9
		if far || got.N != tc.want.N || got.Better != tc.want.Better || got.Worse != tc.want.Worse || got.Verdict() != tc.verdict {
			t.Errorf("%s: %+v, %s: want %+v, %s", tc.name, got, got.Verdict(), tc.want, tc.verdict)
		}
		if again, _ := Compare(tc.with, tc.without); again != got {
			t.Errorf("%s: %+v, then %+v: want the same", tc.name, got, again)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	for want, in := range map[string][2][]float64{
		"0 values with 0":  {},
		"2 values with 1":  {{1, 2}, {1}},
		"values at 1: NaN": {{1, math.NaN()}, {1, 1}},
		"1 with +Inf":      {{1}, {math.Inf(1)}},
	} {
		if _, err := Compare(in[0], in[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error that says %q", err, want)
		}
	}
}
