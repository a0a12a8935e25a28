package rerank

import "math"

// propagate sets graph scores and raw supports. All of one step reads the step before; receivers restart from their
// base score, which prevents that scores of a cluster melt into one.
//
// Pairs ascend by low, then high. Adding them up in that order gives every member its lower neighbours in ascending
// order, then its higher ones: each sum is taken in the order of ids without a list per member.
func (s *scratch) propagate(r *Ranker) {
	if len(s.pairs) == 0 {
		return
	}
	s.step, s.sums = grown(s.step, len(s.members)), grown(s.sums, len(s.members))
	for range r.settings.Iterations {
		clear(s.sums)
		for v := range s.members {
			s.step[v] = min(s.members[v].score, 1)
		}
		for i := range s.pairs {
			p := &s.pairs[i]
			s.sums[p.low] += p.toLow * s.step[p.high]
			s.sums[p.high] += p.toHigh * s.step[p.low]
		}
		for v := range s.members {
			m := &s.members[v]
			m.raw = s.sums[v] / math.Sqrt(float64(max(1, m.degree)))
			m.capped = m.raw > r.settings.SupportCap
			m.score = m.base + r.settings.Beta*min(m.raw, r.settings.SupportCap)
		}
	}
}
