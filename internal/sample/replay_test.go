package sample

import (
	"encoding/json"
	"testing"
)

// The parts of the wire contract that the invariants are about. They are written out here, not imported, so that a
// change of the contract's Go types cannot silently change what the sample is checked against.
type (
	wireEvent struct {
		SpecVersion string   `json:"specversion"`
		ID          string   `json:"id"`
		Source      string   `json:"source"`
		Type        string   `json:"type"`
		Time        string   `json:"time"`
		Data        wireData `json:"data"`
	}
	wireData struct {
		UserID  string     `json:"user_id"`
		BatchID string     `json:"batch_id"`
		Facts   []wireFact `json:"facts"`
		FactID  string     `json:"fact_id"`
		By      string     `json:"by"`
		Version int64      `json:"version"`
	}
	wireFact struct {
		ID         string   `json:"id"`
		Op         string   `json:"op"`
		Version    int64    `json:"version"`
		Content    string   `json:"content"`
		MemoryAt   string   `json:"memory_at"`
		ValidFrom  string   `json:"valid_from"`
		RecordedAt string   `json:"recorded_at"`
		Tags       []string `json:"tags"`
		Entities   []struct {
			Name string `json:"name"`
		} `json:"entities"`
		Relations []struct {
			To     string  `json:"to"`
			Type   string  `json:"type"`
			Weight float64 `json:"weight"`
		} `json:"relations"`
		Neighbors []struct {
			ID    string  `json:"id"`
			Score float64 `json:"score"`
		} `json:"neighbors"`
	}
)

// knownFact is what the events say of one fact so far.
type knownFact struct {
	user, state, content, batch, validTo string
	version                              int64
	validFrom, memoryAt                  string
	updated                              bool
}

func decodeEvents(t *testing.T) []wireEvent {
	t.Helper()
	var events []wireEvent
	for i, raw := range Events() {
		var e wireEvent
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		events = append(events, e)
	}
	return events
}

// replay applies the events in order to a table of facts and fails on any that does not fit what came before.
func replay(t *testing.T, events []wireEvent) map[string]*knownFact {
	t.Helper()
	facts := make(map[string]*knownFact)
	for _, e := range events {
		switch e.Type {
		case "memory.facts.written.v1":
			replayWritten(t, facts, e.Data)
		case "memory.fact.superseded.v1", "memory.fact.deleted.v1":
			replayRetired(t, facts, e)
		default:
			t.Errorf("event %s: type %q", e.ID, e.Type)
		}
	}
	return facts
}

func replayWritten(t *testing.T, facts map[string]*knownFact, data wireData) {
	t.Helper()
	for _, f := range data.Facts {
		old, known := facts[f.ID]
		if known != (f.Op == "update") {
			t.Errorf("fact %s: op %q, written before: %t", f.ID, f.Op, known)
			continue
		}
		if known && (old.user != data.UserID || f.Version <= old.version) {
			t.Errorf("fact %s: version %d of %s after %d of %s", f.ID, f.Version, data.UserID, old.version, old.user)
		}
		if !known {
			old = &knownFact{user: data.UserID}
			facts[f.ID] = old
		}
		old.state, old.version, old.content, old.batch, old.updated = "active", f.Version, f.Content, data.BatchID, known
		old.validFrom, old.memoryAt = f.ValidFrom, f.MemoryAt
	}
}

func replayRetired(t *testing.T, facts map[string]*knownFact, e wireEvent) {
	t.Helper()
	f := facts[e.Data.FactID]
	if f == nil || f.user != e.Data.UserID || f.state != "active" || e.Data.Version <= f.version {
		t.Errorf("event %s: %s does not fit fact %s: %+v", e.ID, e.Type, e.Data.FactID, f)
		return
	}
	f.version = e.Data.Version
	if e.Type == "memory.fact.deleted.v1" {
		f.state = "deleted"
		return
	}
	f.state = "superseded"
	by := facts[e.Data.By]
	if by == nil || by.user != f.user || by == f {
		t.Errorf("event %s: superseded by %q, which is not another fact of %s", e.ID, e.Data.By, f.user)
		return
	}
	// The rule of the contract: the successor's valid_from, else its event time, else the moment of the event.
	for _, candidate := range []string{by.validFrom, by.memoryAt, e.Time} {
		if candidate != "" {
			f.validTo = candidate
			return
		}
	}
}
