package eventdoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kithgraph/kith/projector"
)

// unsayable holds, in the order of [Unsayable], what the decoder says of an event that breaks such a rule, and events
// that do.
var unsayable = []struct {
	says   *regexp.Regexp
	events []string
}{
	{regexp.MustCompile(` has \d+ bytes: want at most (512|2000)$`), []string{
		deleted(`"` + strings.Repeat("é", 257) + `"`), deleted("1" + strings.Repeat("0", 512)),
		aliased(`"a"`, `"evidence":"`+strings.Repeat("é", 1001)+`"`)}},
	{regexp.MustCompile(` [0-9.]+(\.0|e[0-9]+): want (a string or an integer|an integer of at most 64 bits)$| 9223372036854775808: want an integer`), []string{
		deleted(`17.0`), deleted(`17e1`), deleted(`"f","version":17.0`)}},
	{regexp.MustCompile(`^\$ has \d+ bytes|deeper than 32 levels|is there twice|not valid UTF-8|half of a surrogate pair|NUL at byte`), []string{
		deleted(`"f","x":"` + strings.Repeat("x", 1<<20) + `"`), deleted(`"f","x":` + strings.Repeat("[", 33) + strings.Repeat("]", 33)),
		deleted(`"f","x":{"y":1,"y":1}`), deleted("\"f\",\"x\":\"\xff\""), deleted(`"f","x":"\ud83d"`), deleted(`"f","x":"\u0000"`)}},
	{regexp.MustCompile(` is the id of facts\[\d+\] too`), []string{
		writtenFacts(`{"id":"5c56c793-69f3-4fbf-87e6-c4bf54c28c26","op":"add"},{"id":"5C56C793-69F3-4FBF-87E6-C4BF54C28C26","op":"add"}`)}},
	{regexp.MustCompile(` is the fact itself| is the kept entity itself| is the type the entity has`), []string{
		ofType("memory.fact.superseded.v1", `"fact_id":"f","by":"f"`),
		ofType("memory.entity.merged.v1", `"kept":{"name":"Asha Rao"},"merged":{"name":"asha-rao","type":"thing"}`),
		ofType("memory.entity.unmerged.v1", `"kept":{"name":"a"},"merged":{"name":"A"}`),
		ofType("memory.entity.retyped.v1", `"entity":{"name":"a","type":"person"},"to":"Person"`)}},
	{regexp.MustCompile(` has no visible character`), []string{
		aliased(`"\u200b"`, `"version":1`), ofType("memory.schema.upserted.v1", `"schema_id":"s","level":"l6","title":"\u200e","evidence":[]`)}},
	{regexp.MustCompile(` is the zero time of some languages| want a year from 0 to 9999$`), []string{
		timed(`"0001-01-01T00:00:00Z"`), timed(`"0001-01-01T02:00:00+02:00"`), timed(`"9999-12-31T23:59:59-01:00"`)}},
	{regexp.MustCompile(` is before 1970: want a version$`), []string{timed(`"1969-12-31T23:59:59Z"`)}},
	{regexp.MustCompile(`want a number that a float64 holds$`), []string{
		writtenFacts(`{"id":1,"op":"add","relations":[{"to":2,"weight":1e999}]}`)}},
}

func ofType(typ, data string) string {
	return fmt.Sprintf(`{"specversion":"1.0","id":"e","type":%q,"time":"2026-01-01T00:00:00Z","data":{"user_id":"u",%s}}`, typ, data)
}

func deleted(factID string) string { return ofType("memory.fact.deleted.v1", `"fact_id":`+factID) }

func writtenFacts(facts string) string {
	return ofType("memory.facts.written.v1", `"facts":[`+facts+`]`)
}

func aliased(alias, more string) string {
	return ofType("memory.entity.aliased.v1", `"entity":{"name":"a"},"alias":`+alias+`,`+more)
}

func timed(at string) string {
	return strings.Replace(deleted(`"f"`), `"2026-01-01T00:00:00Z"`, at, 1)
}

// What the page says that the schema cannot say, it does not say.
func TestUnsayableRules(t *testing.T) {
	j := newJudge(t, "", jsonschema.Draft2020)
	if len(unsayable) != len(Unsayable()) {
		t.Fatalf("%d kinds of events for %d rules", len(unsayable), len(Unsayable()))
	}
	for i, rule := range unsayable {
		for _, event := range rule.events {
			if err := decodes([]byte(event)); err == nil || !rule.says.MatchString(err.Error()) {
				t.Errorf("%.60s: %.200s: decoded with %v", Unsayable()[i], event, err)
			}
			if err := j.says(t, []byte(event)); err != nil {
				t.Errorf("%.60s: %.200s: the schema says %v", Unsayable()[i], event, err)
			}
		}
	}
}

