package graphstore

import "fmt"

// RelationType is the type of an edge, interned to one byte.
type RelationType uint8

// The relation types in the order that breaks ties between equal strengths.
const (
	Causes RelationType = iota + 1
	Elaborates
	SameSeries
	Contrasts
	TemporalNext
	CoOccurs
	Episode // made while ranking, from the episode ids of candidates; never stored
	Related
	Mentions
	TaggedWith
	SemanticNeighbor
	DerivedFrom
	Triple
	DerivedFromRef // derived_from whose evidence is no fact that is present in the graph

	maxRelationType = DerivedFromRef
)

var relationNames = [maxRelationType + 1]string{
	Causes: "causes", Elaborates: "elaborates", SameSeries: "same_series", Contrasts: "contrasts",
	TemporalNext: "temporal_next", CoOccurs: "co_occurs", Episode: "episode", Related: "related",
	Mentions: "mentions", TaggedWith: "tagged_with", SemanticNeighbor: "semantic_neighbor",
	DerivedFrom: "derived_from", Triple: "triple", DerivedFromRef: "derived_from_ref",
}

// RelationTypes returns all types in tie-break order.
func RelationTypes() []RelationType {
	all := make([]RelationType, 0, maxRelationType)
	for t := RelationType(1); t <= maxRelationType; t++ {
		all = append(all, t)
	}
	return all
}

// ParseRelationType returns the type with this name. An unknown name is an error; callers that must keep it store
// [Related] with the name in [Edge.Detail].
func ParseRelationType(name string) (RelationType, error) {
	for t := RelationType(1); t <= maxRelationType; t++ {
		if relationNames[t] == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("relation type %s: unknown name", Shorten(name))
}

// Valid reports whether t is one of the named types.
func (t RelationType) Valid() bool { return t >= 1 && t <= maxRelationType }

// String returns the type's name, as in events and stores.
func (t RelationType) String() string {
	if !t.Valid() {
		return fmt.Sprintf("relation(%d)", uint8(t))
	}
	return relationNames[t]
}

// Directed reports whether source and target of the type mean different things. Edges of undirected types are stored
// with the smaller node first ([Edge.Normalized]).
func (t RelationType) Directed() bool {
	switch t {
	case Causes, Elaborates, TemporalNext, Mentions, TaggedWith, DerivedFrom, DerivedFromRef, Triple:
		return true
	default:
		return false
	}
}

// Ends returns the kinds of node the type connects, or zero kinds for a type this version cannot store (episode is
// never stored; triple is reserved).
func (t RelationType) Ends() (source, target NodeKind) {
	switch t {
	case Causes, Elaborates, SameSeries, Contrasts, TemporalNext, CoOccurs, Related, SemanticNeighbor:
		return KindFact, KindFact
	case Mentions:
		return KindFact, KindEntity
	case TaggedWith:
		return KindFact, KindTopic
	case DerivedFrom:
		return KindSchema, KindFact
	case DerivedFromRef:
		return KindSchema, KindRef
	default:
		return 0, 0
	}
}

// Field returns the field of a fact by which it asserts edges of the type; of types that no fact asserts it says nothing.
func (t RelationType) Field() Field {
	switch t {
	case Mentions:
		return FieldEntities
	case TaggedWith:
		return FieldTags
	case SemanticNeighbor:
		return FieldNeighbors
	default:
		return FieldRelations
	}
}

// MarshalText returns the name.
func (t RelationType) MarshalText() ([]byte, error) {
	if !t.Valid() {
		return nil, fmt.Errorf("relation type %d: unknown", uint8(t))
	}
	return []byte(relationNames[t]), nil
}

// UnmarshalText is the inverse of [RelationType.MarshalText].
func (t *RelationType) UnmarshalText(text []byte) error {
	parsed, err := ParseRelationType(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}
