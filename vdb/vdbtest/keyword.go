package vdbtest

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/kithgraph/kith/vdb"
)

// The customary constants of BM25 (Robertson and Zaragoza 2009).
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// Keyword implements [vdb.Store] by BM25 over the points of the space, each word of the text counted once.
func (m *Memory) Keyword(ctx context.Context, q vdb.KeywordQuery) ([]vdb.Match, error) {
	if err := m.enter(ctx, "keyword search"); err != nil {
		return nil, err
	}
	defer m.mu.RUnlock()
	if err := errors.Join(q.Validate(), checkFilter(q.Filter)); err != nil {
		return nil, err
	}
	return m.keywordLocked(q), nil
}

func (m *Memory) keywordLocked(q vdb.KeywordQuery) []vdb.Match {
	words := vdb.Tokenize(q.Text)
	slices.Sort(words)
	words = slices.Compact(words)

	c := corpus{frequency: make(map[string]int)}
	for key, p := range m.points {
		if key.space == q.Space {
			c.add(p)
		}
	}
	var matches []vdb.Match
	for _, d := range c.documents {
		if score, shares := c.score(d, words); shares && passes(d.point.Payload, q.Filter) {
			matches = append(matches, vdb.Match{Point: clonePoint(d.point, false), Score: score})
		}
	}
	slices.SortFunc(matches, compareMatches)
	return matches[:min(len(matches), q.Limit)]
}

type document struct {
	point  vdb.Point
	counts map[string]int
	length int
}

type corpus struct {
	documents []document
	frequency map[string]int // documents that hold the word
	words     int
}

func (c *corpus) add(p vdb.Point) {
	d := document{point: p, counts: make(map[string]int)}
	for _, word := range vdb.Tokenize(p.Payload.Content) {
		if d.counts[word] == 0 {
			c.frequency[word]++
		}
		d.counts[word]++
		d.length++
	}
	c.documents = append(c.documents, d)
	c.words += d.length
}

// score returns the BM25 score and whether the document holds any of the words.
func (c *corpus) score(d document, words []string) (score float64, shares bool) {
	n, mean := float64(len(c.documents)), float64(c.words)/float64(len(c.documents))
	for _, word := range words {
		tf, df := float64(d.counts[word]), float64(c.frequency[word])
		if tf == 0 {
			continue
		}
		shares = true
		idf := math.Log((n-df+0.5)/(df+0.5) + 1)
		score += idf * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*float64(d.length)/mean))
	}
	return score, shares
}
