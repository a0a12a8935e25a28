package projector

import (
	"strings"
	"unicode/utf8"

	"github.com/kithgraph/kith/graphstore"
)

// Op is what a write does to a fact.
type Op string

// The operations.
const (
	OpAdd    Op = "add"    // states every part: what it leaves out is cleared; revives a retired or deleted fact
	OpUpdate Op = "update" // states some parts: what it leaves out stays
)

// FactWrite is one fact of a write batch.
type FactWrite struct {
	ID string `json:"id"` // point id in the vector store
	Op Op     `json:"op"`
	// Version grows with each write of the fact. Left out, it is the event's time in microseconds; a producer that
	// states it for some events of a fact must state it for all, or the two scales mix.
	Version Optional[int64] `json:"version,omitzero"`

	AgentID   Optional[string] `json:"agent_id,omitzero"`
	SourceID  Optional[string] `json:"source_id,omitzero"`
	EpisodeID Optional[string] `json:"episode_id,omitzero"`
	Content   Optional[string] `json:"content,omitzero"` // not projected: the vector store is the truth for it

	MemoryAt   Optional[graphstore.Instant] `json:"memory_at,omitzero"`
	ValidFrom  Optional[graphstore.Instant] `json:"valid_from,omitzero"`
	ValidTo    Optional[graphstore.Instant] `json:"valid_to,omitzero"`
	RecordedAt Optional[graphstore.Instant] `json:"recorded_at,omitzero"`

	Tags      Optional[[]string]      `json:"tags,omitzero"`
	Entities  Optional[[]EntityRef]   `json:"entities,omitzero"`
	Relations Optional[[]RelationRef] `json:"relations,omitzero"`
	Neighbors Optional[[]NeighborRef] `json:"neighbors,omitzero"`
	Triples   Optional[[]TripleClaim] `json:"triples,omitzero"`
}

// emptied returns the write with the same fields stated, all as empty.
func (w *FactWrite) emptied() *FactWrite {
	return &FactWrite{ID: w.ID, Op: w.Op, Version: w.Version,
		AgentID: none(w.AgentID), SourceID: none(w.SourceID), EpisodeID: none(w.EpisodeID), Content: none(w.Content),
		MemoryAt: none(w.MemoryAt), ValidFrom: none(w.ValidFrom), ValidTo: none(w.ValidTo), RecordedAt: none(w.RecordedAt),
		Tags: none(w.Tags), Entities: none(w.Entities), Relations: none(w.Relations), Neighbors: none(w.Neighbors),
		Triples: none(w.Triples)}
}

// RelationRef ties the fact to another one.
type RelationRef struct {
	To string `json:"to"`
	// Type is causes, elaborates, contrasts, same_series or related. Anything else, also nothing, is kept as related
	// with the name beside it.
	Type string `json:"type,omitempty"`
	// Weight is clamped into (0, 1]; NaN, zero and less drop the relation. Left out, it is 1.
	Weight Optional[float64] `json:"weight,omitzero"`
}

// NeighborRef is a fact that was near this one when it was written.
type NeighborRef struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"` // cosine; clamped into (0, 1], NaN, zero and less drop the neighbour
}

func readFactWrite(n *node) (FactWrite, error) {
	f, err := objectFields(n)
	if err != nil {
		return FactWrite{}, err
	}
	w := FactWrite{
		ID: f.id("id"), Op: Op(f.text("op")), Version: f.optionalInt("version"),
		AgentID: f.optionalID("agent_id"), SourceID: f.optionalID("source_id"), EpisodeID: f.optionalID("episode_id"),
		Content:  f.optionalText("content"),
		MemoryAt: f.optionalTime("memory_at"), ValidFrom: f.optionalTime("valid_from"),
		ValidTo: f.optionalTime("valid_to"), RecordedAt: f.optionalTime("recorded_at"),
		Tags:      optionalList(f, "tags", readText),
		Entities:  optionalList(f, "entities", readEntityRef),
		Relations: optionalList(f, "relations", readRelationRef),
		Neighbors: optionalList(f, "neighbors", readNeighborRef),
		Triples:   optionalList(f, "triples", readTripleClaim),
	}
	return w, f.err
}

