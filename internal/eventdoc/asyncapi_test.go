package eventdoc

import (
	"compress/gzip"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kithgraph/kith/projector"
)

// asyncDoc is what the tests look at in the AsyncAPI document that is checked in.
type asyncDoc struct {
	Channels map[string]struct {
		Address  string
		Messages map[string]refDoc
	}
	Operations map[string]struct {
		Action  string
		Channel refDoc
	}
	Components struct {
		Messages map[string]struct {
			Headers struct{ Properties map[string]any }
			Payload struct{ Schema refDoc }
		}
	}
}

type refDoc struct {
	Ref string `json:"$ref"`
}

func readAsyncAPI(t *testing.T) (text []byte, doc asyncDoc) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docsDir, AsyncAPIFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return text, doc
}

// The document holds against the schema that the AsyncAPI Initiative publishes.
func TestAsyncAPIIsWellFormed(t *testing.T) {
	file, err := os.Open("testdata/asyncapi-3.0.0.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	official, err := jsonschema.UnmarshalJSON(plain)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("file:///asyncapi.json", official); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("file:///asyncapi.json")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := readAsyncAPI(t)
	if err := schema.Validate(parse(t, text)); err != nil {
		t.Error(err)
	}
	broken := strings.Replace(string(text), `"action": "receive"`, `"action": "eat"`, 1)
	if schema.Validate(parse(t, []byte(broken))) == nil {
		t.Error("an operation that eats passes: the official schema does not bite")
	}
}

// Every type has its subject, as producers make it, and its payload's definition.
func TestAsyncAPISubjectsAndPayloads(t *testing.T) {
	_, doc := readAsyncAPI(t)
	if len(doc.Channels) != len(projector.Types())+1 || len(doc.Operations) != len(doc.Channels) {
		t.Errorf("%d channels and %d operations: want one for each type and one for the dead", len(doc.Channels), len(doc.Operations))
	}
	for _, typ := range projector.Types() {
		channel := doc.Channels[strings.TrimPrefix(string(typ), "memory.")]
		subject := strings.Replace(channel.Address, "{user}", "c5n6s", 1) // ann in base32hex, worked out by hand
		if want := projector.Subject("ann", typ); subject != want {
			t.Errorf("%s: subject %s: want %s", typ, subject, want)
		}
		message := strings.TrimPrefix(channel.Messages["event"].Ref, "#/components/messages/")
		fragment, ok := strings.CutPrefix(doc.Components.Messages[message].Payload.Schema.Ref, "./"+EventsFile)
		if !ok || fragment != "#/$defs/"+string(typ) {
			t.Errorf("%s: payload %q", typ, doc.Components.Messages[message].Payload.Schema.Ref)
			continue
		}
		newJudge(t, fragment, jsonschema.Draft7) // it is there
	}
}

// Every header of a dead letter that the feed's source names is documented, and no other.
func TestAsyncAPIHeadersOfDeadLetters(t *testing.T) {
	_, doc := readAsyncAPI(t)
	want := []string{"Nats-Msg-Id"}
	files, err := filepath.Glob("../../projector/feed/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if ok && len(spec.Values) == 1 && strings.HasPrefix(spec.Names[0].Name, "Header") {
				if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
					name, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					if strings.HasPrefix(name, "Kith-Dead-") {
						want = append(want, name)
					}
				}
			}
			return true
		})
	}
	var got []string
	for name := range doc.Components.Messages["dead"].Headers.Properties {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 5 {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
