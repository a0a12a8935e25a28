package rerank

import (
	"math/bits"

	"github.com/kithgraph/kith/graphstore"
)

// row gathers the edges between one member and all later ones: per other member and type the best weight. A dense table
// with a bit per touched member costs nothing to fold and is read back in member order without sorting.
type row struct {
	weights []float64 // member*typeSlots + type; meaningful where the mask has the type's bit
	masks   []uint16  // types seen, per member
	touched []uint64  // bit per member
	ways    []episodeWays
}

func (w *row) reset(n int) {
	w.weights = grown(w.weights, n*typeSlots)
	w.masks = grown(w.masks, n)
	w.touched = grown(w.touched, (n+63)/64)
	w.ways = grown(w.ways, n)
	clear(w.masks)
	clear(w.ways)
	clear(w.touched)
}

func (w *row) touch(v int32) { w.touched[v>>6] |= 1 << (v & 63) }

// add keeps the best weight of a type, which makes repeats and both directions of an edge count once. A weight that is
// not above zero drops the edge, one above 1 counts as 1.
func (w *row) add(v int32, t graphstore.RelationType, weight float64) {
	if !(weight > 0) { // also NaN
		return
	}
	weight = min(weight, 1)
	at := int(v)*typeSlots + int(t)
	if bit := uint16(1) << t; w.masks[v]&bit == 0 {
		w.masks[v] |= bit
		w.touch(v)
		w.weights[at] = weight
	} else if weight > w.weights[at] {
		w.weights[at] = weight
	}
}

// addBridge folds one more shared bridge into the weight of its type: 1 - product of (1 - damp).
func (w *row) addBridge(v int32, t graphstore.RelationType, damp float64) {
	at := int(v)*typeSlots + int(t)
	if bit := uint16(1) << t; w.masks[v]&bit == 0 {
		w.masks[v] |= bit
		w.touch(v)
		w.weights[at] = damp
		return
	}
	w.weights[at] = 1 - (1-w.weights[at])*(1-damp)
}

// addTie notes an episode tie. Its weight is a setting and the same for all, its direction is not: it stays out of the
// weights.
func (w *row) addTie(tie episodeTie) {
	w.masks[tie.high] |= episodeBit
	w.touch(tie.high)
	w.ways[tie.high] |= tie.ways
}

// takeWays returns and clears the ties with v.
func (w *row) takeWays(v int32) episodeWays {
	ways := w.ways[v]
	w.ways[v] = 0
	return ways
}

// drain calls visit for every touched member in ascending order and empties the row.
func (w *row) drain(visit func(v int32, mask uint16, weights []float64)) {
	for word, set := range w.touched {
		for ; set != 0; set &= set - 1 {
			v := int32(word<<6 + bits.TrailingZeros64(set))
			at := int(v) * typeSlots
			visit(v, w.masks[v], w.weights[at:at+typeSlots])
			w.masks[v] = 0
		}
		w.touched[word] = 0
	}
}

// missOf returns the product of 1 - prior*weight over the types in mask: the chance that none of the independent
// relations holds.
func missOf(mask uint16, weights []float64, priors *priorTable) float64 {
	miss := 1.0
	for ; mask != 0; mask &= mask - 1 {
		t := bits.TrailingZeros16(mask)
		miss *= 1 - priors[t]*weights[t]
	}
	return miss
}
