package rerank

import "github.com/kithgraph/kith/graphstore"

// Result is the pool in its new order with an account of what happened.
type Result struct {
	// Items are the eligible pool members, best first.
	Items []Ranked
	// Removed are the other pool members, in pool order.
	Removed     []Removed
	Diagnostics Diagnostics
}

// Ranked is one pool member in its new place.
type Ranked struct {
	ID    string
	Index int // of the candidate in the request's pool

	Score      float64 // the candidate's cosine, untouched
	Base       float64 // the base score s, in [0, 1]
	GraphScore float64 // in [Base, Base + Beta*SupportCap]; orders the items
	Support    float64 // before the cap, >= 0
	Capped     bool    // the cap bound

	RankBefore int // from 1: place among the eligible members in the incoming order
	RankAfter  int // from 1

	// Explanation is set when the request asked for it.
	Explanation *Explanation
}

// Boost returns what the graph added to the base score.
func (r *Ranked) Boost() float64 { return r.GraphScore - r.Base }

// Removed is a pool member that takes no part.
type Removed struct {
	ID     string
	Index  int // in the request's pool
	Reason Reason
}

// Explanation says where an item's boost comes from.
type Explanation struct {
	// Supporters are ordered by share, largest first, then by id. Their shares sum to GraphScore - Base within 1e-9.
	Supporters []Supporter
	// CapBound says that the cap cut the support; the shares are cut in proportion.
	CapBound bool
}

// Supporter is one pool member that supports an item.
type Supporter struct {
	ID string
	// Relations are the edge types between the two that carry support, in tie-break order, parallel edges folded.
	Relations []Relation
	Top       graphstore.RelationType // the strongest of them
	Weight    float64                 // W: all relations folded, in (0, WeightMax]
	Sent      float64                 // the supporter's own score that W was applied to, in [0, 1]
	Share     float64                 // what it added to the graph score
}

// Relation is all edges of one type between two facts.
type Relation struct {
	Type     graphstore.RelationType
	Weight   float64  // the best of them; of bridges, all shared ones folded
	Strength float64  // prior times weight
	Over     []string // of bridges, the ids of the shared entities or topics, sorted
}

// Diagnostics is the account of one ranking.
type Diagnostics struct {
	Pool      int         // candidates that came in
	Eligible  int         // of them ranked
	InGraph   int         // of them known to the graph
	Senders   int         // of them good enough to support others
	Supported int         // items with support
	Pairs     int         // pairs of members with an edge that may carry support
	Edges     []TypeCount // pairs by type, in tie-break order, types that occur only
	// EdgesTruncated is how many edges beyond [MaxPoolEdges] were left out, the weakest. Pairs and Edges count the rest.
	EdgesTruncated int
	Boosted        int     // items with a boost
	Capped         int     // items whose support the cap cut
	MaxBoost       float64 // in [0, Beta*SupportCap]
	Changed        int     // items whose rank changed
	Calibrated     bool    // false: cosines count as they are
	// UnreadHubs is 0 or the number of members (two or more) with so many links that edges among those members were not
	// read; their edges with all others were.
	UnreadHubs int
}

// TypeCount is a number of edges of one type.
type TypeCount struct {
	Type graphstore.RelationType
	N    int
}
