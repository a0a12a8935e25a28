package projector

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

// FuzzDecode: nothing panics; what is accepted is valid UTF-8 and the same value to the standard decoder; it can be planned
// and applied; and writing it and reading it again gives the same event.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(contractExample))
	f.Add([]byte(lifecycleJSON("", "")))
	f.Add([]byte(writtenJSON(`{"id":1,"op":"update","tags":null,"valid_to":null},{"id":"x","op":"add","memory_at":"2026-09-01T00:00:00"}`)))
	f.Add([]byte(`{"specversion":"1.0","id":"e","type":"memory.user.forgotten.v1","time":"2026-01-01T00:00:00Z","data":{"user_id":"ü\ud83d\ude00"}}`))
	for typ, data := range everyType {
		f.Add([]byte(`{"specversion":"1.0","id":"e","type":"` + string(typ) + `","time":"2026-01-01T00:00:00Z","data":` + data + `}`))
	}
	p := mustNew(f, Config{TemporalSpine: true})
	f.Fuzz(func(t *testing.T, data []byte) {
		checkParse(t, data)
		ev, rejected, err := Decode(data, Limits{})
		if err != nil {
			if len(rejected) > 0 {
				t.Fatalf("an error and rejected facts: %v, %v", err, rejected)
			}
			return
		}
		if !utf8.Valid(data) {
			t.Fatalf("accepted invalid UTF-8: %q", data)
		}
		if err := ev.Validate(); err != nil {
			t.Fatalf("decoded event is not valid: %v", err)
		}
		p.Notes(ev)
		view := graphstore.NewSnapshot(ev.Space)
		planned, err := p.Plan(view, ev)
		if err != nil {
			t.Fatalf("Plan of a decoded event: %v", err)
		}
		if _, err := view.With(planned.Changes); err != nil {
			t.Fatalf("changes of a decoded event: %v", err)
		}
		encoded, err := Marshal(ev, Limits{MaxBytes: 64 << 20})
		if err != nil {
			t.Fatalf("Marshal of a decoded event: %v", err)
		}
		again, rejected, err := Decode(encoded, Limits{MaxBytes: 64 << 20})
		if err != nil || len(rejected) > 0 {
			t.Fatalf("Decode of %s: %v, rejected %v", encoded, err, rejected)
		}
		if w, ok := ev.Data.(FactsWritten); ok { // the rejected facts are gone, and the others have moved up
			w.Places = nil
			ev.Data = w
		}
		if diff := cmp.Diff(ev, again, eventOptions); diff != "" {
			t.Fatalf("event changed on the way (-first +second):\n%s", diff)
		}
	})
}

// checkParse compares the tree of a document with what the standard decoder makes of it.
func checkParse(t *testing.T, data []byte) {
	n, err := parseJSON(data)
	if err != nil {
		return
	}
	var want any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("accepted %q: %v", data, err)
	}
	if diff := cmp.Diff(want, plain(n)); diff != "" {
		t.Fatalf("tree of %q (-standard +ours):\n%s", data, diff)
	}
	var whole json.RawMessage // not numbers: 1e700 is one, and no float64
	if err := json.Unmarshal(data[n.start:n.end], &whole); err != nil {
		t.Fatalf("bytes %d to %d of %q are not the value: %v", n.start, n.end, data, err)
	}
}

// plain returns a tree as the standard decoder would.
func plain(n node) any {
	switch n.kind {
	case nodeNull:
		return nil
	case nodeNumber:
		return json.Number(n.text)
	case nodeString:
		return n.text
	case nodeArray:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = plain(item)
		}
		return list
	case nodeObject:
		object := make(map[string]any, len(n.items))
		for i, item := range n.items {
			object[n.keys[i]] = plain(item)
		}
		return object
	default:
		return n.text == "true"
	}
}
