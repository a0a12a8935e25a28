package rerank

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// Defaults of [Settings].
const (
	DefaultCalLo         = 0.0
	DefaultCalHi         = 1.0
	DefaultBeta          = 0.15
	DefaultIterations    = 1
	DefaultSupportCap    = 1.0
	DefaultSenderFloor   = 0.30
	DefaultWeightMax     = 0.95
	DefaultHubCap        = 50
	DefaultEpisodeWeight = 0.7
)

// MinCalibration is the narrowest calibration that is used: below it scores are cosines clipped at 0, because a narrower
// one would blow noise up into the whole range.
const MinCalibration = 0.05

// Profile is a named set of defaults.
type Profile string

// The profiles.
const (
	ProfileDefault   Profile = "default"
	ProfileReference Profile = "reference" // the published design: no sender floor, no excluded types
)

// Settings of a [Ranker]. There is no meaning in a zero Settings, since zero is a good value of most fields: start from
// [DefaultSettings] or [ProfileSettings] and change what you mean. The words in capitals are the names under which an
// operator sets a field; violations are reported under them.
type Settings struct {
	// CalLo and CalHi turn a cosine into a base score: (cosine - CalLo) / (CalHi - CalLo), clamped to [0, 1]. They belong
	// to an embedding model and collection, never to a query: a query without a good hit must keep low scores.
	// Recommended: the mean cosine of 1,000 random (query, fact) pairs, and the 90th percentile of the best cosine of 100
	// queries. Less than [MinCalibration] apart, they are ignored (Diagnostics.Calibrated is false) and the cosine
	// counts as it is, clipped. MEMORY_GRAPH_CAL_LO, MEMORY_GRAPH_CAL_HI; each in [-1, 1]. Default to [DefaultCalLo] and
	// [DefaultCalHi].
	CalLo, CalHi float64

	// Beta is the weight of support, in [0, 1]; 0 keeps the incoming order. MEMORY_GRAPH_PROPAGATE_BETA.
	// Defaults to [DefaultBeta].
	Beta float64
	// Iterations is how often support is passed on, 1 to 5. Senders use the score of the step before, receivers restart
	// from their base score, so that the bound of the boost holds for any number. MEMORY_GRAPH_PROPAGATE_ITERS.
	// Defaults to [DefaultIterations].
	Iterations int
	// SupportCap bounds support, in support units, > 0: no boost exceeds Beta*SupportCap. MEMORY_GRAPH_SUPPORT_CAP.
	// Defaults to [DefaultSupportCap].
	SupportCap float64
	// SenderFloor is the base score from which a pool member supports others, in [0, 1]. A neighbour below it changes
	// nothing, not even the degree, so that junk cannot dilute good support. MEMORY_GRAPH_SENDER_FLOOR.
	// Defaults to [DefaultSenderFloor].
	SenderFloor float64
	// SupportExclude are edge types that never carry support. By default semantic_neighbor: it repeats what the cosine
	// said. MEMORY_GRAPH_SUPPORT_EXCLUDE; none in [ProfileReference].
	SupportExclude []graphstore.RelationType
	// WeightMax is the ceiling of a folded weight, in [0, 1]. MEMORY_GRAPH_WMAX. Defaults to [DefaultWeightMax].
	WeightMax float64
	// Priors is how much an edge of a type says, each in [0, 1]; 0 switches the type off, a type that is not listed has
	// the prior of related. MEMORY_GRAPH_PRIORS. Defaults to [DefaultPriors].
	Priors map[graphstore.RelationType]float64

	// Owners are the normalised names of entities that are the owner of the memory; they are never bridged over, since
	// they tie everything to everything. MEMORY_GRAPH_OWNERS. Defaults to [DefaultOwners].
	Owners []string
	// HubCap is the largest number of facts on an entity or topic that still ties them, 0 to [MaxHubCap]; 0 switches
	// bridges off. MEMORY_GRAPH_HUB_CAP. Defaults to [DefaultHubCap].
	HubCap int

	// EpisodeRecall lets the two best other pool members of a candidate's episode support it; works without a graph.
	// MEMORY_EPISODE_RECALL_ENABLED. Defaults to false.
	EpisodeRecall bool
	// EpisodeWeight is the weight of such a tie, in [0, 1]. MEMORY_EPISODE_RECALL_WEIGHT.
	// Defaults to [DefaultEpisodeWeight].
	EpisodeWeight float64

	// Expand bounds the facts that the graph adds to the pool.
	Expand ExpandSettings
	// Paths bound the relation paths shown between results.
	Paths PathSettings
}

// DefaultOwners returns the names a memory's owner goes by.
func DefaultOwners() []string { return []string{"user", "me", "self", "i"} }

// DefaultSettings returns the settings of [ProfileDefault].
func DefaultSettings() Settings {
	return Settings{
		CalLo: DefaultCalLo, CalHi: DefaultCalHi,
		Beta: DefaultBeta, Iterations: DefaultIterations, SupportCap: DefaultSupportCap,
		SenderFloor:    DefaultSenderFloor,
		SupportExclude: []graphstore.RelationType{graphstore.SemanticNeighbor},
		WeightMax:      DefaultWeightMax,
		Priors:         DefaultPriors(),
		Owners:         DefaultOwners(),
		HubCap:         DefaultHubCap,
		EpisodeWeight:  DefaultEpisodeWeight,
		Expand:         DefaultExpandSettings(),
		Paths:          DefaultPathSettings(),
	}
}

// ProfileSettings returns the defaults of a profile; an empty name is [ProfileDefault].
func ProfileSettings(p Profile) (Settings, error) {
	s := DefaultSettings()
	switch p {
	case "", ProfileDefault:
	case ProfileReference:
		s.Beta, s.SenderFloor, s.SupportExclude = DefaultBeta, 0, nil
	default:
		return Settings{}, fmt.Errorf("MEMORY_GRAPH_PROFILE %s: want %s or %s",
			graphstore.Shorten(string(p)), ProfileDefault, ProfileReference)
	}
	return s, nil
}
