package rerank

import "github.com/kithgraph/kith/graphstore"

// The reasons a nominee is refused, besides those for pool members.
const (
	ReasonBeyond      Reason = "prefilter"        // too weak a tie to ask the vector store
	ReasonNotReturned Reason = "not_returned"     // the vector store did not return it: filtered out, or gone
	ReasonUnreached   Reason = "path_ineligible"  // every path to it led over a fact that may not appear
	ReasonGate        Reason = "gate"             // its base score is too far below its seed's
	ReasonFloor       Reason = "admit_floor"      // its base score is too low
	ReasonMaxExpand   Reason = "max_expand"       // enough were admitted
	ReasonQuota       Reason = "quota"            // enough were admitted over this type
	ReasonPerSeed     Reason = "max_per_seed"     // enough were admitted for this seed
	ReasonShare       Reason = "extra_share"      // enough were placed among the first k, and nothing follows
	ReasonSeedOutside Reason = "seed_outside_top" // its seed is not among the first k
)

// Expansion is a ranked pool with the facts that the graph added.
type Expansion struct {
	// Places is the whole new order, best first.
	Places []Placed
	// Refused are the nominees that were not added, in the order of the nominations; those too weak to be asked about are
	// among them if the request asks for explanations.
	Refused     []Refusal
	Diagnostics ExpandDiagnostics
}

// Placed is one place of the order: either a pool member or an added fact.
type Placed struct {
	Item  *Ranked   // the pool member; its RankAfter is the rank without expansion
	Added *Admitted // or the added fact, when such compete for places
	// Attached are the facts added to a pool member, best first. They take no place.
	Attached []Admitted
}

// ID returns the fact id of the place.
func (p *Placed) ID() string {
	if p.Item != nil {
		return p.Item.ID
	}
	return p.Added.ID
}

// Admitted is a fact outside the pool that the graph added.
type Admitted struct {
	Nominee
	Index      int     // in the vector store's answer
	Score      float64 // its cosine, untouched
	Base       float64 // its base score, in [0, 1]
	GraphScore float64 // the sum of Parts, always below its seed's
	Parts      Parts
	Margin     float64 // by how much it passed the gate, >= 0 within [Epsilon]
	// Quota is how many may be admitted over its Via, 0 where the type has no quota of its own; QuotaPlace is its place
	// among those that were, from 1.
	Quota, QuotaPlace int
}

// Parts is where the graph score of an added fact comes from. They sum to it within 1e-9.
type Parts struct {
	Base    float64 // its own base score
	Tie     float64 // Gamma*Relaxed: the path from its seed
	Keyword float64 // KeywordBonus*Keyword
	Episode float64 // EpisodeBonus, if it is of its seed's episode
	Held    float64 // <= 0: what was taken to keep it below its seed
}

// Sum returns the sum of the parts.
func (p Parts) Sum() float64 { return p.Base + p.Tie + p.Keyword + p.Episode + p.Held }

// Refusal is a nominee that was not added.
type Refusal struct {
	ID      string
	Seed    string
	Via     graphstore.RelationType
	Hops    int
	Relaxed float64
	Reason  Reason
	Base    float64 // 0 if the vector store did not return it
	Margin  float64 // base score minus what the gate asked for; 0 if the gate did not see it
}

// ExpandDiagnostics is the account of one expansion. Nominated is the sum of Beyond, Unfit, GatedOut, QuotaDropped,
// Discarded and Admitted.
type ExpandDiagnostics struct {
	Seeds        int
	Nominated    int  // facts outside the pool that a walk reached: [Nominations.Reached]
	Beyond       int  // of them too weak to ask about
	Asked        int  // of them asked about
	Fetched      int  // of them returned
	Unfit        int  // of them not returned, not eligible, or reached only over facts that are not
	GatedOut     int  // of them too far below their seed, or below the floor
	QuotaDropped int  // of them beyond a quota, MaxPerSeed or MaxExpand
	Discarded    int  // chosen, but their seed is outside the first k, or no place was left
	Admitted     int  // of them added
	Truncated    bool // the walk stopped at its bound of work
}
