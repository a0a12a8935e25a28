package kuzu

import (
	"fmt"
	"math"

	"github.com/kithgraph/kith/graphstore"
)

// memoryTable keeps facts. Layer and version are there for people who query the file. Times are [graphstore.Instant] codes:
// 0 absent, negative as microseconds since 1970, else those plus one. The stamps of single fields, which few facts have,
// are one JSON text.
var memoryTable = withFacts(newNodeTable("Memory", graphstore.KindFact,
	column{"layer", text}, column{"state", text}, column{"version", integer},
	column{"state_version", integer}, column{"state_rank", integer}, column{"state_event", ref},
	column{"base_version", integer}, column{"base_rank", integer}, column{"base_event", ref}, column{"field_stamps", ref},
	column{"agent_id", ref}, column{"source_id", ref}, column{"episode_id", ref}, column{"batch_id", ref},
	column{"batch_seq", integer}, column{"memory_at", integer}, column{"valid_from", integer}, column{"valid_to", integer},
	column{"recorded_at", integer}, column{"superseded_by", ref}, column{"superseded_at", integer},
	// Since version 3 of the schema; an older file gets them behind the others.
	column{"state_event_at", integer}, column{"state_source", ref}, column{"base_event_at", integer}, column{"base_source", ref}))

// originColumns are the columns that say where writes came from, the last ones of the table.
func originColumns() []column { return memoryTable.columns[len(memoryTable.columns)-4:] }

func withFacts(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change, number func(string) int64) []any { return encodeFact(*c.Fact, number) }
	t.decode = func(key string, r *rowReader) (graphstore.Change, error) {
		f, err := decodeFact(key, r)
		return graphstore.Change{Fact: &f}, err
	}
	return &t
}

func encodeFact(f graphstore.Fact, number func(string) int64) []any {
	state, base := f.Registers.State, f.Registers.Base
	return []any{
		graphstore.LayerFact, f.State.String(), f.Version(),
		state.Version, int64(state.Rank), number(state.EventID),
		base.Version, int64(base.Rank), number(base.EventID), number(fieldStamps(f.Registers)),
		number(f.AgentID), number(f.SourceID), number(f.EpisodeID), number(f.BatchID),
		int64(f.BatchSeq), int64(f.MemoryAt), int64(f.ValidFrom), int64(f.ValidTo),
		int64(f.RecordedAt), number(f.SupersededBy), int64(f.SupersededAt),
		int64(state.At), number(state.Source), int64(base.At), number(base.Source),
	}
}

// fieldStamps returns the registers' exceptions as text, none as the empty one.
func fieldStamps(r graphstore.Registers) string {
	if len(r.Fields) == 0 {
		return ""
	}
	text, err := graphstore.Registers{Fields: r.Fields}.MarshalText()
	if err != nil {
		// Numbers and text that was checked: there is nothing in registers that JSON cannot hold.
		panic(fmt.Sprintf("registers: %v", err))
	}
	return string(text)
}

func decodeFact(key string, r *rowReader) (graphstore.Fact, error) {
	layer, state := next[string](r), next[string](r)
	_ = next[int64](r) // the version is in the registers
	f := graphstore.Fact{ID: key}
	f.Registers.State, f.Registers.Base = r.place(), r.place()
	fields := r.text()
	f.AgentID, f.SourceID, f.EpisodeID, f.BatchID = r.text(), r.text(), r.text(), r.text()
	seq := next[int64](r)
	f.MemoryAt, f.ValidFrom, f.ValidTo, f.RecordedAt = r.instant(), r.instant(), r.instant(), r.instant()
	f.SupersededBy, f.SupersededAt = r.text(), r.instant()
	r.origin(&f.Registers.State)
	r.origin(&f.Registers.Base)
	if r.err != nil {
		return f, r.err
	}
	if layer != graphstore.LayerFact {
		return f, fmt.Errorf("layer %s: want %s", graphstore.Shorten(layer), graphstore.LayerFact)
	}
	if seq < math.MinInt32 || seq > math.MaxInt32 {
		return f, fmt.Errorf("batch_seq %d: out of range", seq)
	}
	f.BatchSeq = int32(seq)
	if fields != "" {
		var exceptions graphstore.Registers
		if err := exceptions.UnmarshalText([]byte(fields)); err != nil {
			return f, err
		}
		f.Registers.Fields = exceptions.Fields
	}
	return f, f.State.UnmarshalText([]byte(state))
}
