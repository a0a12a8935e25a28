package server

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
)

// Explain says how much of the ranking an answer accounts for: in JSON false, true or "all".
type Explain string

// The extents.
const (
	ExplainNothing Explain = ""
	ExplainResults Explain = "true" // where each score comes from
	ExplainAll     Explain = "all"  // also why each fact that was put forward is not there
)

// Schema implements [huma.SchemaProvider].
func (Explain) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Description: `true: say for each result where its score comes from. "all": say also which candidates were removed and which facts that the graph put forward were refused, and why.`,
		Enum:        []any{false, true, "all"},
	}
	s.PrecomputeMessages()
	return s
}

// MarshalJSON implements [json.Marshaler].
func (e Explain) MarshalJSON() ([]byte, error) {
	switch e {
	case ExplainNothing:
		return []byte("false"), nil
	case ExplainResults:
		return []byte("true"), nil
	default:
		return json.Marshal(string(e))
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *Explain) UnmarshalJSON(data []byte) error {
	switch string(bytes.TrimSpace(data)) {
	case "false", "null":
		*e = ExplainNothing
	case "true":
		*e = ExplainResults
	case `"all"`:
		*e = ExplainAll
	default:
		return fmt.Errorf(`explain %s: want true, false or "all"`, data)
	}
	return nil
}
