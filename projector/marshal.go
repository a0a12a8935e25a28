package projector

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// envelope is the wire form of an event.
type envelope struct {
	SpecVersion string             `json:"specversion"`
	ID          string             `json:"id"`
	Source      string             `json:"source,omitempty"`
	Type        Type               `json:"type"`
	Time        graphstore.Instant `json:"time,omitzero"`
	Data        any                `json:"data"`
}

// Marshal writes the event as JSON, or returns the first rule it breaks. [Decode] with the same limits accepts the result
// without a rejected fact and returns the same event: equal, with empty lists nil and hard ids sorted.
func Marshal(ev Event, limits Limits) ([]byte, error) {
	limits = limits.WithDefaults()
	if err := ev.Validate(); err != nil {
		return nil, err
	}
	if err := checkMarshal(ev.Data, limits); err != nil {
		return nil, under("data", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(envelope{"1.0", ev.ID, ev.Source, ev.Type(), ev.Time, ev.Data.wire(ev.Space.UserID())}); err != nil {
		return nil, fmt.Errorf("encode event %s: %w", graphstore.Shorten(ev.ID), err)
	}
	data := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	if len(data) > limits.MaxBytes {
		return nil, badField("$", "has %d bytes: want at most %d", len(data), limits.MaxBytes)
	}
	return data, nil
}

// checkMarshal returns the rule of the wire, beyond those of [Event.Validate], that the data breaks.
func checkMarshal(data Data, limits Limits) error {
	switch data := data.(type) {
	case FactsWritten:
		if len(data.Facts) > limits.MaxFacts {
			return badField("facts", "has %d facts: want at most %d", len(data.Facts), limits.MaxFacts)
		}
		return data.checkFinite()
	case SchemaUpserted:
		return data.checkLimits(limits)
	default:
		return nil
	}
}
