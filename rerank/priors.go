package rerank

import "github.com/kithgraph/kith/graphstore"

// DefaultRelatedPrior is the prior of related, and of any type that [Settings.Priors] does not list.
const DefaultRelatedPrior = 0.50

// DefaultPriors returns how much one edge of each type says, in [0, 1]: the strength of an edge is its type's prior
// times its weight.
func DefaultPriors() map[graphstore.RelationType]float64 {
	return map[graphstore.RelationType]float64{
		graphstore.Causes:           0.90,
		graphstore.Elaborates:       0.90,
		graphstore.SameSeries:       0.85,
		graphstore.Contrasts:        0.70,
		graphstore.TemporalNext:     0.70,
		graphstore.CoOccurs:         0.55,
		graphstore.Episode:          0.55,
		graphstore.Related:          DefaultRelatedPrior,
		graphstore.Mentions:         0.50,
		graphstore.TaggedWith:       0.35,
		graphstore.SemanticNeighbor: 0.35,
	}
}

// typeSlots is a power of two above every relation type, so that a type indexes small tables.
const typeSlots = 16

// priorTable holds one prior per type, 0 for a type that plays no part.
type priorTable [typeSlots]float64

// priorTableOf gives a type that the settings do not list the prior of related.
func priorTableOf(priors map[graphstore.RelationType]float64, without []graphstore.RelationType) priorTable {
	var table priorTable
	related, listed := priors[graphstore.Related]
	if !listed {
		related = DefaultRelatedPrior
	}
	for _, t := range graphstore.RelationTypes() {
		prior, listed := priors[t]
		if !listed {
			prior = related
		}
		table[t] = prior
	}
	for _, t := range without {
		table[t] = 0
	}
	return table
}
