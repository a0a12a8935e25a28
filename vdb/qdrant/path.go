package qdrant

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/kithgraph/kith/graphstore"
)

// path is where a value lies in a payload: the keys of nested objects from the outside in.
type path []string

// parsePath reads keys separated by dots, quoted where they hold more than letters, digits, '_' and '-'.
func parsePath(text string) (path, error) {
	var p path
	rest := text
	for {
		var key string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			if key, rest, ok = strings.Cut(quoted, `"`); !ok {
				return nil, badPath(text, "a quote is not closed")
			}
		} else {
			key, rest = cutBareKey(rest)
		}
		if key == "" || strings.Contains(key, `\`) {
			return nil, badPath(text, "a key is empty or holds a back-slash")
		}
		p = append(p, key)
		if rest == "" {
			return p, nil
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "."); !ok {
			return nil, badPath(text, "a key holds a character that needs quotes")
		}
	}
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

// String writes the path as the server reads it.
func (p path) String() string {
	var b strings.Builder
	for i, key := range p {
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

// expressible reports whether the server's path language has a spelling for the keys: it has no escapes inside quotes.
func (p path) expressible() bool {
	for _, key := range p {
		if strings.ContainsAny(key, `"\`) {
			return false
		}
	}
	return true
}

// covers reports whether q lies at p or inside of it.
func (p path) covers(q path) bool {
	if len(p) > len(q) {
		return false
	}
	for i, key := range p {
		if q[i] != key {
			return false
		}
	}
	return true
}

// take removes the value at the path and returns it, and the objects around it that are empty then.
func (p path) take(object map[string]any) (any, bool) {
	v, ok := object[p[0]]
	if !ok {
		return nil, false
	}
	if len(p) == 1 {
		delete(object, p[0])
		return v, true
	}
	inner, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	taken, ok := p[1:].take(inner)
	if ok && len(inner) == 0 {
		delete(object, p[0])
	}
	return taken, ok
}

// put sets the value at the path. It reports false, and changes nothing that was there, where something else is in the
// way.
func (p path) put(object map[string]any, v any) bool {
	existing, taken := object[p[0]]
	if len(p) == 1 {
		if !taken {
			object[p[0]] = v
		}
		return !taken
	}
	inner, ok := existing.(map[string]any)
	if taken && !ok {
		return false
	}
	if !taken {
		inner = map[string]any{}
		object[p[0]] = inner
	}
	return p[1:].put(inner, v)
}
