package eventcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/kithgraph/kith/projector"
)

// broken explains text that is no JSON, or no event as a whole. The line is the one where reading stopped.
func (e *checking) broken(err *projector.FieldError) {
	f := Finding{Severity: Error, Place: e.at, EventID: e.id(), Path: err.Path, Rule: err.Problem}
	var syntax *json.SyntaxError
	var whole json.RawMessage
	if errors.As(json.Unmarshal(e.data, &whole), &syntax) {
		read := e.data[:min(int(syntax.Offset), len(e.data))]
		f.Line += bytes.Count(bytes.TrimRight(read, "\n"), []byte("\n"))
		f.Hint = syntaxHint(e.data, read)
	}
	e.findings = append(e.findings, f)
}

// syntaxHint returns what is the matter with text that could be read so far, for what encoders and hands usually do.
func syntaxHint(data, read []byte) string {
	rest := string(data[max(0, len(read)-1):])
	switch {
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return "the file begins with a byte order mark: store it as UTF-8 without one"
	case strings.HasPrefix(rest, "NaN"), strings.HasPrefix(rest, "Infinity"), strings.HasPrefix(rest, "I"), strings.HasPrefix(rest, "-I"):
		return "JSON has no NaN and no Infinity: leave the item out"
	case strings.HasPrefix(rest, "'"):
		return `strings stand in double quotes: this is how some languages print, not JSON`
	case strings.HasPrefix(rest, "None"), strings.HasPrefix(rest, "True"), strings.HasPrefix(rest, "False"):
		return "JSON spells it null, true and false: this is how Python prints"
	case strings.HasPrefix(rest, "}"), strings.HasPrefix(rest, "]"):
		if before := bytes.TrimSpace(read[:len(read)-1]); bytes.HasSuffix(before, []byte(",")) {
			return "the comma before it is one too many"
		}
	case len(read) == len(data):
		return "the text is cut off: one event stands on one line, or is the only one of its file"
	}
	return ""
}
