package rerank

import (
	"errors"

	"github.com/kithgraph/kith/graphstore"
)

// Defaults of [ExpandSettings].
const (
	DefaultGamma         = 0.3
	DefaultKeywordBonus  = 0.0
	DefaultEpisodeBonus  = 0.0
	DefaultSeedFloor     = 0.5
	DefaultMaxSeeds      = 10
	DefaultExpandHops    = 2
	DefaultHopDecay      = 0.6
	DefaultFanout        = 20
	DefaultPrefilterTopN = 50
	DefaultMaxExpand     = 20
	DefaultMaxPerSeed    = 3
	DefaultDeltaMerge    = 0.2
	DefaultDeltaSeparate = 0.4
	DefaultAdmitFloor    = 0.1
	DefaultMergeSeed     = true
	DefaultExtraShare    = 0.3
)

// ExpandSettings bound the facts that the graph adds to a pool.
type ExpandSettings struct {
	// Gamma is the weight of a nominee's tie to its seed, in [0, 1]; 0 switches expansion off. MEMORY_GRAPH_RELAX_GAMMA.
	// Defaults to [DefaultGamma].
	Gamma float64
	// KeywordBonus is the weight of a nominee's [Candidate.Keyword] in its score, in [0, 1].
	// MEMORY_GRAPH_EXPAND_KEYWORD_BONUS. Defaults to [DefaultKeywordBonus].
	KeywordBonus float64
	// EpisodeBonus is what a nominee of its seed's episode gets on top, in [0, 1]. MEMORY_GRAPH_EXPAND_EPISODE_BONUS.
	// Defaults to [DefaultEpisodeBonus].
	EpisodeBonus float64

	// SeedFloor is the base score from which an item is a seed, in [0, 1]. MEMORY_GRAPH_SEED_FLOOR.
	// Defaults to [DefaultSeedFloor].
	SeedFloor float64
	// MaxSeeds is how many items walks start from, 1 to 50. MEMORY_GRAPH_MAX_SEEDS. Defaults to [DefaultMaxSeeds].
	MaxSeeds int
	// Hops is the longest walk, 1 to 3. MEMORY_GRAPH_EXPAND_HOPS. Defaults to [DefaultExpandHops].
	Hops int
	// HopDecay weakens a path once per hop after the first, in [0, 1]. It also counts for relation paths.
	// MEMORY_GRAPH_HOP_DECAY. Defaults to [DefaultHopDecay].
	HopDecay float64
	// Fanout is how many neighbours, strongest first, a walk follows from a fact, 1 to 200. MEMORY_GRAPH_FANOUT.
	// Defaults to [DefaultFanout].
	Fanout int
	// PrefilterTopN is how many nominees the vector store is asked about, 1 to 1000.
	// MEMORY_GRAPH_EXPAND_PREFILTER_TOP_N. Defaults to [DefaultPrefilterTopN].
	PrefilterTopN int

	// DeltaMerge and DeltaSeparate are how far below its seed's base score a nominee's may be, in the two placements, each
	// in [0, 1]; 1 opens the gate. Let s_N be the worst base score of the pool: if s_N < s(seed) - delta for every seed,
	// all facts that could pass are in the pool already; with a deep pool raise delta or leave expansion off.
	// MEMORY_GRAPH_SEED_SIM_DELTA sets both. Default to [DefaultDeltaMerge] and [DefaultDeltaSeparate].
	DeltaMerge, DeltaSeparate float64
	// DeltaByType overrides both for nominees reached over a type. MEMORY_GRAPH_SEED_SIM_DELTAS. Defaults to none.
	DeltaByType map[graphstore.RelationType]float64
	// AdmitFloor is the least base score of a nominee, in [0, 1]. MEMORY_GRAPH_ADMIT_FLOOR.
	// Defaults to [DefaultAdmitFloor].
	AdmitFloor float64

	// MaxExpand is how many nominees are admitted, 0 to 200. MEMORY_GRAPH_MAX_EXPAND. Defaults to [DefaultMaxExpand].
	MaxExpand int
	// MaxPerSeed is how many of them per seed, 1 to 200. MEMORY_GRAPH_MAX_PER_SEED. Defaults to [DefaultMaxPerSeed].
	MaxPerSeed int
	// Quotas is how many of them by the type of their path's first hop, each 0 to 200; a type that is not listed has no
	// quota of its own. MEMORY_GRAPH_QUOTAS. Defaults to [DefaultQuotas].
	Quotas map[graphstore.RelationType]int

	// MergeSeed attaches admitted facts to their seeds, where they take no slot. Without it they compete for slots by
	// score. MEMORY_GRAPH_EXPAND_MERGE_SEED. Defaults to [DefaultMergeSeed].
	MergeSeed bool
	// ExtraShare bounds admitted facts among the first k when they compete: at most ceil(ExtraShare*k), in [0, 1].
	// MEMORY_GRAPH_EXTRA_SHARE. Defaults to [DefaultExtraShare].
	ExtraShare float64
}