func readRelationRef(n *node) (RelationRef, error) {
	f, err := objectFields(n)
	if err != nil {
		return RelationRef{}, err
	}
	r := RelationRef{To: f.id("to"), Type: f.optionalText("type").Value, Weight: f.optionalNumber("weight")}
	return r, f.err
}

func readNeighborRef(n *node) (NeighborRef, error) {
	f, err := objectFields(n)
	if err != nil {
		return NeighborRef{}, err
	}
	ref := NeighborRef{ID: f.id("id"), Score: f.number("score")}
	return ref, f.err
}

// validate returns the first rule the fact breaks, with a path relative to it.
func (w *FactWrite) validate(ev Event) error {
	if err := graphstore.CheckID(w.ID); err != nil {
		return badField("id", "%s", err)
	}
	if w.Op != OpAdd && w.Op != OpUpdate {
		return badField("op", "%s: want %q or %q", graphstore.Shorten(string(w.Op)), OpAdd, OpUpdate)
	}
	if err := ev.checkVersion(w.Version); err != nil {
		return err
	}
	if err := w.validateScalars(); err != nil {
		return err
	}
	return w.validateLists()
}

func (w *FactWrite) validateScalars() error {
	for _, id := range []struct {
		name string
		id   Optional[string]
	}{{"agent_id", w.AgentID}, {"source_id", w.SourceID}, {"episode_id", w.EpisodeID}} {
		if err := checkOptionalID(id.name, id.id.Value); err != nil {
			return err
		}
	}
	for _, at := range []struct {
		name string
		at   Optional[graphstore.Instant]
	}{{"memory_at", w.MemoryAt}, {"valid_from", w.ValidFrom}, {"valid_to", w.ValidTo}, {"recorded_at", w.RecordedAt}} {
		if err := checkInstant(at.at.Value); err != nil {
			return under(at.name, err)
		}
	}
	return checkText("content", w.Content.Value)
}

func (w *FactWrite) validateLists() error {
	for i, tag := range w.Tags.Value {
		if err := checkText("", tag); err != nil {
			return underItem("tags", i, err)
		}
	}
	for i := range w.Entities.Value {
		if err := w.Entities.Value[i].validate(); err != nil {
			return underItem("entities", i, err)
		}
	}
	for i, r := range w.Relations.Value {
		if err := r.validate(); err != nil {
			return underItem("relations", i, err)
		}
	}
	for i, n := range w.Neighbors.Value {
		if err := graphstore.CheckID(n.ID); err != nil {
			return underItem("neighbors", i, badField("id", "%s", err))
		}
	}
	for i := range w.Triples.Value {
		if err := w.Triples.Value[i].validate(); err != nil {
			return underItem("triples", i, err)
		}
	}
	return nil
}

func (r RelationRef) validate() error {
	if err := graphstore.CheckID(r.To); err != nil {
		return badField("to", "%s", err)
	}
	if r.Type == "" {
		return nil
	}
	if err := graphstore.CheckID(r.Type); err != nil { // stored, so bounded like an id
		return badField("type", "%s", err)
	}
	return nil
}

// checkOptionalID checks an id that may be left out or stated to be none.
func checkOptionalID(name, id string) error {
	if id == "" {
		return nil
	}
	if err := graphstore.CheckID(id); err != nil {
		return badField(name, "%s", err)
	}
	return nil
}

// checkText checks free text: valid UTF-8 without NUL.
func checkText(name, text string) error {
	if !utf8.ValidString(text) {
		return badField(name, "%s is not valid UTF-8", graphstore.Shorten(text))
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return badField(name, "%s has a NUL at byte %d", graphstore.Shorten(text), at)
	}
	return nil
}
