package eventcheck

import "encoding/json"

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the event, or one fact of it, becomes a dead letter
	Warning Severity = "warning" // it is projected, hardly as it was meant
	Note    Severity = "note"    // something of it does not become what it says
)

// Place is where an event stands.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"` // the first one of the event, from 1
}

// Finding is one thing to say of an event.
type Finding struct {
	Severity Severity `json:"severity"`
	Place
	EventID string `json:"event_id,omitempty"` // as far as it can be read
	Path    string `json:"path,omitempty"`     // JSON path from the top of the event, like data.facts[3].memory_at
	// Value is what stands there, if something does; of more than 200 bytes, its beginning as a JSON string.
	Value json.RawMessage `json:"value,omitempty"`
	Rule  string          `json:"rule"`           // what is wrong with it
	Hint  string          `json:"hint,omitempty"` // what to do, for the usual mistakes
}