// DefaultQuotas returns how many facts may be admitted over each type, for a MaxExpand of 20.
func DefaultQuotas() map[graphstore.RelationType]int {
	return map[graphstore.RelationType]int{
		graphstore.Causes:           6,
		graphstore.Elaborates:       6,
		graphstore.CoOccurs:         6,
		graphstore.SameSeries:       5,
		graphstore.TemporalNext:     5,
		graphstore.Contrasts:        4,
		graphstore.Episode:          4,
		graphstore.Mentions:         4,
		graphstore.Related:          4,
		graphstore.TaggedWith:       3,
		graphstore.SemanticNeighbor: 3,
	}
}

// DefaultExpandSettings returns the defaults of expansion.
func DefaultExpandSettings() ExpandSettings {
	return ExpandSettings{
		Gamma: DefaultGamma, KeywordBonus: DefaultKeywordBonus, EpisodeBonus: DefaultEpisodeBonus,
		SeedFloor: DefaultSeedFloor, MaxSeeds: DefaultMaxSeeds, Hops: DefaultExpandHops, HopDecay: DefaultHopDecay, Fanout: DefaultFanout, PrefilterTopN: DefaultPrefilterTopN,
		DeltaMerge: DefaultDeltaMerge, DeltaSeparate: DefaultDeltaSeparate, AdmitFloor: DefaultAdmitFloor,
		MaxExpand: DefaultMaxExpand, MaxPerSeed: DefaultMaxPerSeed, Quotas: DefaultQuotas(),
		MergeSeed: DefaultMergeSeed, ExtraShare: DefaultExtraShare,
	}
}

// maxAdmitted bounds what expansion may be configured to admit.
const maxAdmitted = 200

func (s *ExpandSettings) validate() error {
	return errors.Join(
		inRange("MEMORY_GRAPH_RELAX_GAMMA", s.Gamma, 0, 1),
		inRange("MEMORY_GRAPH_EXPAND_KEYWORD_BONUS", s.KeywordBonus, 0, 1),
		inRange("MEMORY_GRAPH_EXPAND_EPISODE_BONUS", s.EpisodeBonus, 0, 1),
		inRange("MEMORY_GRAPH_SEED_FLOOR", s.SeedFloor, 0, 1),
		inRange("MEMORY_GRAPH_MAX_SEEDS", s.MaxSeeds, 1, 50),
		inRange("MEMORY_GRAPH_EXPAND_HOPS", s.Hops, 1, 3),
		inRange("MEMORY_GRAPH_HOP_DECAY", s.HopDecay, 0, 1),
		inRange("MEMORY_GRAPH_FANOUT", s.Fanout, 1, 200),
		inRange("MEMORY_GRAPH_EXPAND_PREFILTER_TOP_N", s.PrefilterTopN, 1, 1000),
		inRange("MEMORY_GRAPH_SEED_SIM_DELTA", s.DeltaMerge, 0, 1),
		inRange("MEMORY_GRAPH_SEED_SIM_DELTA", s.DeltaSeparate, 0, 1),
		perType("MEMORY_GRAPH_SEED_SIM_DELTAS", s.DeltaByType, 0, 1),
		inRange("MEMORY_GRAPH_ADMIT_FLOOR", s.AdmitFloor, 0, 1),
		inRange("MEMORY_GRAPH_MAX_EXPAND", s.MaxExpand, 0, maxAdmitted),
		inRange("MEMORY_GRAPH_MAX_PER_SEED", s.MaxPerSeed, 1, maxAdmitted),
		perType("MEMORY_GRAPH_QUOTAS", s.Quotas, 0, maxAdmitted),
		inRange("MEMORY_GRAPH_EXTRA_SHARE", s.ExtraShare, 0, 1),
	)
}

// delta returns how far below its seed a nominee reached over a type may be.
func (s *ExpandSettings) delta(via graphstore.RelationType) float64 {
	if d, set := s.DeltaByType[via]; set {
		return d
	}
	if s.MergeSeed {
		return s.DeltaMerge
	}
	return s.DeltaSeparate
}
