package rerank

import "github.com/kithgraph/kith/graphstore"

// learn notes what the vector store has said, by node: of the pool, of the nominees and of what else it was asked about.
// Of two statements about a fact one that lets it appear counts, else the later.
func (f *pathFinder) learn(pq *PathQuery) {
	w := f.w
	w.said = w.said[:0]
	w.spoken.reset(len(pq.Request.Pool) + len(pq.Scored) + len(pq.Known))
	for i := range w.scratch.members {
		if m := &w.scratch.members[i]; m.known {
			w.said = append(w.said, &pq.Request.Pool[m.index])
			w.spoken.put(m.node, int32(len(w.said)-1))
		}
	}
	for _, i := range w.removed {
		f.hear(&pq.Request.Pool[i])
	}
	for _, list := range [2][]Candidate{pq.Scored, pq.Known} {
		for i := range list {
			f.hear(&list[i])
		}
	}
	w.hidden.reset(len(pq.Nominated.Nominees))
	for i := range pq.Nominated.Nominees { // asked about and not returned
		if n, known := f.q.Graph.Node(pq.Nominated.Nominees[i].ID); known && w.spoken.find(n) < 0 && w.hidden.find(n) < 0 {
			w.hidden.put(n, 0)
		}
	}
}

func (f *pathFinder) hear(c *Candidate) {
	n, known := f.q.Graph.Node(c.ID)
	if !known {
		return
	}
	at := f.w.spoken.find(n)
	switch {
	case at < 0:
		f.w.said = append(f.w.said, c)
		f.w.spoken.put(n, int32(len(f.w.said)-1))
	case f.w.test.refuses(f.w.said[at]) != "":
		f.w.said[at] = c
	}
}

// candidate returns what the vector store said of a fact, or nil.
func (f *pathFinder) candidate(n graphstore.Node) *Candidate {
	if at := f.w.spoken.find(n); at >= 0 {
		return f.w.said[at]
	}
	return nil
}

// memoryAt returns when a fact happened: as the vector store says, else as the graph does.
func (f *pathFinder) memoryAt(n graphstore.Node) graphstore.Instant {
	if c := f.candidate(n); c != nil {
		return c.MemoryAt
	}
	return f.q.Graph.MemoryAt(n)
}

// stale reports whether a temporal_next edge contradicts the times of its facts.
func (f *pathFinder) stale(n graphstore.Node, l graphstore.Link) bool {
	if l.Type != graphstore.TemporalNext {
		return false
	}
	earlier, later := f.memoryAt(n), f.memoryAt(l.To)
	if !l.Out() {
		earlier, later = later, earlier
	}
	return earlier.Present() && later.Present() && earlier > later
}

// passable reports whether a path may lead over a fact.
func (f *pathFinder) passable(n graphstore.Node) bool {
	if c := f.candidate(n); c != nil {
		return f.w.test.refuses(c) == ""
	}
	if f.only || f.w.hidden.find(n) >= 0 {
		return false
	}
	return f.w.test.mayPass(f.q.Graph, n)
}
