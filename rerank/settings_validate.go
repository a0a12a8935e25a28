package rerank

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// MaxHubCap bounds [Settings.HubCap], and with it the facts read per bridge.
const MaxHubCap = 10_000

// Validate reports every setting out of its range, each by the name an operator knows, its value and the range.
func (s Settings) Validate() error {
	return errors.Join(
		inRange("MEMORY_GRAPH_CAL_LO", s.CalLo, -1, 1),
		inRange("MEMORY_GRAPH_CAL_HI", s.CalHi, -1, 1),
		inRange("MEMORY_GRAPH_PROPAGATE_BETA", s.Beta, 0, 1),
		inRange("MEMORY_GRAPH_PROPAGATE_ITERS", s.Iterations, 1, 5),
		aboveZero("MEMORY_GRAPH_SUPPORT_CAP", s.SupportCap),
		inRange("MEMORY_GRAPH_SENDER_FLOOR", s.SenderFloor, 0, 1),
		knownTypes("MEMORY_GRAPH_SUPPORT_EXCLUDE", slices.Values(s.SupportExclude)),
		inRange("MEMORY_GRAPH_WMAX", s.WeightMax, 0, 1),
		perType("MEMORY_GRAPH_PRIORS", s.Priors, 0, 1),
		normalisedNames("MEMORY_GRAPH_OWNERS", s.Owners),
		inRange("MEMORY_GRAPH_HUB_CAP", s.HubCap, 0, MaxHubCap),
		inRange("MEMORY_EPISODE_RECALL_WEIGHT", s.EpisodeWeight, 0, 1),
		s.Expand.validate(),
		s.Paths.validate(),
	)
}

// inRange also refuses NaN, which no comparison holds for.
func inRange[N int | float64](key string, v, lo, hi N) error {
	if v >= lo && v <= hi {
		return nil
	}
	return fmt.Errorf("%s %v: want %v to %v", key, v, lo, hi)
}

func aboveZero(key string, v float64) error {
	if v > 0 && !math.IsInf(v, 1) {
		return nil
	}
	return fmt.Errorf("%s %v: want a number above 0", key, v)
}

func knownTypes(key string, types func(func(graphstore.RelationType) bool)) error {
	var errs []error
	for t := range types {
		if !t.Valid() {
			errs = append(errs, fmt.Errorf("%s %s: want one of %v", key, t, graphstore.RelationTypes()))
		}
	}
	return errors.Join(errs...)
}

// perType checks a table of one number per type; its keys are reported as "<prefix> <type>".
func perType[N int | float64](prefix string, table map[graphstore.RelationType]N, lo, hi N) error {
	types := slices.Sorted(maps.Keys(table))
	errs := []error{knownTypes(prefix, slices.Values(types))}
	for _, t := range types {
		errs = append(errs, inRange(prefix+" "+t.String(), table[t], lo, hi))
	}
	return errors.Join(errs...)
}

// normalisedNames catches the spelling that could never match: names are compared with normalised ones.
func normalisedNames(key string, names []string) error {
	var errs []error
	for _, n := range names {
		if n == "" || n != strings.ToLower(n) || n != strings.TrimSpace(n) {
			errs = append(errs, fmt.Errorf("%s %s: want a normalised name: lower case, trimmed, not empty", key, graphstore.Shorten(n)))
		}
	}
	return errors.Join(errs...)
}
