package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kithgraph/kith/internal/eval"
)

// quantile returns the value below which a share of sorted values lies, between two values by linear interpolation.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(math.Floor(at))
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// quantileOf returns a quantile with its percentile bootstrap interval, of the same number of samples and level as the interval of
// a mean is. The draws have a fixed seed, so that equal values give equal bounds.
func quantileOf(values []float64, share float64) Number {
	sorted := slices.Sorted(slices.Values(values))
	rng := rand.New(rand.NewPCG(1, 2))
	samples := make([]float64, eval.Resamples)
	places, drawn := make([]int, len(sorted)), make([]float64, len(sorted))
	for i := range samples {
		for j := range places {
			places[j] = rng.IntN(len(sorted))
		}
		slices.Sort(places)
		for j, at := range places {
			drawn[j] = sorted[at]
		}
		samples[i] = quantile(drawn, share)
	}
	slices.Sort(samples)
	const outside = (1 - eval.Level) / 2
	return Number{quantile(sorted, share), quantile(samples, outside), quantile(samples, 1-outside)}
}
