package vdbtest

import "math"

// Cosine returns the cosine of two vectors of one length in float64, clipped to [-1, 1] against rounding. It is the plain
// formula, dot over the product of lengths, and the yardstick for the scores of every store.
func Cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
	}
	return max(-1, min(1, dot/(math.Sqrt(aa)*math.Sqrt(bb))))
}
