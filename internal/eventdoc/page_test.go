package eventdoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kithgraph/kith/projector"
)

// blocks returns the indented blocks of a page.
func blocks(page string) []string {
	var list []string
	var block strings.Builder
	for line := range strings.Lines(page + "\n") {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			block.WriteString(code)
		} else if block.Len() > 0 {
			list = append(list, block.String())
			block.Reset()
		}
	}
	return list
}

// Every event that the page for people shows is a good one.
func TestEventsOfThePageAreGood(t *testing.T) {
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	j := newJudge(t, "", jsonschema.Draft2020)
	events := 0
	for _, block := range blocks(string(page)) {
		dec := json.NewDecoder(strings.NewReader(block))
		for strings.Contains(block, `"specversion"`) {
			var event json.RawMessage
			if err := dec.Decode(&event); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, block)
			}
			events++
			if !agreeing(t, j, event) {
				t.Errorf("%v: %s", decodes(event), event)
			}
		}
	}
	if events < 3 {
		t.Errorf("%d events on the page", events)
	}
}

// The page for people knows every type.
func TestPageNamesEveryType(t *testing.T) {
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range projector.Types() {
		if typ == projector.TypeFactRestored {
			continue // stands behind fact.shadowed
		}
		if !bytes.Contains(page, []byte("`"+string(typ)+"`")) {
			t.Errorf("%s is not on the page", typ)
		}
	}
}
