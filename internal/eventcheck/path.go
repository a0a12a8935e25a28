package eventcheck

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// lookUp returns what stands at a path of a [projector.FieldError], if that can be told: a key that the path quotes
// because it would confuse the reader is not looked for.
func lookUp(doc map[string]any, path string) (value any, found bool) {
	if doc == nil || path == "" || path == "$" {
		return nil, false
	}
	value = doc
	for _, part := range strings.Split(path, ".") {
		key, indexes, _ := strings.Cut(part, "[")
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, found = object[key]; !found {
			return nil, false
		}
		for indexes != "" {
			number, rest, _ := strings.Cut(indexes, "]")
			list, _ := value.([]any)
			i, err := strconv.Atoi(number)
			if err != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			value, indexes = list[i], strings.TrimPrefix(rest, "[")
		}
	}
	return value, true
}

// maxShownValue bounds what a finding shows of a value, in bytes.
const maxShownValue = 200

// shown returns a value as a finding shows it.
func shown(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return nil // made of parsed JSON
	}
	if len(text) <= maxShownValue {
		return text
	}
	text, _ = json.Marshal(strings.ToValidUTF8(string(text[:maxShownValue]), "") + "...")
	return text
}

// withoutValue returns the rule of an error that begins with the value it is about.
func withoutValue(rule string, value any) string {
	var texts []string
	switch v := value.(type) {
	case string:
		texts = []string{graphstore.Shorten(v)}
	case json.Number:
		texts = []string{v.String(), graphstore.Shorten(v.String())}
		if x, err := v.Float64(); err == nil {
			texts = append(texts, fmt.Sprint(x))
		}
	}
	for _, text := range texts {
		rest, ok := strings.CutPrefix(rule, text)
		if ok && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ": ")) {
			return strings.TrimLeft(rest, ": ")
		}
	}
	return rule
}
