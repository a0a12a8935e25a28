package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// unknownToken stands where a dead letter's user or type cannot be read. It is no user's token: those have no "w".
const unknownToken = "unknown"

// looseEvent is what can be read of an event that may break any rule. Maps, since decoding into a struct folds the case
// of keys and would take USER_ID for user_id.
type looseEvent struct {
	attributes map[string]json.RawMessage
	data       map[string]json.RawMessage
}

func readLoosely(payload []byte) looseEvent {
	var e looseEvent
	_ = json.Unmarshal(payload, &e.attributes) // what is not there is read as nothing
	_ = json.Unmarshal(e.attributes["data"], &e.data)
	return e
}

// deadSubject returns memory.dead.<user token>.<type tail> for the user that the payload names, so that a forgotten user's
// dead letters can be found; failing that, the one that the subject names.
func (e looseEvent) deadSubject(subject string) string {
	user, typ, _ := projector.ParseSubject(subject)
	if id := looseID(e.data["user_id"]); id != "" {
		user = id
	}
	if stated := projector.Type(looseID(e.attributes["type"])); known(stated) {
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

// id returns the id of the event, or "".
func (e looseEvent) id() string { return looseID(e.attributes["id"]) }

func known(typ projector.Type) bool {
	_, _, ok := projector.ParseSubject(projector.Subject("u", typ))
	return ok
}

// looseID returns the id that a JSON string or integer states, or "". Text that is not UTF-8 would be read as another id.
func looseID(raw json.RawMessage) string {
	if !utf8.Valid(raw) {
		return ""
	}
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

// facts returns the members of data.facts.
func (e looseEvent) facts() ([]json.RawMessage, error) {
	var facts []json.RawMessage
	if err := json.Unmarshal(e.data["facts"], &facts); err != nil {
		return nil, fmt.Errorf("take facts out of the event: %w", err)
	}
	return facts, nil
}

// with returns an event like this one, of the same id, user and batch, that holds one fact alone.
func (e looseEvent) with(fact json.RawMessage) ([]byte, error) {
	type dataJSON struct {
		UserID  json.RawMessage    `json:"user_id"`
		BatchID json.RawMessage    `json:"batch_id,omitempty"`
		Facts   [1]json.RawMessage `json:"facts"`
	}
	type eventJSON struct {
		SpecVersion json.RawMessage `json:"specversion"`
		ID          json.RawMessage `json:"id"`
		Source      json.RawMessage `json:"source,omitempty"`
		Type        json.RawMessage `json:"type"`
		Time        json.RawMessage `json:"time,omitempty"`
		Data        dataJSON        `json:"data"`
	}
	a := e.attributes
	payload, err := encodeJSON(eventJSON{
		SpecVersion: a["specversion"], ID: a["id"], Source: a["source"], Type: a["type"], Time: a["time"],
		Data: dataJSON{e.data["user_id"], e.data["batch_id"], [1]json.RawMessage{fact}},
	})
	if err != nil {
		return nil, fmt.Errorf("make an event of one fact: %w", err)
	}
	return payload, nil
}

// withFacts returns the event with other facts; all else is as it was, but for white space and the order of members.
func (e looseEvent) withFacts(facts []json.RawMessage) (payload []byte, err error) {
	data, attributes := maps.Clone(e.data), maps.Clone(e.attributes)
	if data["facts"], err = encodeJSON(facts); err != nil {
		return nil, fmt.Errorf("put facts into an event: %w", err)
	}
	if attributes["data"], err = encodeJSON(data); err != nil {
		return nil, fmt.Errorf("put facts into an event: %w", err)
	}
	if payload, err = encodeJSON(attributes); err != nil {
		return nil, fmt.Errorf("put facts into an event: %w", err)
	}
	return payload, nil
}

// encodeJSON leaves <, > and & as they are: escapes would make an event larger than its limit.
func encodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