// agreeing compares the two verdicts on one event: the schema must never refuse what kith takes, and take what kith
// refuses only for a rule that it cannot say. It returns whether the event is good.
func agreeing(t *testing.T, j judge, event []byte) (good bool) {
	t.Helper()
	decoded, schema := decodes(event), j.says(t, event)
	switch {
	case decoded == nil && schema != nil:
		t.Errorf("%.600s\nis good, and the schema says %v", event, schema)
	case decoded != nil && schema == nil:
		for _, rule := range unsayable {
			if rule.says.MatchString(decoded.Error()) {
				return false
			}
		}
		t.Errorf("%.600s\nthe schema takes it, and decoding says %v", event, decoded)
	}
	return decoded == nil
}

// oddities are values to put where another one stands.
func oddities() []string {
	long := func(s string, n int) string { return `"` + strings.Repeat(s, n) + `"` }
	return []string{
		`null`, `true`, `0`, `-0`, `-1`, `17`, `1.5`, `-1.5`, `1.0`, `1e3`, `9223372036854775807`, `9223372036854775808`, `1e999`,
		`""`, `" "`, `"\t"`, `"a\tb"`, `"a\u0000b"`, `"a\u0085b"`, `"a\u007fb"`, `"\u200b"`, `"\u00a0"`, `"a\n"`, `"x"`, `"17"`, `"émoji 👩‍🚀"`,
		long("x", 512), long("x", 513), long("é", 256), long("é", 257), long("x", 2000), long("x", 2001), long("é", 1001),
		`"add"`, `"update"`, `"ADD"`, `"l6"`, `"1.0"`, `"thing"`, `"person"`, `"memory.facts.written.v2"`, `"memory.user.forgotten.v1"`,
		`"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00"`, `"2026-01-01"`, `"2026-01-01 00:00:00Z"`, `"2026-01-01t00:00:00z"`,
		`"2026-01-01T00:00:00.123456789Z"`, `"2026-01-01T00:00:00.Z"`, `"2026-01-01T00:00:00,5Z"`, `"2026-01-01T0:00:00Z"`,
		`"2026-01-01T24:00:00Z"`, `"2026-01-01T00:00:60Z"`, `"2026-02-30T00:00:00Z"`, `"2024-02-29T00:00:00Z"`, `"2026-13-01T00:00:00Z"`,
		`"2026-01-01T00:00:00+05:60"`, `"2026-01-01T00:00:00+24:00"`, `"2026-01-01T00:00:00-00:00"`, `"2026-01-01T00:00:00+0530"`,
		`"2026-01-01T00:00:00+05:30"`, `"0001-01-01T00:00:00Z"`, `"1969-12-31T23:59:59Z"`, `"9999-12-31T23:59:59-01:00"`, `"12026-01-01T00:00:00Z"`,
		`[]`, `[null]`, `["x"]`, `[1]`, `["x","x"]`, `[1.5]`, `[[]]`, `[{}]`, `{}`, `{"x":1}`, `{"":"x"}`, `{"x":null}`, `{"x":""}`,
		`{"name":"n"}`, `{"name":""}`, `{"name":"n","type":"person"}`, `{"name":"n","type":null}`,
		`{"` + strings.Repeat("k", 513) + `":"x"}`, `{"a\tb":"x"}`,
	}
}

// Every member of every type is left out, and replaced by every oddity, one at a time.
func TestSchemaAgreesWithDecoding(t *testing.T) {
	j := newJudge(t, "", jsonschema.Draft2020)
	good, bad := 0, 0
	for _, e := range contract() {
		for _, mutant := range mutantsOf(t, e, oddities()) {
			if agreeing(t, j, mutant) {
				good++
			} else {
				bad++
			}
		}
		if t.Failed() {
			t.Fatalf("%s: stop at the first type that differs", e.data.Type())
		}
	}
	t.Logf("%d good and %d bad events", good, bad)
	if good < 1000 || bad < 1000 {
		t.Errorf("%d good and %d bad events: want plenty of both", good, bad)
	}
}

// AsyncAPI knows JSON Schema as of draft-07: the schema says the same to such a reader.
func TestSchemaAgreesAsDraft07(t *testing.T) {
	j := newJudge(t, "", jsonschema.Draft7)
	for _, e := range contract() {
		for _, mutant := range mutantsOf(t, e, []string{`null`, `17`, `""`, `"x"`, `"a\tb"`, `"2026-01-01T00:00:00"`, `[]`, `{}`}) {
			agreeing(t, j, mutant)
		}
	}
}

