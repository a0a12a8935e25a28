package projector

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kithgraph/kith/graphstore"
)

// eventOptions compares events: a Space has an unexported part that counts.
var eventOptions = cmp.Options{cmp.AllowUnexported(graphstore.Space{}), cmpopts.EquateNaNs()}

func mustSpace(tb testing.TB, user string) graphstore.Space {
	tb.Helper()
	s, err := graphstore.NewSpace(user)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func at(s string) graphstore.Instant {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return graphstore.InstantOf(t)
}

// contractExample is the example of the wire contract, with the placeholders filled in.
const contractExample = `{ "specversion": "1.0", "id": "ev-1", "source": "memory-writer", "type": "memory.facts.written.v1",
  "time": "2026-11-30T12:00:00.123456Z", "data": { "user_id": "u1", "batch_id": "b1", "facts": [
    { "id": "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "op": "add", "version": 17,
      "agent_id": "a1", "source_id": "msg-88", "episode_id": "ep-4",
      "content": "Asha moved to Razorpay in September",
      "memory_at": "2026-09-01T00:00:00Z", "valid_from": null, "valid_to": null, "recorded_at": "2026-11-30T13:00:00+01:00",
      "tags": ["work"],
      "entities": [ {"name": "Asha Rao", "type": "person", "aliases": ["Asha"], "ids": {"email": "asha@example.com"}} ],
      "relations": [ {"to": "11111111-0000-0000-0000-000000000000", "type": "causes", "weight": 0.9} ],
      "neighbors": [ {"id": "22222222-0000-0000-0000-000000000000", "score": 0.83} ],
      "triples": [ {"subject": {"name": "Asha Rao", "type": "person"}, "predicate": "works_at",
                    "object": {"name": "Razorpay", "type": "organization"}, "confidence": 0.9, "sentence": "Asha moved", "valid_from": null, "valid_to": null} ] } ] } }`

func contractEvent(tb testing.TB) Event {
	return Event{
		ID: "ev-1", Source: "memory-writer", Time: at("2026-11-30T12:00:00.123456Z"), Space: mustSpace(tb, "u1"),
		Data: FactsWritten{BatchID: "b1", Facts: []FactWrite{{
			ID: "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", Op: OpAdd, Version: Some[int64](17),
			AgentID: Some("a1"), SourceID: Some("msg-88"), EpisodeID: Some("ep-4"),
			Content:  Some("Asha moved to Razorpay in September"),
			MemoryAt: Some(at("2026-09-01T00:00:00Z")), ValidFrom: Some(graphstore.Instant(0)), ValidTo: Some(graphstore.Instant(0)),
			RecordedAt: Some(at("2026-11-30T12:00:00Z")), // 13:00+01:00 is 12:00Z
			Tags:       Some([]string{"work"}),
			Entities: Some([]EntityRef{{Name: "Asha Rao", Type: "person", Aliases: []string{"Asha"},
				IDs: []graphstore.HardID{{Kind: "email", Value: "asha@example.com"}}}}),
			Relations: Some([]RelationRef{{To: "11111111-0000-0000-0000-000000000000", Type: "causes", Weight: Some(0.9)}}),
			Neighbors: Some([]NeighborRef{{ID: "22222222-0000-0000-0000-000000000000", Score: 0.83}}),
			Triples: Some([]TripleClaim{{Subject: EntityRef{Name: "Asha Rao", Type: "person"}, Predicate: "works_at",
				Object: EntityRef{Name: "Razorpay", Type: "organization"}, Confidence: Some(0.9), Sentence: "Asha moved",
				ValidFrom: Some(graphstore.Instant(0)), ValidTo: Some(graphstore.Instant(0))}}),
		}}},
	}
}

func TestDecodeReadsTheExampleOfTheContract(t *testing.T) {
	ev, rejected, err := Decode([]byte(contractExample), Limits{})
	if err != nil || len(rejected) != 0 {
		t.Fatalf("Decode: %v, rejected %v", err, rejected)
	}
	if diff := cmp.Diff(contractEvent(t), ev, eventOptions); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestMarshalIsTheInverseOfDecode(t *testing.T) {
	want := contractEvent(t)
	data, err := Marshal(want, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got, rejected, err := Decode(data, Limits{})
	if err != nil || len(rejected) != 0 {
		t.Fatalf("Decode: %v, rejected %v", err, rejected)
	}
	if diff := cmp.Diff(want, got, eventOptions); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// lifecycleJSON returns a deleted event with one part of the envelope or data replaced.
func lifecycleJSON(from, to string) string {
	base := `{"specversion":"1.0","id":"e1","source":"s","type":"memory.fact.deleted.v1","time":"2026-01-01T00:00:00Z","data":{"user_id":"u","fact_id":"f"}}`
	if from != "" && !strings.Contains(base, from) {
		panic("no " + from)
	}
	return strings.Replace(base, from, to, 1)
}

func TestDecodeRefusesBadEvents(t *testing.T) {
	long := strings.Repeat("x", 600)
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	tests := []struct {
		name, json string
		want       []string // parts of the error: path, value, rule
	}{
		{"empty input", "", []string{"$", "ends at byte 0"}},
		{"cut off", lifecycleJSON(`"}}`, ``), []string{"$", "ends at byte"}},
		{"not JSON", "hello", []string{"$", "not JSON at byte 1"}},
		{"NaN literal", lifecycleJSON(`"fact_id":"f"`, `"fact_id":NaN`), []string{"$", "not JSON"}},
		{"array at the top", "[]", []string{"$", "is an array", "want an object"}},
		{"trailing garbage", lifecycleJSON("", "") + " x", []string{"$", "not JSON at byte", "after top-level value"}},
		{"two documents", lifecycleJSON("", "") + lifecycleJSON("", ""), []string{"not JSON at byte", "after top-level value"}},
		{"trailing comma", lifecycleJSON(`"f"}`, `"f",}`), []string{"not JSON"}},
		{"specversion missing", lifecycleJSON(`"specversion":"1.0",`, ``), []string{"specversion is missing"}},
		{"specversion other", lifecycleJSON(`"1.0"`, `"0.3"`), []string{`specversion "0.3"`, `want "1.0"`}},
		{"specversion number", lifecycleJSON(`"1.0"`, `1.0`), []string{`specversion 1.0`, `want a string`}},
		{"id missing", lifecycleJSON(`"id":"e1",`, ``), []string{"id is missing"}},
		{"id null", lifecycleJSON(`"e1"`, `null`), []string{"id is null"}},
		{"id empty", lifecycleJSON(`"e1"`, `""`), []string{`id "" is empty: want 1 to 512 bytes`}},
		{"id too long", lifecycleJSON(`e1`, long), []string{"id ", "600 bytes", "at most 512"}},
		{"id with newline", lifecycleJSON(`e1`, `e\n1`), []string{`id "e\n1"`, "control character"}},
		{"id fraction", lifecycleJSON(`"e1"`, `1.5`), []string{"id 1.5: want a string or an integer"}},
		{"id exponent", lifecycleJSON(`"e1"`, `1e3`), []string{"id 1e3: want a string or an integer"}},
		{"source of the wrong kind", lifecycleJSON(`"s"`, `{}`), []string{"source is an object: want a string"}},
		{"type missing", lifecycleJSON(`"type":"memory.fact.deleted.v1",`, ``), []string{"type is missing"}},
		{"time naive", lifecycleJSON(`00:00Z`, `00:00`), []string{`time "2026-01-01T00:00:00"`, "no zone", "none is guessed"}},
		{"time with a space", lifecycleJSON(`01T00`, `01 00`), []string{`time "2026-01-01 00:00:00Z": want RFC 3339 with a zone`}},
		{"time a number", lifecycleJSON(`"2026-01-01T00:00:00Z"`, `1767225600`), []string{"time 1767225600: want RFC 3339"}},
		{"time empty", lifecycleJSON(`2026-01-01T00:00:00Z`, ``), []string{`time "": want RFC 3339`}},
		{"month 13", lifecycleJSON(`2026-01-01`, `2026-13-01`), []string{`time "2026-13-01T00:00:00Z": want RFC 3339`}},
		{"comma fraction", lifecycleJSON(`00:00Z`, `00:00,5Z`), []string{`time "2026-01-01T00:00:00,5Z": want RFC 3339`}},
		{"hour of one digit", lifecycleJSON(`T00:00:00Z`, `T0:00:00Z`), []string{`time "2026-01-01T0:00:00Z": want RFC 3339`}},
		{"offset of a day", lifecycleJSON(`00:00Z`, `00:00+24:00`), []string{`time "2026-01-01T00:00:00+24:00": want RFC 3339`}},
		{"offset of 60 minutes", lifecycleJSON(`00:00Z`, `00:00+05:60`), []string{`time "2026-01-01T00:00:00+05:60": want RFC 3339`}},
		{"second 60", lifecycleJSON(`00:00Z`, `00:60Z`), []string{`time "2026-01-01T00:00:60Z": want RFC 3339`}},
		{"30 February", lifecycleJSON(`01-01T`, `02-30T`), []string{`time "2026-02-30T00:00:00Z": want RFC 3339`}},
		{"small t and z", lifecycleJSON(`T00:00:00Z`, `t00:00:00z`), []string{`time "2026-01-01t00:00:00z": want RFC 3339`}},
		{"zero time of Go", lifecycleJSON(`2026-`, `0001-`), []string{"time", "zero time"}},
		{"time before 1970 as version", lifecycleJSON(`2026-`, `1969-`), []string{"data.version is missing", "before 1970"}},
		{"time and version missing", lifecycleJSON(`"time":"2026-01-01T00:00:00Z",`, ``), []string{"data.version is missing and so is the event's time"}},
		{"version negative", lifecycleJSON(`"f"}`, `"f","version":-1}`), []string{"data.version -1: want 0 or more"}},
		{"version text", lifecycleJSON(`"f"}`, `"f","version":"1"}`), []string{`data.version "1": want an integer`}},
		{"version fraction", lifecycleJSON(`"f"}`, `"f","version":1.5}`), []string{`data.version 1.5: want an integer`}},
		{"version of 65 bits", lifecycleJSON(`"f"}`, `"f","version":18446744073709551616}`), []string{`data.version 18446744073709551616: want an integer of at most 64 bits`}},
		{"data missing", lifecycleJSON(`,"data":{"user_id":"u","fact_id":"f"}`, ``), []string{"data is missing: want an object"}},
		{"data an array", lifecycleJSON(`{"user_id":"u","fact_id":"f"}`, `[]`), []string{"data is an array: want an object"}},
		{"user missing", lifecycleJSON(`"user_id":"u",`, ``), []string{"data.user_id is missing"}},
		{"user empty", lifecycleJSON(`"user_id":"u"`, `"user_id":""`), []string{`data.user_id "" is empty`}},
		{"user null", lifecycleJSON(`"user_id":"u"`, `"user_id":null`), []string{`data.user_id is null`}},
		{"users as a list", lifecycleJSON(`"user_id":"u"`, `"user_id":[]`), []string{`data.user_id is an array: want a string or an integer`}},
		{"fact missing", lifecycleJSON(`,"fact_id":"f"`, ``), []string{"data.fact_id is missing"}},
		{"fact empty", lifecycleJSON(`"fact_id":"f"`, `"fact_id":""`), []string{`data.fact_id "" is empty`}},
		{"NUL in an id", lifecycleJSON(`"f"`, `"a\u0000b"`), []string{`data.fact_id "a\x00b"`, "NUL at byte 1"}},
		{"NUL in an unknown member", lifecycleJSON(`"f"}`, `"f","note":{"x":["\u0000"]}}`), []string{`data.note.x[0] "\x00"`, "NUL"}},
		{"NUL in a key", lifecycleJSON(`"f"}`, `"f","a\u0000":1}`), []string{`data.(key) "a\x00"`, "NUL"}},
		{"invalid UTF-8", lifecycleJSON(`"f"`, "\"a\xffb\""), []string{"data.fact_id", "not valid UTF-8"}},
		{"UTF-8 of a surrogate", lifecycleJSON(`"f"`, "\"\xed\xa0\x80\""), []string{"data.fact_id", "not valid UTF-8"}},
		{"overlong UTF-8", lifecycleJSON(`"f"`, "\"\xc0\xaf\""), []string{"data.fact_id", "not valid UTF-8"}},
		{"lone high surrogate", lifecycleJSON(`"f"`, `"\ud83dx"`), []string{"data.fact_id", `\ud83d`, "half of a surrogate pair"}},
		{"lone high surrogate at the end", lifecycleJSON(`"f"`, `"x\uD83D"`), []string{`\uD83D`, "half of a surrogate pair"}},
		{"lone low surrogate", lifecycleJSON(`"f"`, `"\udc00"`), []string{`\udc00`, "half of a surrogate pair"}},
		{"two high surrogates", lifecycleJSON(`"f"`, `"\ud83d\ud83d\ude00"`), []string{`\ud83d`, "half of a surrogate pair"}},
		{"key twice", lifecycleJSON(`"f"}`, `"f","fact_id":"g"}`), []string{"data.fact_id is there twice"}},
		{"key twice, one escaped", lifecycleJSON(`"f"}`, `"f","fact\u005fid":"g"}`), []string{"data.fact_id is there twice"}},
		{"key twice in a big object", lifecycleJSON(`"f"}`, `"f",`+manyKeys(40)+`,"k39":0}`), []string{"data.k39 is there twice"}},
		{"deep nesting", lifecycleJSON(`"f"}`, `"f","x":`+deep+`}`), []string{"data.x[0][0]", "deeper than 32 levels"}},
		{"superseded by itself", strings.Replace(lifecycleJSON(`"f"}`, `"f","by":"f"}`), "deleted", "superseded", 1), []string{`data.by "f" is the fact itself`}},
		{"superseded by nothing", strings.Replace(lifecycleJSON(`"f"}`, `"f","by":""}`), "deleted", "superseded", 1), []string{`data.by "" is empty`}},
		{"facts missing", strings.Replace(lifecycleJSON("", ""), "fact.deleted", "facts.written", 1), []string{"data.facts is missing: want an array"}},
		{"too many facts", writtenJSON(manyFacts(1001)), []string{"data.facts has 1001 facts: want at most 1000"}},
		{"too big", lifecycleJSON(`"f"}`, `"f","note":"`+strings.Repeat("x", 1<<20)+`"}`), []string{"$ has 10487", "want at most 1048576"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Decode([]byte(tt.json), Limits{})
			var fe *FieldError
			if !errors.As(err, &fe) {
				t.Fatalf("error %v: want a *FieldError", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q: want %q in it", err, part)
				}
			}
			if len(err.Error()) > 300 {
				t.Errorf("error of %d bytes: the value is not shortened", len(err.Error()))
			}
		})
	}
}

func manyKeys(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	return strings.Join(keys, ",")
}

func writtenJSON(facts string) string {
	return `{"specversion":"1.0","id":"e1","type":"memory.facts.written.v1","time":"2026-01-01T00:00:00Z","data":{"user_id":"u","facts":[` + facts + `]}}`
}

func manyFacts(n int) string {
	facts := make([]string, n)
	for i := range facts {
		facts[i] = fmt.Sprintf(`{"id":%d,"op":"add"}`, i)
	}
	return strings.Join(facts, ",")
}

func TestDecodeAcceptsTheLargestBatch(t *testing.T) {
	ev, rejected, err := Decode([]byte(writtenJSON(manyFacts(1000))), Limits{})
	if err != nil || len(rejected) > 0 {
		t.Fatalf("Decode: %v, rejected %v", err, rejected)
	}
	if n := len(ev.Data.(FactsWritten).Facts); n != 1000 {
		t.Errorf("%d facts: want 1000", n)
	}
}

func TestDecodeHonoursLimits(t *testing.T) {
	data := []byte(writtenJSON(manyFacts(3)))
	if _, _, err := Decode(data, Limits{MaxFacts: 2}); err == nil || !strings.Contains(err.Error(), "at most 2") {
		t.Errorf("3 facts with a limit of 2: %v", err)
	}
	if _, _, err := Decode(data, Limits{MaxBytes: len(data) - 1}); err == nil || !strings.Contains(err.Error(), "$ has") {
		t.Errorf("one byte too many: %v", err)
	}
	if _, _, err := Decode(data, Limits{MaxBytes: len(data), MaxFacts: 3}); err != nil {
		t.Errorf("exactly at both limits: %v", err)
	}
}

// One bad fact does not take the others with it.
func TestDecodeRejectsSingleFacts(t *testing.T) {
	good := `{"id":"good","op":"add"}`
	tests := []struct {
		name, fact, id string
		want           []string
	}{
		{"not an object", `17`, "", []string{"data.facts[1] 17: want an object"}},
		{"id missing", `{"op":"add"}`, "", []string{"data.facts[1].id is missing"}},
		{"id empty", `{"id":"","op":"add"}`, "", []string{`data.facts[1].id "" is empty`}},
		{"id boolean", `{"id":true,"op":"add"}`, "", []string{"data.facts[1].id is a boolean: want a string or an integer"}},
		{"id with tab", `{"id":"a\tb","op":"add"}`, "", []string{`data.facts[1].id "a\tb"`, "control character at byte 1"}},
		{"id of another fact", `{"id":"good","op":"update"}`, "good", []string{`data.facts[1].id "good" is the id of facts[0] too`}},
		{"op missing", `{"id":"x"}`, "x", []string{"data.facts[1].op is missing"}},
		{"op unknown", `{"id":"x","op":"upsert"}`, "x", []string{`data.facts[1].op "upsert": want "add" or "update"`}},
		{"op in capitals", `{"id":"x","op":"ADD"}`, "x", []string{`data.facts[1].op "ADD"`}},
		{"version negative", `{"id":"x","op":"add","version":-5}`, "x", []string{"data.facts[1].version -5: want 0 or more"}},
		{"naive memory_at", `{"id":"x","op":"add","memory_at":"2026-09-01T00:00:00"}`, "x", []string{`data.facts[1].memory_at "2026-09-01T00:00:00" has no zone`}},
		{"date only", `{"id":"x","op":"add","valid_to":"2026-09-01"}`, "x", []string{`data.facts[1].valid_to "2026-09-01": want RFC 3339`}},
		{"empty time", `{"id":"x","op":"add","recorded_at":""}`, "x", []string{`data.facts[1].recorded_at "": want RFC 3339`}},
		{"epoch number", `{"id":"x","op":"add","valid_from":1767225600}`, "x", []string{`data.facts[1].valid_from 1767225600: want RFC 3339`}},
		{"agent empty", `{"id":"x","op":"add","agent_id":""}`, "x", []string{`data.facts[1].agent_id "" is empty: want an id, or null for none`}},
		{"source a list", `{"id":"x","op":"add","source_id":["a"]}`, "x", []string{`data.facts[1].source_id is an array: want a string or an integer`}},
		{"episode too long", `{"id":"x","op":"add","episode_id":"` + strings.Repeat("é", 300) + `"}`, "x", []string{`data.facts[1].episode_id`, "600 bytes"}},
		{"content a number", `{"id":"x","op":"add","content":1}`, "x", []string{`data.facts[1].content 1: want a string`}},
		{"tags a string", `{"id":"x","op":"add","tags":"work"}`, "x", []string{`data.facts[1].tags "work": want an array`}},
		{"tag a number", `{"id":"x","op":"add","tags":["a",2]}`, "x", []string{`data.facts[1].tags[1] 2: want a string`}},
		{"tag null", `{"id":"x","op":"add","tags":[null]}`, "x", []string{`data.facts[1].tags[0] is null: want a string`}},
		{"entity a string", `{"id":"x","op":"add","entities":["Asha"]}`, "x", []string{`data.facts[1].entities[0] "Asha": want an object`}},
		{"entity without name", `{"id":"x","op":"add","entities":[{"type":"person"}]}`, "x", []string{`data.facts[1].entities[0].name is missing`}},
		{"alias a number", `{"id":"x","op":"add","entities":[{"name":"A","aliases":[1]}]}`, "x", []string{`data.facts[1].entities[0].aliases[0] 1: want a string`}},
		{"ids a list", `{"id":"x","op":"add","entities":[{"name":"A","ids":[]}]}`, "x", []string{`data.facts[1].entities[0].ids is an array: want an object`}},
		{"hard id empty", `{"id":"x","op":"add","entities":[{"name":"A","ids":{"email":""}}]}`, "x", []string{`data.facts[1].entities[0].ids.email "" is empty`}},
		{"hard id of no kind", `{"id":"x","op":"add","entities":[{"name":"A","ids":{"":"v"}}]}`, "x", []string{`data.facts[1].entities[0].ids.(key) "" is empty`}},
		{"relation to nothing", `{"id":"x","op":"add","relations":[{"type":"causes"}]}`, "x", []string{`data.facts[1].relations[0].to is missing`}},
		{"relation weight text", `{"id":"x","op":"add","relations":[{"to":"y","weight":"0.5"}]}`, "x", []string{`data.facts[1].relations[0].weight "0.5": want a number`}},
		{"relation weight too big for a float", `{"id":"x","op":"add","relations":[{"to":"y","weight":1e999}]}`, "x", []string{`data.facts[1].relations[0].weight 1e999: want a number that a float64 holds`}},
		{"relation type too long", `{"id":"x","op":"add","relations":[{"to":"y","type":"` + strings.Repeat("r", 513) + `"}]}`, "x", []string{`data.facts[1].relations[0].type`, "513 bytes"}},
		{"neighbour without score", `{"id":"x","op":"add","neighbors":[{"id":"y"}]}`, "x", []string{`data.facts[1].neighbors[0].score is missing: want a number`}},
		{"neighbour id empty", `{"id":"x","op":"add","neighbors":[{"id":"","score":1}]}`, "x", []string{`data.facts[1].neighbors[0].id "" is empty`}},
		{"triple without object", `{"id":"x","op":"add","triples":[{"subject":{"name":"A"},"predicate":"p"}]}`, "x", []string{`data.facts[1].triples[0].object is missing`}},
		{"triple with naive time", `{"id":"x","op":"add","triples":[{"subject":{"name":"A"},"predicate":"p","object":{"name":"B"},"valid_to":"2026-01-01T00:00:00"}]}`, "x", []string{`data.facts[1].triples[0].valid_to "2026-01-01T00:00:00" has no zone`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ev, rejected, err := Decode([]byte(writtenJSON(good+","+tt.fact+`,{"id":"last","op":"add"}`)), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if facts := ev.Data.(FactsWritten).Facts; len(facts) != 2 || facts[0].ID != "good" || facts[1].ID != "last" {
				t.Errorf("the good facts did not survive: %+v", facts)
			}
			if len(rejected) != 1 || rejected[0].Index != 1 || rejected[0].FactID != tt.id {
				t.Fatalf("rejected %+v: want one with index 1 and id %q", rejected, tt.id)
			}
			var fe *FieldError
			if !errors.As(rejected[0].Err, &fe) {
				t.Fatalf("error %v: want a *FieldError", rejected[0].Err)
			}
			for _, part := range tt.want {
				if !strings.Contains(fe.Error(), part) {
					t.Errorf("error %q: want %q in it", fe, part)
				}
			}
		})
	}
}

// Two spellings of one UUID are one fact.
func TestDecodeFindsRepeatedFactsByCanonicalID(t *testing.T) {
	_, rejected, err := Decode([]byte(writtenJSON(
		`{"id":"5c56c793-69f3-4fbf-87e6-c4bf54c28c26","op":"add"},{"id":"{5C56C793-69F3-4FBF-87E6-C4BF54C28C26}","op":"add"}`)), Limits{})
	if err != nil || len(rejected) != 1 || rejected[0].Index != 1 {
		t.Fatalf("Decode: %v, rejected %+v: want the second fact rejected", err, rejected)
	}
}

func TestDecodeAllFactsRejectedIsNoError(t *testing.T) {
	ev, rejected, err := Decode([]byte(writtenJSON(`1,2`)), Limits{})
	if err != nil || len(rejected) != 2 || len(ev.Data.(FactsWritten).Facts) != 0 {
		t.Fatalf("Decode: %v, rejected %+v, event %+v", err, rejected, ev)
	}
}

func TestDecodeTellsAbsentFromNullFromEmpty(t *testing.T) {
	ev, rejected, err := Decode([]byte(writtenJSON(
		`{"id":1,"op":"update"},
		 {"id":2,"op":"update","tags":null,"valid_to":null,"agent_id":null,"version":null},
		 {"id":3,"op":"update","tags":[],"relations":[]}`)), Limits{})
	if err != nil || len(rejected) > 0 {
		t.Fatalf("Decode: %v, rejected %v", err, rejected)
	}
	want := []FactWrite{
		{ID: "1", Op: OpUpdate},
		{ID: "2", Op: OpUpdate, Tags: Some[[]string](nil), ValidTo: Some(graphstore.Instant(0)), AgentID: Some("")},
		{ID: "3", Op: OpUpdate, Tags: Some[[]string](nil), Relations: Some[[]RelationRef](nil)},
	}
	if diff := cmp.Diff(want, ev.Data.(FactsWritten).Facts, eventOptions); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestDecodeTakesIntegersWhereIDsStand(t *testing.T) {
	data := `{"specversion":"1.0","id":7,"type":"memory.facts.written.v1","time":"2026-01-01T00:00:00Z","data":{"user_id":42,"batch_id":-3,"facts":[
		{"id":18446744073709551615,"op":"add","agent_id":0,"source_id":-0,"relations":[{"to":5}],"neighbors":[{"id":6,"score":1}],
		 "entities":[{"name":"A","ids":{"ticket":88}}]}]}}`
	ev, rejected, err := Decode([]byte(data), Limits{})
	if err != nil || len(rejected) > 0 {
		t.Fatalf("Decode: %v, rejected %v", err, rejected)
	}
	w := ev.Data.(FactsWritten)
	f := w.Facts[0]
	got := []string{ev.ID, ev.Space.UserID(), w.BatchID, f.ID, f.AgentID.Value, f.SourceID.Value, f.Relations.Value[0].To,
		f.Neighbors.Value[0].ID, f.Entities.Value[0].IDs[0].Value}
	want := []string{"7", "42", "-3", "18446744073709551615", "0", "0", "5", "6", "88"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestDecodeIgnoresUnknownMembers(t *testing.T) {
	data := `{"specversion":"1.0","id":"e","type":"memory.fact.superseded.v1","time":"2026-01-01T00:00:00Z","traceparent":"00-x","datacontenttype":"application/json",
		"data":{"user_id":"u","fact_id":"a","by":"b","version":3,"reason":{"model":["x"]},"user":"other"}}`
	ev, _, err := Decode([]byte(data), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := Event{ID: "e", Time: at("2026-01-01T00:00:00Z"), Space: mustSpace(t, "u"),
		Data: FactSuperseded{FactID: "a", By: "b", Version: Some[int64](3)}}
	if diff := cmp.Diff(want, ev, eventOptions); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestDecodeNamesUnknownTypes(t *testing.T) {
	tests := []struct {
		typ   string
		newer bool
	}{
		{"memory.facts.written.v2", true},
		{"memory.facts.written.v10", true},
		{"memory.facts.written.v01", false},
		{"memory.facts.written", false},
		{"memory.facts.written.v1.beta", false},
		{"Memory.Facts.Written.v1", false},
		{"memory.fact.vanished.v1", false},
		{"", false},
	}
	for _, tt := range tests {
		_, _, err := Decode([]byte(lifecycleJSON(`memory.fact.deleted.v1`, tt.typ)), Limits{})
		var unknown *UnknownTypeError
		if !errors.As(err, &unknown) || unknown.Newer != tt.newer || !strings.Contains(err.Error(), graphstore.Shorten(tt.typ)) {
			t.Errorf("type %q: error %v: want an *UnknownTypeError with Newer %v", tt.typ, err, tt.newer)
		}
	}
}

func TestTypesAreThoseThatDecode(t *testing.T) {
	if want := slices.Sorted(maps.Keys(decoders)); !slices.Equal(slices.Sorted(slices.Values(Types())), want) {
		t.Errorf("types %v: want %v in some order", Types(), want)
	}
}
