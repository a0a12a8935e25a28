package qdrant

import "math"

// unit returns the vector with length 1, a copy. The server does the same in single precision, in which the squares of
// large and small numbers are infinite and zero. A vector with finite numbers that are not all zero has a length.
func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out
}