// mutantsOf returns a type's example with one value left out or replaced; and, where rules meet, the same of its time
// without versions and of its versions without time.
func mutantsOf(t *testing.T, e eventType, values []string) [][]byte {
	t.Helper()
	text, err := example(e.data)
	if err != nil {
		t.Fatal(err)
	}
	list := [][]byte{text}
	for _, c := range []struct{ without, only string }{{"", "*"}, {"time", "version"}, {"version", "time"}} {
		var event any
		if err := json.Unmarshal(text, &event); err != nil {
			t.Fatal(err)
		}
		for _, s := range slots(event, c.without) {
			s.drop()
		}
		for _, s := range slots(event, c.only) {
			list = append(list, s.mutants(event, values)...)
		}
	}
	return list
}

// slot is a place in an event where a value stands.
type slot struct {
	put  func(v any)
	drop func()
	old  any
}

// slots returns the places below v: the members of one name, none of them for "", or every member and item for "*".
func slots(v any, name string) []slot {
	var list []slot
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if name == "*" || name == key {
				list = append(list, slot{func(x any) { v[key] = x }, func() { delete(v, key) }, v[key]})
			}
			list = append(list, slots(v[key], name)...)
		}
	case []any:
		for i := range v {
			if name == "*" {
				list = append(list, slot{func(x any) { v[i] = x }, nil, v[i]})
			}
			list = append(list, slots(v[i], name)...)
		}
	}
	return list
}

// mutants returns the event with the slot's value replaced by each of the values and, of a member, without it.
func (s slot) mutants(event any, values []string) [][]byte {
	const mark = `"@here@"`
	s.put("@here@")
	text := string(marshal(event))
	var list [][]byte
	for _, v := range values {
		list = append(list, []byte(strings.Replace(text, mark, v, 1)))
	}
	if s.drop != nil {
		s.drop()
		list = append(list, marshal(event))
	}
	s.put(s.old)
	return list
}

func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // made of parsed JSON
	}
	return text
}

// Limits on lists are at the same number.
func TestSchemaAgreesOnLongLists(t *testing.T) {
	j := newJudge(t, "", jsonschema.Draft2020)
	for _, n := range []int{0, projector.DefaultMaxFacts, projector.DefaultMaxFacts + 1} {
		var facts, ids []string
		for i := range n {
			facts, ids = append(facts, fmt.Sprintf(`{"id":%d,"op":"add"}`, i)), append(ids, fmt.Sprint(i))
		}
		for _, event := range []string{
			writtenFacts(strings.Join(facts, ",")),
			ofType("memory.schema.upserted.v1", `"schema_id":"s","level":"l6","title":"t","evidence":[`+strings.Join(ids, ",")+`]`),
		} {
			if good := agreeing(t, j, []byte(event)); good != (n <= projector.DefaultMaxFacts) {
				t.Errorf("%d items: good %v", n, good)
			}
		}
	}
}

// Shapes that no mutant has.
func TestSchemaAgreesOnWholeEvents(t *testing.T) {
	j := newJudge(t, "", jsonschema.Draft2020)
	for _, tt := range []struct {
		event string
		good  bool
	}{
		{`[]`, false}, {`{}`, false}, {`"x"`, false}, {`null`, false}, {`17`, false},
		{deleted(`"f","note":{"x":[1]}`), true},
		{strings.Replace(deleted(`"f"`), `"id"`, `"traceparent":"00-x","id"`, 1), true},
		{strings.Replace(deleted(`"f"`), `"time":"2026-01-01T00:00:00Z",`, ``, 1), false},
		{strings.Replace(deleted(`"f","version":0`), `"time":"2026-01-01T00:00:00Z",`, ``, 1), true},
		{strings.Replace(deleted(`"f","version":null`), `"2026-01-01T00:00:00Z"`, `null`, 1), false},
		{strings.Replace(writtenFacts(`{"id":1,"op":"add","version":1},{"id":2,"op":"add"}`), `"2026-01-01T00:00:00Z"`, `null`, 1), false},
		{strings.Replace(writtenFacts(`{"id":1,"op":"add","version":1},{"id":2,"op":"add","version":2}`), `"2026-01-01T00:00:00Z"`, `null`, 1), true},
		{strings.Replace(writtenFacts(``), `"time":"2026-01-01T00:00:00Z",`, ``, 1), true}, // nothing in it lacks a version
		{strings.Replace(ofType("memory.user.forgotten.v1", `"version":3`), `"2026-01-01T00:00:00Z"`, `null`, 1), false},
		{ofType("memory.fact.vanished.v1", `"fact_id":"f"`), false},
		{strings.Replace(deleted(`"f"`), `"memory.fact.deleted.v1"`, `17`, 1), false},
	} {
		if good := agreeing(t, j, []byte(tt.event)); good != tt.good {
			t.Errorf("%s: good %v: want %v", tt.event, good, tt.good)
		}
	}
}
