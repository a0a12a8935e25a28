package rerank

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kithgraph/kith/graphstore"
)

// Epsilon is added on the permissive side of every comparison with a threshold, because 0.80 - 0.20 is a hair above
// 0.60 in binary and an item at exactly 0.60 must pass.
const Epsilon = 1e-9

// atLeast is x >= threshold with [Epsilon].
func atLeast(x, threshold float64) bool { return x+Epsilon >= threshold }

// Ranker ranks pools under fixed settings. It is immutable and safe for concurrent use.
type Ranker struct {
	settings    Settings
	calibration calibration
	priors      priorTable // of all types
	support     priorTable // of types that carry support
	paths       priorTable // of types that may be a hop of a relation path
	damping     []float64  // by number of facts on a bridge, up to HubCap
	owners      []string
	linkReads   int
	poolEdges   int
	walkReads   int
	scratch     *sync.Pool // of *scratch
	walkers     *sync.Pool // of *walker
}

// New returns a ranker, or an error that lists every setting out of range. The settings are copied.
func New(s Settings) (*Ranker, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("rerank settings: %w", err)
	}
	s.Expand.DeltaByType, s.Expand.Quotas = maps.Clone(s.Expand.DeltaByType), maps.Clone(s.Expand.Quotas)
	return &Ranker{
		settings:    s,
		calibration: calibrationOf(s.CalLo, s.CalHi),
		priors:      priorTableOf(s.Priors, nil),
		support:     priorTableOf(s.Priors, s.SupportExclude),
		paths:       priorTableOf(s.Priors, []graphstore.RelationType{graphstore.SemanticNeighbor}),
		damping:     dampingTable(s.HubCap),
		owners:      slices.Clone(s.Owners),
		linkReads:   maxLinkReads,
		poolEdges:   MaxPoolEdges,
		walkReads:   maxWalkReads,
		scratch:     &sync.Pool{New: func() any { return new(scratch) }},
		walkers:     &sync.Pool{New: func() any { return new(walker) }},
	}, nil
}

// carriesEpisodes reports whether episode ties can add anything.
func (r *Ranker) carriesEpisodes() bool {
	return r.settings.EpisodeRecall && r.settings.EpisodeWeight > 0 && r.support[graphstore.Episode] > 0
}
