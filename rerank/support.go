package rerank

import "math"

// neighbourRows lists for every member who supports it, in ascending id order: row v is from[start[v]:start[v+1]].
type neighbourRows struct {
	start  []int32
	from   []int32
	weight []float64
	pair   []int32 // in scratch.pairs
	fill   []int32
}

// build makes the rows out of pairs, leaving out members that are not good enough to support. Pairs ascend by low, then
// high; a row gets its lower neighbours while those are low, then its higher ones, so it ascends too.
func (n *neighbourRows) build(members []member, pairs []pair) {
	n.start = grown(n.start, len(members)+1)
	clear(n.start)
	for i := range pairs {
		p := &pairs[i]
		if members[p.high].sender && p.toLow > 0 {
			n.start[p.low+1]++
		}
		if members[p.low].sender && p.toHigh > 0 {
			n.start[p.high+1]++
		}
	}
	for v := range members {
		n.start[v+1] += n.start[v]
	}
	total := int(n.start[len(members)])
	n.from, n.weight, n.pair = grown(n.from, total), grown(n.weight, total), grown(n.pair, total)
	n.fill = append(n.fill[:0], n.start[:len(members)]...)
	for i := range pairs {
		p := &pairs[i]
		if members[p.high].sender && p.toLow > 0 {
			n.put(p.low, p.high, p.toLow, int32(i))
		}
		if members[p.low].sender && p.toHigh > 0 {
			n.put(p.high, p.low, p.toHigh, int32(i))
		}
	}
}

func (n *neighbourRows) put(v, u int32, weight float64, pair int32) {
	at := n.fill[v]
	n.from[at], n.weight[at], n.pair[at] = u, weight, pair
	n.fill[v]++
}

// degree returns how many support v.
func (n *neighbourRows) degree(v int32) int { return int(n.start[v+1] - n.start[v]) }

// propagate sets graph scores and raw supports. All of one step reads the step before; receivers restart from their
// base score, which prevents that scores of a cluster melt into one.
func (s *scratch) propagate(r *Ranker) {
	rows := &s.neighbours
	rows.build(s.members, s.pairs)
	if len(rows.from) == 0 {
		return
	}
	s.step = grown(s.step, len(s.members))
	for range r.settings.Iterations {
		for v := range s.members {
			s.step[v] = min(s.members[v].score, 1)
		}
		for v := range s.members {
			m := &s.members[v]
			sum := 0.0
			for at := rows.start[v]; at < rows.start[v+1]; at++ {
				sum += rows.weight[at] * s.step[rows.from[at]]
			}
			m.raw = sum / math.Sqrt(float64(max(1, rows.degree(int32(v)))))
			m.capped = m.raw > r.settings.SupportCap
			m.score = m.base + r.settings.Beta*min(m.raw, r.settings.SupportCap)
		}
	}
}
