package kuzu

import (
	"fmt"
	"math"

	"github.com/kithgraph/kith/graphstore"
)

// memoryTable keeps facts. Layer, state by name and version are there for people who query the file; the version is
// derived from the registers. Times are [graphstore.Instant] codes: 0 absent, negative as microseconds since 1970, else
// those plus one.
var memoryTable = withFacts(newNodeTable("Memory", graphstore.KindFact,
	column{"layer", text}, column{"state", text}, column{"version", integer}, column{"registers", text},
	column{"agent_id", text}, column{"source_id", text}, column{"episode_id", text}, column{"batch_id", text},
	column{"batch_seq", integer}, column{"memory_at", integer}, column{"valid_from", integer}, column{"valid_to", integer},
	column{"recorded_at", integer}, column{"superseded_by", text}, column{"superseded_at", integer}))

func withFacts(t nodeTable) *nodeTable {
	t.encode = func(c graphstore.Change) []any { return encodeFact(*c.Fact) }
	t.decode = func(key string, v []any) (graphstore.Change, error) {
		f, err := decodeFact(key, v)
		return graphstore.Change{Fact: &f}, err
	}
	return &t
}

func encodeFact(f graphstore.Fact) []any {
	registers, err := f.Registers.MarshalText()
	if err != nil {
		// Numbers and text that was checked: there is nothing in registers that JSON cannot hold.
		panic(fmt.Sprintf("registers of fact %s: %v", graphstore.Shorten(f.ID), err))
	}
	return []any{
		graphstore.LayerFact, f.State.String(), f.Version(), string(registers),
		f.AgentID, f.SourceID, f.EpisodeID, f.BatchID,
		int64(f.BatchSeq), int64(f.MemoryAt), int64(f.ValidFrom), int64(f.ValidTo),
		int64(f.RecordedAt), f.SupersededBy, int64(f.SupersededAt),
	}
}

func decodeFact(key string, v []any) (graphstore.Fact, error) {
	r := &rowReader{row: v}
	layer, state := next[string](r), next[string](r)
	_ = next[int64](r) // the version is in the registers
	registers := next[string](r)
	f := graphstore.Fact{ID: key, AgentID: next[string](r), SourceID: next[string](r), EpisodeID: next[string](r),
		BatchID: next[string](r)}
	seq := next[int64](r)
	f.MemoryAt, f.ValidFrom = graphstore.Instant(next[int64](r)), graphstore.Instant(next[int64](r))
	f.ValidTo, f.RecordedAt = graphstore.Instant(next[int64](r)), graphstore.Instant(next[int64](r))
	f.SupersededBy, f.SupersededAt = next[string](r), graphstore.Instant(next[int64](r))
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
	if err := f.State.UnmarshalText([]byte(state)); err != nil {
		return f, err
	}
	return f, f.Registers.UnmarshalText([]byte(registers))
}
