package kuzu

import (
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/kithgraph/kith/graphstore"
)

// buildSpace is one space of a graph that is being built: its number, those of its nodes and texts, and its edges.
type buildSpace struct {
	no    int64
	nodes [graphstore.KindTombstone + 1]map[string]int64 // by kind; nil where there are none
	texts map[string]int64                               // by textKey
	edges map[edgeBits]struct{}
}

func newBuildSpace(no int64) *buildSpace {
	return &buildSpace{no: no, texts: make(map[string]int64), edges: make(map[edgeBits]struct{})}
}

// maxTextKey is the longest text that is its own key.
const maxTextKey = 64

// textKey stands for a text where only equality counts. Long texts are not kept in memory. No text has a NUL.
func textKey(text string) string {
	if len(text) <= maxTextKey {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "\x00" + string(sum[:])
}

// edgeBits is the identity of an edge, small: a set of ten million takes 300 MB.
type edgeBits [2]uint64

// maxBuildNumber is the greatest number of a node or text that fits edgeBits. The index of such a graph would take
// hundreds of gigabytes.
const maxBuildNumber = math.MaxUint32

// bitsOf packs an edge's identity. It has 32 bits for either end, 34 for the asserter, whose number may be negative, and 8
// each for the two names.
func bitsOf(e graphstore.Edge, id edgeID) edgeBits {
	asserter := uint64(id.asserter - assertedByTarget) // from 0
	return edgeBits{uint64(id.src)<<32 | uint64(id.dst), asserter<<16 | uint64(e.Type)<<8 | uint64(e.Asserter.Kind)}
}

// numbers hands out the numbers of spaces, nodes and parts of texts, in the order in which they are asked for.
type numbers struct{ last int64 }

func (n *numbers) next() (int64, error) {
	if n.last == maxBuildNumber {
		return 0, fmt.Errorf("more than %d nodes and texts", int64(maxBuildNumber))
	}
	n.last++
	return n.last, nil
}
