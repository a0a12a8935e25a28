package eval

import (
	"math"
	"slices"
)

// Rank returns the place of an id in a list, from 1; 0 when it is not there.
func Rank(shown []string, id string) int { return slices.Index(shown, id) + 1 }

// RecallAt returns the share of the answers among the first k shown, in [0, 1]. A k below 1 finds nothing.
func RecallAt(shown, answers []string, k int) float64 {
	ranks, n := ranksOf(shown, answers)
	hits := 0
	for _, r := range ranks {
		if r <= k {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

// NDCGAt returns the normalised discounted cumulative gain of the first k shown, in [0, 1]. The gain is binary, 1 for an
// answer; the discount of place i is 1/log2(i+1), and the norm is the gain of the best order, all answers first. It is NaN
// also for a k below 1.
func NDCGAt(shown, answers []string, k int) float64 {
	ranks, n := ranksOf(shown, answers)
	var gain, best float64
	for _, r := range ranks {
		if r <= k {
			gain += discount(r)
		}
	}
	for i := 1; i <= min(k, n); i++ {
		best += discount(i)
	}
	return gain / best
}

func discount(place int) float64 { return 1 / math.Log2(float64(place+1)) }

// ReciprocalRank returns 1 over the place of the first answer shown, 0 when none is. Its mean over questions is the MRR.
func ReciprocalRank(shown, answers []string) float64 {
	ranks, n := ranksOf(shown, answers)
	switch {
	case n == 0:
		return math.NaN()
	case len(ranks) == 0:
		return 0
	default:
		return 1 / float64(ranks[0])
	}
}

// ranksOf returns the places of the answers that are shown, ascending so that sums do not depend on the order of the
// answers, and how many different answers there are.
func ranksOf(shown, answers []string) (ranks []int, n int) {
	distinct := slices.Compact(slices.Sorted(slices.Values(answers)))
	for _, id := range distinct {
		if r := Rank(shown, id); r > 0 {
			ranks = append(ranks, r)
		}
	}
	slices.Sort(ranks)
	return ranks, len(distinct)
}
