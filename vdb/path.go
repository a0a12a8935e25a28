package vdb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/kithgraph/kith/graphstore"
)

// PathJSON is the step of a [Path] that reads a text as the JSON object it holds.
const PathJSON = "@json"

// Path is where a value lies in a payload: the keys of nested objects from the outside in, with [PathJSON] after the key
// of a text that is to be read as JSON.
type Path []string

// ParsePath reads keys separated by dots, quoted where they hold more than letters, digits, '_' and '-', as in
// metadata.user_id or metadata."user id". A key whose value is a JSON object in a text has @json behind it, as in
// _node_content@json.text.
func ParsePath(text string) (Path, error) {
	var p Path
	rest := text
	for {
		key, after, err := cutKey(text, rest)
		if err != nil {
			return nil, err
		}
		p, rest = append(p, key), after
		if inner, ok := strings.CutPrefix(rest, PathJSON); ok {
			if !strings.HasPrefix(inner, ".") {
				return nil, badPath(text, "@json stands between a key and a dot")
			}
			p, rest = append(p, PathJSON), inner
		}
		if rest == "" {
			return p, nil
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "."); !ok {
			return nil, badPath(text, "a key holds a character that needs quotes")
		}
	}
}

// cutKey reads one key of the path text.
func cutKey(text, rest string) (key, after string, err error) {
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		if key, rest, ok = strings.Cut(quoted, `"`); !ok {
			return "", "", badPath(text, "a quote is not closed")
		}
	} else {
		key, rest = cutBareKey(rest)
	}
	switch {
	case key == "" || strings.Contains(key, `\`):
		return "", "", badPath(text, "a key is empty or holds a back-slash")
	case key == PathJSON:
		return "", "", badPath(text, "no key is called @json")
	}
	return key, rest, nil
}

func badPath(text, rule string) error {
	return fmt.Errorf(`path %s: %s: want keys separated by dots, as in metadata.user_id or metadata."user id"`, graphstore.Shorten(text), rule)
}

func cutBareKey(s string) (key, rest string) {
	end := strings.IndexFunc(s, needsQuotes)
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

func needsQuotes(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '-'
}

// String writes the path as [ParsePath] reads it.
func (p Path) String() string {
	var b strings.Builder
	for i, key := range p {
		if key == PathJSON {
			b.WriteString(key)
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		if key == "" || strings.ContainsFunc(key, needsQuotes) {
			key = `"` + key + `"`
		}
		b.WriteString(key)
	}
	return b.String()
}

// Find returns the value at the path of an object of JSON types, as Payload.Extra has them. A null is a value.
func (p Path) Find(object map[string]any) (any, bool) {
	var v any = object
	for _, key := range p {
		if key == PathJSON {
			text, ok := v.(string)
			if !ok {
				return nil, false
			}
			if v, ok = jsonObject(text); !ok {
				return nil, false
			}
			continue
		}
		inner, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = inner[key]; !ok {
			return nil, false
		}
	}
	return v, true
}

// jsonObject reads a JSON object with the types that Payload.Extra has.
func jsonObject(text string) (any, bool) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil || object == nil {
		return nil, false
	}
	return extraValue(object), true
}

// extraValue replaces the decoder's numbers by integers where they are some, else by fractions.
func extraValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		x, err := v.Float64()
		if err != nil { // beyond what a float holds
			return v.String()
		}
		return x
	case []any:
		for i := range v {
			v[i] = extraValue(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = extraValue(v[key])
		}
	}
	return v
}
