package eventcheck

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/projector"
)

func newChecker(t *testing.T) *Checker {
	t.Helper()
	p, err := projector.New(projector.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(p, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// event returns an event of the type with the members of its data, user_id apart.
func event(typ, data string) string {
	return fmt.Sprintf(`{"specversion":"1.0","id":"e1","type":%q,"time":"2026-01-01T00:00:00Z","data":{"user_id":"ann",%s}}`, typ, data)
}

func write(facts string) string { return event("memory.facts.written.v1", `"facts":[`+facts+`]`) }

func deletion(data string) string { return event("memory.fact.deleted.v1", data) }

// line returns a finding as one line: severity, path, value, rule and hint.
func line(f Finding) string {
	return fmt.Sprintf("%s|%s|%s|%s|%s", f.Severity, f.Path, f.Value, f.Rule, f.Hint)
}

func check(t *testing.T, c *Checker, text string) []string {
	t.Helper()
	var lines []string
	for _, f := range c.Check(Place{"f", 7}, []byte(text)) {
		if f.Line != 7 || f.File != "f" {
			t.Errorf("finding at %s: want f:7", f.Place)
		}
		lines = append(lines, line(f))
	}
	return lines
}

func TestUsualMistakesAreExplained(t *testing.T) {
	const want3339 = "want RFC 3339 with a zone, like 2026-09-01T00:00:00Z"
	fact := func(members string) string { return write(`{"id":"f","op":"add",` + members + `}`) }
	withTime := func(at string) string {
		return strings.Replace(deletion(`"fact_id":"f"`), `"2026-01-01T00:00:00Z"`, at, 1)
	}
	withType := func(typ string) string { return event(typ, `"fact_id":"f"`) }
	tests := []struct {
		name, event string
		want        []string
	}{
		{"nothing to say", fact(`"tags":["work"],"version":3`), nil},
		{"naive time", fact(`"memory_at":"2026-09-01T00:00:00"`), []string{
			`error|data.facts[0].memory_at|"2026-09-01T00:00:00"|has no zone, and none is guessed: ` + want3339 +
				`|write the zone of the clock that it was read from: 2026-09-01T00:00:00Z if that was UTC, 2026-09-01T00:00:00+02:00 if it was two hours ahead`}},
		{"a day", withTime(`"2026-09-01"`), []string{
			`error|time|"2026-09-01"|` + want3339 + `|a day alone has no zone: 2026-09-01T00:00:00Z if it begins in UTC`}},
		{"seconds", withTime(`1767225600`), []string{ // date -u -d @1767225600
			`error|time|1767225600|` + want3339 + `|in seconds since 1970 that is "2026-01-01T00:00:00Z"`}},
		{"milliseconds", withTime(`1767225600123`), []string{
			`error|time|1767225600123|` + want3339 + `|in milliseconds since 1970 that is "2026-01-01T00:00:00.123Z"`}},
		{"space", withTime(`"2026-09-01 00:00:00Z"`), []string{
			`error|time|"2026-09-01 00:00:00Z"|` + want3339 + `|a T stands between day and time, and no space before the zone`}},
		{"offset without a colon", withTime(`"2026-09-01T00:00:00+0530"`), []string{
			`error|time|"2026-09-01T00:00:00+0530"|` + want3339 + `|a colon stands in the offset: 2026-09-01T00:00:00+05:30`}},
		{"empty time", withTime(`""`), []string{`error|time|""|` + want3339 + `|leave it out, or null, if there is no such time`}},
		{"type misspelt", withType("memory.fact.delete.v1"), []string{
			`error|type|"memory.fact.delete.v1"|is not an event type|did you mean "memory.fact.deleted.v1"?`}},
		{"type without prefix", withType("fact.deleted.v1"), []string{
			`error|type|"fact.deleted.v1"|is not an event type|did you mean "memory.fact.deleted.v1"?`}},
		{"type without version", withType("memory.fact.deleted"), []string{
			`error|type|"memory.fact.deleted"|is not an event type|did you mean "memory.fact.deleted.v1"?`}},
		{"type of the future", withType("memory.fact.deleted.v2"), []string{
			`error|type|"memory.fact.deleted.v2"|is of a higher major version than this version of kith knows|did you mean "memory.fact.deleted.v1"?`}},
		{"member misspelt", fact(`"memoryAt":"2026-09-01T00:00:00Z","tag":["a"]`), []string{
			`warning|data.facts[0].memoryAt|"2026-09-01T00:00:00Z"|is not a member of a fact: it is ignored|did you mean "memory_at"?`,
			`warning|data.facts[0].tag|["a"]|is not a member of a fact: it is ignored|did you mean "tags"?`}},
		{"member misspelt in an entity", fact(`"entities":[{"name":"Asha","type":"person","alias":["A"],"ids":{"anything":"x"}}]`), []string{
			`warning|data.facts[0].entities[0].alias|["A"]|is not a member of an entity: it is ignored|did you mean "aliases"?`}},
		{"member of nothing", deletion(`"fact_id":"f","reason":{"by":"ann"}`), []string{
			`warning|data.reason|{"by":"ann"}|is not a member of the data of memory.fact.deleted.v1: it is ignored|`}},
		{"another user in a fact", fact(`"user_id":"eve"`), []string{
			`warning|data.facts[0].user_id|"eve"|is not a member of a fact: it is ignored|only data.user_id counts`}},
		{"time in data", deletion(`"fact_id":"f","time":"2026-01-01T00:00:00Z"`), []string{
			`warning|data.time|"2026-01-01T00:00:00Z"|is not a member of the data of memory.fact.deleted.v1: it is ignored|only time at the top of the event counts`}},
		{"attribute misspelt", strings.Replace(deletion(`"fact_id":"f"`), `"id"`, `"sources":"x","id"`, 1), []string{
			`warning|sources|"x"|is not an attribute that kith knows: it is ignored|did you mean "source"?`}},
		{"extension attributes", strings.Replace(deletion(`"fact_id":"f"`), `"id"`, `"traceparent":"x","datacontenttype":"application/json","myext":1,"id"`, 1), nil},
		{"user at the top", `{"specversion":"1.0","id":"e1","user_id":"ann","type":"memory.fact.deleted.v1","time":"2026-01-01T00:00:00Z","data":{"fact_id":"f"}}`, []string{
			`error|data.user_id||is missing: want a string or an integer|user_id stands at the top of the event: it belongs into data`,
			`warning|user_id|"ann"|is not read here: it is ignored|it belongs into data: data.user_id`}},
		{"required member misspelt", deletion(`"factId":"f"`), []string{
			`error|data.fact_id||is missing: want a string or an integer|is "factId" meant to be "fact_id"?`,
			`warning|data.factId|"f"|is not a member of the data of memory.fact.deleted.v1: it is ignored|did you mean "fact_id"?`}},
		{"op delete", write(`{"id":"f","op":"delete"}`), []string{
			`error|data.facts[0].op|"delete"|want "add" or "update"|a fact is deleted by an event of its own: memory.fact.deleted.v1`}},
		{"op upsert", write(`{"id":"f","op":"upsert"}`), []string{
			`error|data.facts[0].op|"upsert"|want "add" or "update"|"add" states the whole fact: what it leaves out is cleared`}},
		{"number in quotes", fact(`"relations":[{"to":"g","weight":"0.5"}]`), []string{
			`error|data.facts[0].relations[0].weight|"0.5"|want a number|without quotes: 0.5`}},
		{"version of a float", fact(`"version":17.0`), []string{
			`error|data.facts[0].version|17.0|want an integer of at most 64 bits|without a fraction or exponent: 17`}},
		{"one tag", fact(`"tags":"work"`), []string{`error|data.facts[0].tags|"work"|want an array|a list stands in brackets, of one item too: ["work"]`}},
		{"NUL", deletion(`"fact_id":"a\u0000b"`), []string{
			`error|data.fact_id|"a\u0000b"|has a NUL at byte 1|take the character U+0000 out where the text comes from: stores end a text there`}},
		{"half of an emoji", fact(`"content":"a\ud83d"`), []string{
			"error|data.facts[0].content|\"a\ufffd\"|" + `has \ud83d, half of a surrogate pair|the text was cut inside a character: cut by code points, not by UTF-16 units`}},
		{"fact twice", write(`{"id":"f","op":"add"},{"id":"f","op":"update"}`), []string{
			`error|data.facts[1].id|"f"|is the id of facts[0] too: want each fact once in an event|join what the event says of the fact, or send two events`}},
		{"two bad facts", write(`{"id":"f"},{"id":"g","op":"add"},{"op":"add"}`), []string{
			`error|data.facts[0].op||is missing: want a string|`, `error|data.facts[2].id||is missing: want a string or an integer|`}},
		{"notes", fact(`"tags":[" "],"relations":[{"to":"f"},{"to":"g","type":"causes","weight":2.0}],"neighbors":[{"id":"h","score":0.2},{"id":"i","score":-1}]`), []string{
			`note|data.facts[0].tags[0]|" "|has no visible character: it is dropped|`,
			`note|data.facts[0].relations[0].to|"f"|is the fact itself: it is dropped|`,
			`note|data.facts[0].relations[1].weight|2.0|is above 1: it counts as 1|`,
			`note|data.facts[0].neighbors[0].score|0.2|is below 0.75: no edge|`,
			`note|data.facts[0].neighbors[1].score|-1|is not above 0: the neighbour is dropped|`}},
		{"subject of another user", strings.Replace(deletion(`"fact_id":"f"`), `"id"`, `"subject":"memory.events.c5r68.fact.deleted.v1","id"`, 1), []string{ // avd; ann is c5n6s
			`warning|subject|"memory.events.c5r68.fact.deleted.v1"|names another user than data.user_id: published there, the event becomes a dead letter|the subject of this event is memory.events.c5n6s.fact.deleted.v1`}},
		{"subject with the plain user", strings.Replace(deletion(`"fact_id":"f"`), `"id"`, `"subject":"memory.events.ann.fact.deleted.v1","id"`, 1), []string{
			`warning|subject|"memory.events.ann.fact.deleted.v1"|is on no subject that producers use: its token is not a user id in lower-case base32hex, or its end is no event type|the subject of this event is memory.events.c5n6s.fact.deleted.v1`}},
		{"subject of another type", strings.Replace(deletion(`"fact_id":"f"`), `"id"`, `"subject":"memory.events.c5n6s.fact.shadowed.v1","id"`, 1), []string{
			`warning|subject|"memory.events.c5n6s.fact.shadowed.v1"|names another type than the event|the subject of this event is memory.events.c5n6s.fact.deleted.v1`}},
		{"subject as it should be", strings.Replace(deletion(`"fact_id":"f"`), `"id"`, `"subject":"memory.events.c5n6s.fact.deleted.v1","id"`, 1), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, check(t, newChecker(t), tt.event)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBrokenTextIsExplained(t *testing.T) {
	good := deletion(`"fact_id":"f"`)
	for _, tt := range []struct {
		name, event string
		line        int // want, counted from 1
		hint        string
	}{
		{"cut off", good[:40], 1, "the text is cut off"},
		{"NaN", strings.Replace(good, `"f"`, `NaN`, 1), 1, "JSON has no NaN"},
		{"-Infinity", strings.Replace(good, `"f"`, `-Infinity`, 1), 1, "JSON has no NaN"},
		{"single quotes", strings.ReplaceAll(good, `"`, `'`), 1, "double quotes"},
		{"None", strings.Replace(good, `"f"`, `None`, 1), 1, "this is how Python prints"},
		{"trailing comma", strings.Replace(good, `"f"`, "\"f\",\n", 1), 2, "one too many"},
		{"byte order mark", "\ufeff" + good, 1, "byte order mark"},
		{"mistake on the third line", strings.Replace(good, `"type"`, "\n\n!", 1), 3, ""},
		{"a list", `[1]`, 1, ""},
		{"too large", strings.Replace(good, `"f"`, `"f","x":"`+strings.Repeat("x", 1<<20)+`"`, 1), 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := newChecker(t).Check(Place{"f", 1}, []byte(tt.event))
			if len(found) == 0 || found[0].Severity != Error || found[0].Path != "$" || found[0].Line != tt.line {
				t.Fatalf("findings %+v: want an error of the whole in line %d", found, tt.line)
			}
			if h := found[0].Hint; !strings.Contains(h, tt.hint) || (tt.hint == "") != (h == "") {
				t.Errorf("hint %q: want %q", h, tt.hint)
			}
		})
	}
}

func TestEventsAreCompared(t *testing.T) {
	c := newChecker(t)
	again := func(id, event string) string { return strings.Replace(event, `"e1"`, `"`+id+`"`, 1) }
	for i, step := range []struct {
		event string
		want  []string
	}{
		{again("a", write(`{"id":"f","op":"add","version":1},{"id":"g","op":"add"}`)), nil},
		{again("a", write(` {"id":"f","op":"add","version":1}, {"id":"g","op":"add"}`)), []string{ // white space is nothing
			`warning|id|"a"|is there already in f:7: the same event again changes nothing|`}},
		{again("a", deletion(`"fact_id":"f","version":2`)), []string{
			`error|id|"a"|is the id of another event in f:7: want an id for each event|the stream drops the later one of the two; a UUID for each event never comes twice`}},
		{again("b", deletion(`"fact_id":"f","version":3`)), nil},
		{again("c", deletion(`"fact_id":"f"`)), []string{
			`warning|data.version||is not stated, and is stated for the same fact in f:7: the two scales mix|without a version the event's time in microseconds counts: state it in all events of a fact or in none`}},
		{again("d", deletion(`"fact_id":"f"`)), nil}, // said once
		{again("e", write(`{"id":"x","op":"add"},{"id":"g","op":"update","version":4}`)), []string{
			`warning|data.facts[1].version|4|is stated, and is not for the same fact in f:7: the two scales mix|without a version the event's time in microseconds counts: state it in all events of a fact or in none`}},
		{again("f", strings.Replace(deletion(`"fact_id":"x","version":4`), `"ann"`, `"bob"`, 1)), nil}, // another user's
		{again("g", event("memory.schema.deleted.v1", `"schema_id":"x","version":4`)), nil},            // not the fact x
		{again("h", event("memory.schema.deleted.v1", `"schema_id":"x"`)), []string{
			`warning|data.version||is not stated, and is stated for the same schema in f:7: the two scales mix|without a version the event's time in microseconds counts: state it in all events of a schema or in none`}},
	} {
		if diff := cmp.Diff(step.want, check(t, c, step.event)); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
	want := map[string]int{"memory.facts.written.v1": 3, "memory.fact.deleted.v1": 5, "memory.schema.deleted.v1": 2}
	if diff := cmp.Diff(want, c.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	check(t, c, `[]`)
	check(t, c, event("memory.facts.written.v9", ``))
	if c.Counts()[OtherType] != 2 {
		t.Errorf("counts %v: want two of another type", c.Counts())
	}
}

// An error is what decoding says and nothing else, but an id that stands for two events: the sample has none, nor a
// misspelt member.
func TestSampleHasNoErrors(t *testing.T) {
	text, err := os.ReadFile("../sample/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c := newChecker(t)
	for i, l := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		for _, f := range c.Check(Place{"events.jsonl", i + 1}, l) {
			if f.Severity != Note {
				t.Errorf("%+v", f)
			}
		}
	}
}
