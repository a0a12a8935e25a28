package projector

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// The defaults of [Config].
const (
	DefaultMaxCoOccurs  = 10
	DefaultEdgeMinScore = 0.75
	DefaultMaxNeighbors = 5
)

// TypeThing is the type of an entity whose type is missing or not among the configured ones.
const TypeThing = "thing"

// typeOrganization is the one type whose names lose a legal suffix.
const typeOrganization = "organization"

// DefaultEntityTypes returns the entity types a projector knows unless configured otherwise; [TypeThing] is always one.
func DefaultEntityTypes() []string {
	return []string{"animal", "concept", "document", "event", typeOrganization, "person", "place", "product", "project", "work"}
}

const (
	maxCoOccursCeiling  = 64
	maxNeighborsCeiling = 100
)

// Config holds what the graph's shape depends on. A graph is a function of events and configuration: after a change,
// facts that are not written again keep the old shape until the graph is rebuilt.
type Config struct {
	// MaxCoOccurs is the largest number of facts of one batch that are all joined to each other by co_occurs, between 1
	// and 64. In a larger batch each fact is joined to the (MaxCoOccurs-1)/2 before and after it in batch order, so that
	// no fact has more than MaxCoOccurs-1 such edges; 1 and 2 therefore join nothing in a larger batch, and 1 switches
	// co_occurs off. Defaults to [DefaultMaxCoOccurs].
	MaxCoOccurs int
	// EdgeMinScore is the lowest score of a neighbour that becomes a semantic_neighbor edge, in (0, 1]. Defaults to
	// [DefaultEdgeMinScore].
	EdgeMinScore float64
	// MaxNeighbors is the number of best neighbours that one fact makes edges to, between 1 and 100. Defaults to
	// [DefaultMaxNeighbors].
	MaxNeighbors int
	// TemporalSpine joins the active facts that have a memory_at by temporal_next edges, each to the next in time. Defaults
	// to no.
	TemporalSpine bool
	// EntityTypes are the types that keep entities of one name apart, lower case. A type that is not here counts as
	// [TypeThing]. Defaults to [DefaultEntityTypes].
	EntityTypes []string
}

func (c Config) withDefaults() Config {
	c.MaxCoOccurs = cmp.Or(c.MaxCoOccurs, DefaultMaxCoOccurs)
	c.EdgeMinScore = cmp.Or(c.EdgeMinScore, DefaultEdgeMinScore)
	c.MaxNeighbors = cmp.Or(c.MaxNeighbors, DefaultMaxNeighbors)
	if c.EntityTypes == nil {
		c.EntityTypes = DefaultEntityTypes()
	}
	c.EntityTypes = slices.Clone(c.EntityTypes)
	return c
}

func (c Config) validate() error {
	var errs []error
	if c.MaxCoOccurs < 1 || c.MaxCoOccurs > maxCoOccursCeiling {
		errs = append(errs, fmt.Errorf("max co-occurs %d: want 1 to %d", c.MaxCoOccurs, maxCoOccursCeiling))
	}
	if !(c.EdgeMinScore > 0 && c.EdgeMinScore <= 1) { // also catches NaN
		errs = append(errs, fmt.Errorf("edge min score %v: want more than 0 and at most 1", c.EdgeMinScore))
	}
	if c.MaxNeighbors < 1 || c.MaxNeighbors > maxNeighborsCeiling {
		errs = append(errs, fmt.Errorf("max neighbors %d: want 1 to %d", c.MaxNeighbors, maxNeighborsCeiling))
	}
	for i, t := range c.EntityTypes {
		if !isTypeName(t) {
			errs = append(errs, fmt.Errorf("entity types[%d] %s: want 1 to 64 of a-z, 0-9 and _", i, graphstore.Shorten(t)))
		}
	}
	return errors.Join(errs...)
}

func isTypeName(t string) bool {
	for _, r := range t {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return t != "" && len(t) <= 64
}
