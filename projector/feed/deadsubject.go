package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// unknownToken stands where a dead letter's user or type cannot be read. It is no user's token: those have no "w".
const unknownToken = "unknown"

// deadSubject returns memory.dead.<user token>.<type tail> for the user that the payload names, so that a forgotten user's
// dead letters can be found; failing that, the one that the subject names.
func deadSubject(subject string, payload []byte) string {
	user, typ, _ := projector.ParseSubject(subject)
	if id := looseID(member(member(payload, "data"), "user_id")); id != "" {
		user = id
	}
	if stated := projector.Type(looseID(member(payload, "type"))); known(stated) {
		typ = stated
	}
	if typ == "" {
		typ = "memory." + unknownToken
	}
	if user == "" {
		return deadPrefix + unknownToken + strings.TrimPrefix(string(typ), "memory")
	}
	return deadPrefix + strings.TrimPrefix(projector.Subject(user, typ), projector.SubjectPrefix)
}

func known(typ projector.Type) bool {
	_, _, ok := projector.ParseSubject(projector.Subject("u", typ))
	return ok
}

// member returns the value of a key in a JSON object, or nil; unlike decoding into a struct it does not fold case.
func member(object []byte, key string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members[key]
}

// looseID returns the id that a JSON string or integer states, or "".
func looseID(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
		if strings.Trim(text, "-0123456789") != "" {
			return ""
		}
	}
	if graphstore.CheckID(text) != nil {
		return ""
	}
	return text
}

// singleFact returns an event like payload, of the same id, user and batch, that holds one of its facts alone.
func singleFact(payload []byte, index int) ([]byte, error) {
	data := member(payload, "data")
	var facts []json.RawMessage
	if err := json.Unmarshal(member(data, "facts"), &facts); err != nil {
		return nil, fmt.Errorf("take fact %d out of the event: %w", index, err)
	}
	if index >= len(facts) {
		return nil, fmt.Errorf("take fact %d out of the event: it has %d", index, len(facts))
	}
	type dataJSON struct {
		UserID  json.RawMessage   `json:"user_id"`
		BatchID json.RawMessage   `json:"batch_id,omitempty"`
		Facts   []json.RawMessage `json:"facts"`
	}
	type eventJSON struct {
		SpecVersion json.RawMessage `json:"specversion"`
		ID          json.RawMessage `json:"id"`
		Source      json.RawMessage `json:"source,omitempty"`
		Type        json.RawMessage `json:"type"`
		Time        json.RawMessage `json:"time,omitempty"`
		Data        dataJSON        `json:"data"`
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(eventJSON{
		SpecVersion: member(payload, "specversion"), ID: member(payload, "id"), Source: member(payload, "source"),
		Type: member(payload, "type"), Time: member(payload, "time"),
		Data: dataJSON{member(data, "user_id"), member(data, "batch_id"), facts[index : index+1]},
	}); err != nil {
		return nil, fmt.Errorf("take fact %d out of the event: %w", index, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
