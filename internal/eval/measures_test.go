package eval

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func list(s string) []string {
	ids := make([]string, len(s))
	for i, r := range s {
		ids[i] = string(r)
	}
	return ids
}

// Discounts 1/log2(i+1) of places 1 to 10, from a table of logarithms.
var discounts = []float64{1, 0.6309298, 0.5, 0.4306766, 0.3868528, 0.3562072, 0.3333333, 0.3154649, 0.3010300, 0.2890648}

func TestMeasures(t *testing.T) {
	for _, tc := range []struct {
		name, shown, answers   string
		recall2, ndcg3, ndcg10 float64
		reciprocal             float64
	}{
		{"one answer first", "abcdefghij", "a", 1, 1, 1, 1},
		{"one answer third", "xyabcdefgh", "a", 0, discounts[2], discounts[2], 1.0 / 3},
		{"one answer fourth", "xyzabcdefg", "a", 0, 0, discounts[3], 1.0 / 4},
		{"two answers, first and fourth: 1.4306766 of 1.6309298", "axybcdefgh", "ab", .5, 1 / 1.6309298, 1.4306766 / 1.6309298, 1},
		{"two answers in places 2 and 3, 1.1309298 of 1.6309298", "xbacdefghi", "ab", .5, 1.1309298 / 1.6309298, 1.1309298 / 1.6309298, .5},
		{"four answers, the first three shown: the norm at 3 is 2.1309298, at 10 it is 2.5616064", "abcx", "abcd", .5, 1, 2.1309298 / 2.5616064, 1},
		{"an answer at place 11 has no gain at 10", "xyzuvwopqra", "a", 0, 0, 0, 1.0 / 11},
		{"a repeated answer counts once", "aab", "ab", .5, 1.5 / 1.6309298, 1.5 / 1.6309298, 1},
		{"answers said twice", "xa", "aa", 1, discounts[1], discounts[1], .5},
		{"no answer shown", "xyz", "ab", 0, 0, 0, 0},
		{"nothing shown", "", "a", 0, 0, 0, 0},
	} {
		shown, answers := list(tc.shown), list(tc.answers)
		for _, m := range []struct {
			name      string
			got, want float64
		}{
			{"recall@2", RecallAt(shown, answers, 2), tc.recall2},
			{"nDCG@3", NDCGAt(shown, answers, 3), tc.ndcg3},
			{"nDCG@10", NDCGAt(shown, answers, 10), tc.ndcg10},
			{"reciprocal rank", ReciprocalRank(shown, answers), tc.reciprocal},
		} {
			if math.Abs(m.got-m.want) > 1e-6 {
				t.Errorf("%s: %s %.7f: want %.7f", tc.name, m.name, m.got, m.want)
			}
		}
	}
}

func TestNothingIsMeasuredWithoutAnswers(t *testing.T) {
	shown := list("abc")
	for name, v := range map[string]float64{
		"recall": RecallAt(shown, nil, 5), "nDCG": NDCGAt(shown, nil, 5), "reciprocal rank": ReciprocalRank(shown, nil), "nDCG@0": NDCGAt(shown, shown, 0),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: %v: want NaN", name, v)
		}
	}
}

func TestRank(t *testing.T) {
	if a, c, x := Rank(list("abc"), "a"), Rank(list("abc"), "c"), Rank(list("abc"), "x"); a != 1 || c != 3 || x != 0 {
		t.Errorf("ranks %d, %d, %d: want 1, 3, 0", a, c, x)
	}
}

// For any list: all measures lie in [0, 1], recall never falls with k, the order of the answers does not matter, swapping an
// answer with the item before it never lowers a measure, and nDCG is 1 exactly when nothing but answers stands in front.
func TestPropertyMeasures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown := rapid.Permutation(list("abcdefghijklmn")).Draw(t, "shown")
		answers := rapid.Permutation(list("abcdefghxyz")).Draw(t, "answers")[:rapid.IntRange(1, 11).Draw(t, "n")]
		k := rapid.IntRange(1, 15).Draw(t, "k")
		measure := func(shown, answers []string) []float64 {
			return []float64{RecallAt(shown, answers, k), NDCGAt(shown, answers, k), ReciprocalRank(shown, answers)}
		}
		values := measure(shown, answers)
		for _, v := range values {
			if !(v >= 0 && v <= 1+1e-12) {
				t.Fatalf("%v: want 0 to 1", values)
			}
		}
		if RecallAt(shown, answers, k+1) < values[0] {
			t.Fatal("recall fell with k")
		}
		turned := slices.Clone(answers)
		slices.Reverse(turned)
		if got := measure(shown, turned); !slices.Equal(got, values) {
			t.Fatalf("answers turned round: %v: want %v", got, values)
		}
		if i := rapid.IntRange(1, len(shown)-1).Draw(t, "swap"); slices.Contains(answers, shown[i]) {
			better := slices.Clone(shown)
			better[i-1], better[i] = better[i], better[i-1]
			for j, v := range measure(better, answers) {
				if v < values[j]-1e-12 {
					t.Fatalf("an answer moved up: %v became %v", values, measure(better, answers))
				}
			}
		}
		front := shown[:min(k, len(answers))]
		perfect := !slices.ContainsFunc(front, func(id string) bool { return !slices.Contains(answers, id) })
		if perfect != (values[1] > 1-1e-9) {
			t.Fatalf("nDCG %v, front %v of answers %v", values[1], front, answers)
		}
	})
}
