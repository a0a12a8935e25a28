package projector

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
)

// everyType holds the data of one event of each type, every member there and a version where there is one.
var everyType = map[Type]string{
	TypeFactsWritten: `{"user_id":"ann","batch_id":"b","facts":[{"id":"f","op":"add","version":3,"agent_id":"a","source_id":"s","episode_id":"e",
		"content":"c","memory_at":"2026-01-01T00:00:00Z","valid_from":"2026-01-01T00:00:00Z","valid_to":"2026-01-02T00:00:00Z","recorded_at":"2026-01-01T00:00:00Z",
		"tags":["t"],"entities":[{"name":"n","type":"person","aliases":["al"],"ids":{"email":"m"}}],"relations":[{"to":"g","type":"causes","weight":0.5}],
		"neighbors":[{"id":"h","score":0.9}],"triples":[{"subject":{"name":"n","type":"person"},"predicate":"p","object":{"name":"o"},"confidence":0.5,
		"sentence":"w","valid_from":"2026-01-01T00:00:00Z","valid_to":"2026-01-02T00:00:00Z"}]}]}`,
	TypeFactSuperseded:  `{"user_id":"ann","fact_id":"f","by":"g","version":3}`,
	TypeFactShadowed:    `{"user_id":"ann","fact_id":"f","version":3}`,
	TypeFactRestored:    `{"user_id":"ann","fact_id":"f","version":3}`,
	TypeFactDeleted:     `{"user_id":"ann","fact_id":"f","version":3}`,
	TypeSourceRetracted: `{"user_id":"ann","source_id":"s"}`,
	TypeUserForgotten:   `{"user_id":"ann"}`,
	TypeEntityAliased:   `{"user_id":"ann","entity":{"name":"n","type":"person"},"alias":"al","version":3,"evidence":"why"}`,
	TypeEntityMerged:    `{"user_id":"ann","kept":{"name":"n","type":"person"},"merged":{"name":"m","type":"person"},"version":3,"evidence":"why"}`,
	TypeEntityUnmerged:  `{"user_id":"ann","kept":{"name":"n","type":"person"},"merged":{"name":"m","type":"person"},"version":3,"evidence":"why"}`,
	TypeEntityRetyped:   `{"user_id":"ann","entity":{"name":"n","type":"person"},"to":"project","version":3,"evidence":"why"}`,
	TypeSchemaUpserted:  `{"user_id":"ann","schema_id":"sc","level":"l6","title":"t","evidence":["f"],"version":3}`,
	TypeSchemaDeleted:   `{"user_id":"ann","schema_id":"sc","version":3}`,
}

// textRule is what holds of the text at a place.
type textRule uint8

const (
	idRule     textRule = iota + 1 // 1 to 512 bytes without control characters
	maybeRule                      // the same, or empty
	nameRule                       // has a visible character
	textOnly                       // nothing but no NUL
	reasonRule                     // at most 2,000 bytes
	levelRule                      // l6
	opRule                         // add or update
	timeRule
)

// rules holds the rule of every text in everyType by the last name of its path; an item of a list has the list's.
var rules = map[string]textRule{
	"user_id": idRule, "batch_id": idRule, "id": idRule, "agent_id": idRule, "source_id": idRule, "episode_id": idRule, "email": idRule,
	"to": idRule, "fact_id": idRule, "by": idRule, "schema_id": idRule, "op": opRule, "level": levelRule,
	"content": textOnly, "tags": textOnly, "name": textOnly, "type": textOnly, "aliases": textOnly, "predicate": textOnly, "sentence": textOnly,
	"memory_at": timeRule, "valid_from": timeRule, "valid_to": timeRule, "recorded_at": timeRule, "time": timeRule,
	"alias": nameRule, "title": nameRule, "evidence": reasonRule,
}

// ruleAt returns the rule of a place: some names mean something else in some types.
func ruleAt(typ Type, path string) textRule {
	parts := strings.Split(path, ".")
	name := parts[len(parts)-1]
	for name[0] >= '0' && name[0] <= '9' {
		parts = parts[:len(parts)-1]
		name = parts[len(parts)-1]
	}
	above := parts[max(0, len(parts)-3)]
	switch {
	case name == "to" && typ == TypeEntityRetyped, name == "name" && typ != TypeFactsWritten:
		return nameRule
	case name == "type" && above == "relations":
		return maybeRule
	case name == "evidence" && typ == TypeSchemaUpserted:
		return idRule
	default:
		return rules[name]
	}
}

