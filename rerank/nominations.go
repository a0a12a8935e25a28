package rerank

import "github.com/kithgraph/kith/graphstore"

// Nominations are facts outside the pool that the graph puts forward. Ask the vector store for the cosines of
// [Nominations.IDs], with the caller's filter, and pass its answer to [Ranker.Admit].
type Nominations struct {
	// Nominees are ordered by Relaxed, largest first, then by id; at most [ExpandSettings.PrefilterTopN].
	Nominees []Nominee
	// Reached is how many facts outside the pool the walk came to: the Nominees and weaker ones. Only a request that asks
	// for explanations has them counted to the last; else the walk leaves out what cannot be among the strongest.
	Reached int
	// Beyond are the weaker ones, that the vector store is not asked about, in the same order, if the request asks for
	// explanations. Their Path is not set.
	Beyond []Nominee
	Seeds  int // pool members that walks started from
	// Truncated says that the walk stopped at its bound of work; what it had found by then is here.
	Truncated bool
}

// Nominee is one fact put forward.
type Nominee struct {
	ID   string
	Seed string // the pool member that gives it the largest Relaxed
	// Relaxed is the seed's base score times the strength of the path, in [0, 1].
	Relaxed float64
	Via     graphstore.RelationType // the strongest type of the path's first hop
	Hops    int
	Path    []string // fact ids from the seed to the nominee, both included
}

// IDs returns the ids to ask the vector store about.
func (n *Nominations) IDs() []string {
	ids := make([]string, len(n.Nominees))
	for i := range n.Nominees {
		ids[i] = n.Nominees[i].ID
	}
	return ids
}
