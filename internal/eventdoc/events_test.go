package eventdoc

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kithgraph/kith/projector"
)

// judge is a validator that shares no code with this package.
type judge struct{ schema *jsonschema.Schema }

// newJudge compiles the schema that is checked in, which validates it against its dialect too.
func newJudge(tb testing.TB, fragment string, draft *jsonschema.Draft) judge {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(docsDir, EventsFile))
	if err != nil {
		tb.Fatal(err)
	}
	doc := parse(tb, text)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.DefaultDraft(draft)
	if draft != jsonschema.Draft2020 {
		delete(doc.(map[string]any), "$schema")
	}
	delete(doc.(map[string]any), "$id") // or it would be looked for under that name
	const at = "file:///events.schema.json"
	if err := c.AddResource(at, doc); err != nil {
		tb.Fatal(err)
	}
	schema, err := c.Compile(at + fragment)
	if err != nil {
		tb.Fatal(err)
	}
	return judge{schema}
}

func parse(tb testing.TB, text []byte) any {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		tb.Fatalf("parse %.200s: %v", text, err)
	}
	return doc
}

// says returns what the schema has against an event, or nil.
func (j judge) says(tb testing.TB, event []byte) error {
	tb.Helper()
	return j.schema.Validate(parse(tb, event))
}

// decodes returns what kith has against an event: an error, or the first bad fact.
func decodes(event []byte) error {
	_, rejected, err := projector.Decode(event, projector.Limits{})
	if err == nil && len(rejected) > 0 {
		err = rejected[0].Err
	}
	return err
}

func TestSampleIsGood(t *testing.T) {
	j := newJudge(t, "", jsonschema.Draft2020)
	text, err := os.ReadFile("../sample/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	for i, line := range lines {
		if err := j.says(t, line); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d lines: the sample is not there", len(lines))
	}
}

// Every definition of a type stands alone, and what the documents show of it is a good event of that type and of no
// other one.
func TestExamplesAreGood(t *testing.T) {
	for _, typ := range projector.Types() {
		j := newJudge(t, refTo(string(typ)), jsonschema.Draft2020)
		for _, e := range contract() {
			event, err := example(e.data)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.says(t, event); (err == nil) != (e.data.Type() == typ) {
				t.Errorf("%s against the schema of %s: %v", event, typ, err)
			}
		}
	}
}

func TestExamplesAreShown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(docsDir, EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]struct {
			Examples []json.RawMessage `json:"examples"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, typ := range projector.Types() {
		shown := doc.Defs[string(typ)].Examples
		if len(shown) != 1 || decodes(shown[0]) != nil {
			t.Errorf("%s: examples %s: want one that decodes", typ, shown)
		}
	}
}