// good reports whether the rule allows a text. It is written anew here: the decoder's own rules are what is tested.
func (r textRule) good(text string) bool {
	if strings.Contains(text, "\x00") {
		return false
	}
	switch r {
	case idRule:
		return text != "" && len(text) <= 512 && strings.IndexFunc(text, unicode.IsControl) < 0
	case maybeRule:
		return len(text) <= 512 && strings.IndexFunc(text, unicode.IsControl) < 0
	case nameRule:
		return strings.IndexFunc(text, func(r rune) bool {
			return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r)
		}) >= 0
	case reasonRule:
		return len(text) <= 2000
	case textOnly:
		return true
	default: // none of the characters is a time, a level or an op
		return false
	}
}

// texts returns the paths of the texts below v.
func texts(v any, path string) []string {
	var paths []string
	switch v := v.(type) {
	case string:
		return []string{path}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			paths = append(paths, texts(v[key], path+"."+key)...)
		}
	case []any:
		for i := range v {
			paths = append(paths, texts(v[i], fmt.Sprintf("%s.%d", path, i))...)
		}
	}
	return paths
}

// withAt returns a document with another value at a path.
func withAt(doc any, path string, value any) any {
	key, rest, _ := strings.Cut(strings.TrimPrefix(path, "."), ".")
	set := func(old any) any {
		if rest == "" {
			return value
		}
		return withAt(old, rest, value)
	}
	switch doc := doc.(type) {
	case map[string]any:
		changed := maps.Clone(doc)
		changed[key] = set(doc[key])
		return changed
	case []any:
		changed := slices.Clone(doc)
		var i int
		if _, err := fmt.Sscan(key, &i); err != nil {
			panic(err)
		}
		changed[i] = set(doc[i])
		return changed
	default:
		panic("no " + path)
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func enveloped(t *testing.T, typ Type, data any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"specversion": "1.0", "id": "e", "type": typ, "time": "2026-01-01T00:00:00Z", "data": data})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decodeWhole decodes an event of which no part may be bad.
func decodeWhole(data []byte) (Event, error) {
	ev, rejected, err := Decode(data, Limits{})
	if err == nil && len(rejected) > 0 {
		err = rejected[0].Err
	}
	return ev, err
}

// wholeWay sends an event through everything that takes one.
func wholeWay(t *testing.T, p *Projector, what string, ev Event) {
	t.Helper()
	view := graphstore.NewSnapshot(ev.Space)
	planned, err := p.Plan(view, ev)
	if err != nil {
		t.Errorf("%s: plan: %v", what, err)
		return
	}
	if _, err := view.With(planned.Changes); err != nil {
		t.Errorf("%s: apply: %v", what, err)
	}
	p.Notes(ev)
	data, err := Marshal(ev, Limits{})
	if err != nil {
		t.Errorf("%s: marshal: %v", what, err)
		return
	}
	if again, err := decodeWhole(data); err != nil || !cmp.Equal(ev, again, eventOptions, cmpopts.EquateEmpty()) {
		t.Errorf("%s: came back as %+v, %v: want %+v", what, again, err, ev)
	}
}

// Every kind of text stands at every place of every type where text may stand.
func TestCharactersInEveryType(t *testing.T) {
	p := mustNew(t, Config{})
	more := []struct{ name, text string }{
		{"NUL", "a\x00b"}, {"only NUL", "\x00"}, {"zero width", "\u200b\u2060"}, {"only direction marks", "\u200f\u200e"},
		{"2,000 bytes", strings.Repeat("é", 1000)}, {"2,001 bytes", strings.Repeat("é", 1000) + "x"},
	}
	for _, typ := range Types() {
		data := parsed(t, everyType[typ])
		for _, path := range texts(data, "") {
			for _, c := range slices.Concat(characters, more) {
				what := fmt.Sprintf("%s: %s at %s", typ, c.name, path)
				ev, err := decodeWhole(enveloped(t, typ, withAt(data, path, c.text)))
				if good := ruleAt(typ, path).good(c.text); (err == nil) != good {
					t.Errorf("%s: error %v: want good %v", what, err, good)
				}
				if err == nil {
					wholeWay(t, p, what, ev)
				} else if len(err.Error()) > 300 {
					t.Errorf("%s: an error of %d bytes", what, len(err.Error()))
				}
			}
		}
	}
}

// An integer where an id stands is its decimal text, in every type; elsewhere it is an error that names the path.
func TestIntegersInEveryType(t *testing.T) {
	for _, typ := range Types() {
		data := parsed(t, everyType[typ])
		for _, path := range texts(data, "") {
			asNumber, err := decodeWhole(enveloped(t, typ, withAt(data, path, 17)))
			if ruleAt(typ, path) != idRule {
				want := strings.NewReplacer(".0", "[0]").Replace("data" + path)
				if err == nil || !strings.HasPrefix(err.Error(), want+" 17: want") {
					t.Errorf("%s: 17 at %s: error %v: want one of %s", typ, path, err, want)
				}
				continue
			}
			asText, textErr := decodeWhole(enveloped(t, typ, withAt(data, path, "17")))
			if err != nil || textErr != nil {
				t.Errorf("%s: 17 at %s: %v, as text %v", typ, path, err, textErr)
			}
			if diff := cmp.Diff(asText, asNumber, eventOptions); diff != "" {
				t.Errorf("%s: 17 at %s (-text +number):\n%s", typ, path, diff)
			}
		}
	}
}

// Times of every type: with a zone, and at need.
func TestTimesInEveryType(t *testing.T) {
	const (
		never     = iota
		versioned // only if everything states its version
		timed     // not at all, or if the type needs no time of its own
		always
	)
	tests := []struct {
		name string
		time any
		when int
	}{
		{"UTC", "2026-01-01T00:00:00Z", always}, {"ahead of UTC", "2026-01-01T05:30:00+05:30", always},
		{"microseconds", "2026-01-01T00:00:00.000001Z", always}, {"year 9999", "9999-12-31T23:59:59Z", always},
		{"1970", "1970-01-01T00:00:00Z", always}, {"a leap day", "2024-02-29T00:00:00Z", always},
		{"1969", "1969-12-31T23:59:59Z", timed}, {"year 0", "0000-06-01T00:00:00Z", timed},
		{"missing", nil, versioned},
		{"naive", "2026-01-01T00:00:00", never}, {"naive with a fraction", "2026-01-01T00:00:00.5", never}, {"a day", "2026-01-01", never},
		{"empty", "", never}, {"seconds", 1767225600, never}, {"zero time", "0001-01-01T00:00:00Z", never},
		{"year 10000", "9999-12-31T23:59:59-01:00", never}, {"30 February", "2026-02-30T00:00:00Z", never}, {"five digits", "12026-01-01T00:00:00Z", never},
	}
	for _, typ := range Types() {
		withdraws := typ == TypeSourceRetracted || typ == TypeUserForgotten // these have no version
		for _, tt := range tests {
			for _, stated := range []bool{true, false} {
				data := everyType[typ]
				if !stated {
					data = strings.Replace(data, `"version":3`, `"version":null`, 1)
				}
				envelope := map[string]any{"specversion": "1.0", "id": "e", "type": typ, "time": tt.time, "data": parsed(t, data)}
				text, err := json.Marshal(envelope)
				if err != nil {
					t.Fatal(err)
				}
				good := tt.when == always || tt.when == versioned && stated && !withdraws || tt.when == timed && (stated || withdraws)
				if _, err := decodeWhole(text); (err == nil) != good {
					t.Errorf("%s, %s, version stated %v: error %v: want good %v", typ, tt.name, stated, err, good)
				}
			}
		}
	}
}

// Nothing below data changes whose event it is, and what the contract does not know changes nothing at all.
func TestReservedMembersInEveryType(t *testing.T) {
	for _, typ := range Types() {
		data := parsed(t, everyType[typ])
		want, err := decodeWhole(enveloped(t, typ, data))
		if err != nil {
			t.Fatal(err)
		}
		polluted := pollute(data, 0)
		got, err := decodeWhole(enveloped(t, typ, polluted))
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		if diff := cmp.Diff(want, got, eventOptions); diff != "" || got.Space.UserID() != "ann" {
			t.Errorf("%s of %s (-clean +polluted):\n%s", typ, got.Space, diff)
		}
	}
}

// pollute adds members to every object that would name another user, time or type if they were read.
func pollute(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			out[key] = pollute(inner, depth+1)
		}
		if _, ids := v["email"]; ids {
			return out // hard ids have names of their own
		}
		for _, key := range []string{"userId", "User_id", "USER_ID", "user", "space", "specversion", "$type", "__proto__"} {
			out[key] = "eve"
		}
		if depth > 0 {
			out["user_id"] = "eve"
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = pollute(v[i], depth+1)
		}
		return out
	default:
		return v
	}
}

// A name composed or taken apart is one entity to a decision.
func TestDecisionsOnComposedNames(t *testing.T) {
	ev := event(t, "e", 1, EntityAliased{Entity: EntityName{"Zürich", "place"}, Alias: "Zu\u0308rich"})
	planned, err := mustNew(t, Config{}).Plan(graphstore.NewSnapshot(ev.Space), ev)
	if err != nil || len(planned.Changes) > 0 || planned.Report.NoopDecisions != 1 {
		t.Errorf("%v, planned %+v: want a decision on one entity", err, planned)
	}
}
