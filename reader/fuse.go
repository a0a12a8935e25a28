package reader

import (
	"cmp"
	"math"
	"slices"

	"github.com/kithgraph/kith/vdb"
)

// Channels are the raw scores that a hybrid recall fused.
type Channels struct {
	// Dense is the cosine, as the vector store gave it; nil if it is not known.
	Dense *float64
	// DenseFound says that the fact was among the nearest: only then the cosine counts.
	DenseFound bool
	// Keyword is the BM25 score; nil for a fact that shares no word with the text, or is not among the best that do.
	Keyword *float64
	// Fused is DenseWeight*d + (1-DenseWeight)*s/(s+KeywordHalf), with d the calibrated cosine and s the keyword score, each 0 where
	// the fact is not in that list. In [0, 1].
	Fused float64
}

// fuse is the convex combination of a calibrated cosine and a keyword score, both 0 for "not found by it". A rank fusion
// would lose how good the best hit is, which all thresholds of the ranking ask for.
func (r *Reader) fuse(base, keyword float64) float64 {
	word := 0.0
	if keyword > 0 { // and no NaN
		word = keyword / (keyword + r.cfg.Hybrid.KeywordHalf)
	}
	return r.cfg.Hybrid.DenseWeight*base + (1-r.cfg.Hybrid.DenseWeight)*word
}

// fused makes one list of two: by fused score, then cosine, then id, cut at the pool's size.
func (r *Reader) fused(out *recalled, q Query, both vdb.HybridMatches) {
	type item struct {
		match    vdb.Match
		channels Channels
	}
	var items []item
	at := map[string]int{}
	dense, foreign := r.ownOnly(q.Space, both.Dense)
	out.foreign = foreign
	for _, m := range dense {
		if _, twice := at[m.ID]; twice {
			continue
		}
		at[m.ID] = len(items)
		items = append(items, item{m, Channels{Dense: finite(m.Score), DenseFound: true}})
	}
	words := 0 // of them foreign
	for i, m := range both.Keyword {
		if m.Space != q.Space {
			words++
			continue
		}
		n, known := at[m.ID]
		if !known {
			n = len(items)
			at[m.ID] = n
			items = append(items, item{match: m})
			if i < len(both.Cosines) {
				items[n].channels.Dense = finite(both.Cosines[i])
			}
		}
		items[n].channels.Keyword = finite(m.Score)
	}
	if words > 0 {
		out.foreign += words
		r.logForeign(q.Space, words)
	}
	for i := range items {
		c := &items[i].channels
		base, word := 0.0, 0.0
		if c.DenseFound && c.Dense != nil {
			base = r.ranker.BaseScore(*c.Dense)
		}
		if c.Keyword != nil {
			word = *c.Keyword
		}
		c.Fused = r.fuse(base, word)
		items[i].match.Score = c.Fused
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.channels.Fused, a.channels.Fused), cmp.Compare(b.channels.cosine(), a.channels.cosine()), cmp.Compare(a.match.ID, b.match.ID))
	})
	for _, it := range items[:min(len(items), q.Pool)] {
		out.matches = append(out.matches, it.match)
		out.channels = append(out.channels, it.channels)
		out.relevance = append(out.relevance, it.channels.Fused)
	}
}

// cosine returns the cosine, NaN if it is not known.
func (c *Channels) cosine() float64 {
	if c.Dense == nil {
		return math.NaN()
	}
	return *c.Dense
}

func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
