package sqlite

import (
	"encoding/binary"
	"math"
)

// normalise returns v scaled to length 1, and its length. The sums are in float64, where no float32 overflows or
// vanishes when squared. v is finite and not all zero.
func normalise(v []float32) (unit []float32, norm float64) {
	norm = length(v)
	unit = make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / norm)
	}
	return unit, norm
}

// restore is the inverse of normalise, up to rounding.
func restore(unit []float32, norm float64) []float32 {
	v := make([]float32, len(unit))
	for i, x := range unit {
		v[i] = float32(max(-math.MaxFloat32, min(math.MaxFloat32, float64(x)*norm)))
	}
	return v
}

func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// cosine returns the cosine of a query of the given length and a stored vector. The stored one is divided by its own
// length once more, because rounding to float32 left it at 1 only up to 1e-7.
func cosine(query []float32, queryLength float64, stored []float32) float64 {
	var dot, sum float64
	for i, x := range stored {
		dot += float64(query[i]) * float64(x)
		sum += float64(x) * float64(x)
	}
	return max(-1, min(1, dot/(queryLength*math.Sqrt(sum))))
}

func encodeVector(v []float32) []byte {
	blob := make([]byte, 0, 4*len(v))
	for _, x := range v {
		blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(x))
	}
	return blob
}

// decodeVector appends the numbers of a blob.
func decodeVector(dst []float32, blob []byte) []float32 {
	for ; len(blob) >= 4; blob = blob[4:] {
		dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(blob)))
	}
	return dst
}
