package projector

import (
	"bytes"
	"encoding/json"
)

// Deferred is the data of an event whose type the contract has and this version does not project yet. Planning it
// changes nothing and is counted in [Report.DeferredEvents]; the stream retains the event for a version that does.
// Only [Decode] makes one.
type Deferred struct {
	typ Type
	raw string
}

// Type returns the event's type.
func (d Deferred) Type() Type { return d.typ }

// JSON returns the data member of the event, compact.
func (d Deferred) JSON() json.RawMessage { return json.RawMessage(d.raw) }

func decodeDeferred(d *decoding) (Data, error) {
	var raw bytes.Buffer
	if err := json.Compact(&raw, d.raw[d.node.start:d.node.end]); err != nil {
		return nil, badField("", "is not JSON: %v", err)
	}
	return Deferred{typ: d.typ, raw: raw.String()}, nil
}

func (d Deferred) validate(Event) error {
	if d.raw == "" {
		return badField("", "of type %q was not decoded: this version does not make events of types it does not project", d.typ)
	}
	return nil
}

func (d Deferred) wire(string) any { return d.JSON() }
