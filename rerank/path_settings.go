package rerank

import "errors"

// Defaults of [PathSettings].
const (
	DefaultPathEnabled   = true
	DefaultPathHighFloor = 0.5
	DefaultPathMax       = 10
	DefaultPathPerNode   = 3
)

// MaxPathEnds is how many of the first results relation paths are looked for between.
const MaxPathEnds = 10

// PathSettings bound the relation paths shown between results. A hop after the first weakens a path by
// [ExpandSettings.HopDecay].
type PathSettings struct {
	// Enabled switches paths on. MEMORY_GRAPH_PATH_ENABLED. Defaults to [DefaultPathEnabled].
	Enabled bool
	// HighFloor is the base score from which a result may be the end of a path, in [0, 1]. MEMORY_GRAPH_PATH_HIGH_FLOOR.
	// Defaults to [DefaultPathHighFloor].
	HighFloor float64
	// Max is how many paths are kept, 1 to 100. MEMORY_GRAPH_PATH_MAX. Defaults to [DefaultPathMax].
	Max int
	// PerNode is how many of them may end at one fact, 1 to 100. MEMORY_GRAPH_PATH_PER_NODE. Defaults to [DefaultPathPerNode].
	PerNode int
}

// DefaultPathSettings returns the defaults of relation paths.
func DefaultPathSettings() PathSettings {
	return PathSettings{
		Enabled: DefaultPathEnabled, HighFloor: DefaultPathHighFloor, Max: DefaultPathMax, PerNode: DefaultPathPerNode,
	}
}

func (s *PathSettings) validate() error {
	return errors.Join(
		inRange("MEMORY_GRAPH_PATH_HIGH_FLOOR", s.HighFloor, 0, 1),
		inRange("MEMORY_GRAPH_PATH_MAX", s.Max, 1, 100),
		inRange("MEMORY_GRAPH_PATH_PER_NODE", s.PerNode, 1, 100),
	)
}
