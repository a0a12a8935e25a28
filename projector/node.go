package projector

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kithgraph/kith/graphstore"
)

// node is one JSON value. It keeps what decoding into structs would lose: whether a key is there, and its null.
type node struct {
	kind       nodeKind
	text       string   // a string's value, a number's or boolean's literal
	keys       []string // an object's keys, parallel to items
	items      []node
	start, end int // the value's bytes in the input
}

type nodeKind uint8

const (
	nodeNull nodeKind = iota + 1
	nodeBool
	nodeNumber
	nodeString
	nodeArray
	nodeObject
)

var nodeNames = [...]string{nodeNull: "null", nodeBool: "a boolean", nodeNumber: "a number", nodeString: "a string",
	nodeArray: "an array", nodeObject: "an object"}

// member returns the value of a key, or nil.
func (n *node) member(key string) *node {
	for i, k := range n.keys {
		if k == key {
			return &n.items[i]
		}
	}
	return nil
}

// show describes the value for an error message.
func (n *node) show() string {
	switch n.kind {
	case nodeNumber:
		return shortLiteral(n.text)
	case nodeString:
		return graphstore.Shorten(n.text)
	default:
		return "is " + nodeNames[n.kind]
	}
}

func shortLiteral(number string) string {
	if len(number) > 32 {
		return fmt.Sprintf("%s... (%d digits)", number[:32], len(number))
	}
	return number
}

// parseJSON reads one JSON document. The standard decoder judges the grammar; the walk that follows refuses what that
// decoder would repair or leave ambiguous: invalid UTF-8, NUL, half of a surrogate pair, a key twice in one object, deep
// nesting.
func parseJSON(data []byte) (node, error) {
	var valid json.RawMessage
	if err := json.Unmarshal(data, &valid); err != nil {
		return node{}, describeSyntax(err, len(data))
	}
	p := parser{data: data}
	return p.value(0)
}

// describeSyntax turns an error of the standard decoder into one that says where.
func describeSyntax(err error, size int) error {
	var syntax *json.SyntaxError
	switch {
	case !errors.As(err, &syntax):
		return badField("$", "is not JSON: %v", err)
	case int(syntax.Offset) >= size && strings.HasPrefix(syntax.Error(), "unexpected end"):
		return badField("$", "ends at byte %d inside a JSON value", size)
	default:
		return badField("$", "is not JSON at byte %d: %v", syntax.Offset, syntax)
	}
}

// parser walks over valid JSON.
type parser struct {
	data []byte
	at   int
}

// next returns the first byte behind space and separators, where a value, a key or a closing bracket begins.
func (p *parser) next() byte {
	for strings.IndexByte(" \t\r\n,:", p.data[p.at]) >= 0 {
		p.at++
	}
	return p.data[p.at]
}

func (p *parser) value(depth int) (node, error) {
	n := node{}
	first := p.next()
	n.start = p.at
	var err error
	switch first {
	case '[', '{':
		if depth >= maxDepth {
			return node{}, badField("", "is nested deeper than %d levels", maxDepth)
		}
		p.at++
		if first == '[' {
			n.kind = nodeArray
			err = p.array(&n, depth)
		} else {
			n.kind = nodeObject
			err = p.object(&n, depth)
		}
	case '"':
		n.kind = nodeString
		n.text, err = p.text()
	case 'n':
		n.kind = nodeNull
		p.at += len("null")
	case 't':
		n.kind, n.text = nodeBool, "true"
		p.at += len(n.text)
	case 'f':
		n.kind, n.text = nodeBool, "false"
		p.at += len(n.text)
	default:
		n.kind = nodeNumber
		n.text = p.number()
	}
	n.end = p.at
	return n, err
}

// number returns the literal of the number that begins here.
func (p *parser) number() string {
	start := p.at
	for p.at < len(p.data) && strings.IndexByte("+-.0123456789eE", p.data[p.at]) >= 0 {
		p.at++
	}
	return string(p.data[start:p.at])
}

// text returns the value of the string that begins here.
func (p *parser) text() (string, error) {
	start := p.at
	escaped := false
	for p.at++; p.data[p.at] != '"'; p.at++ {
		if p.data[p.at] == '\\' {
			escaped = true
			p.at++
		}
	}
	p.at++
	raw := p.data[start:p.at]
	value := string(raw[1 : len(raw)-1])
	if escaped {
		if err := json.Unmarshal(raw, &value); err != nil {
			return "", badField("", "is not a JSON string: %v", err)
		}
	}
	return value, checkString(raw, value, escaped)
}

func (p *parser) array(n *node, depth int) error {
	for p.next() != ']' {
		item, err := p.value(depth + 1)
		if err != nil {
			return under(fmt.Sprintf("[%d]", len(n.items)), err)
		}
		n.items = append(n.items, item)
	}
	p.at++
	return nil
}

// indexedKeys is the size of an object from which a map finds a repeated key faster than a scan.
const indexedKeys = 16

func (p *parser) object(n *node, depth int) error {
	var seen map[string]struct{}
	for p.next() != '}' {
		key, err := p.text()
		if err != nil {
			return under("(key)", err)
		}
		if len(n.keys) == indexedKeys {
			seen = make(map[string]struct{}, 2*indexedKeys)
			for _, k := range n.keys {
				seen[k] = struct{}{}
			}
		}
		if _, dup := seen[key]; dup || (seen == nil && n.member(key) != nil) {
			return badField(pathKey(key), "is there twice: want each key once")
		}
		if seen != nil {
			seen[key] = struct{}{}
		}
		val, err := p.value(depth + 1)
		if err != nil {
			return under(pathKey(key), err)
		}
		n.keys = append(n.keys, key)
		n.items = append(n.items, val)
	}
	p.at++
	return nil
}

// pathKey returns a key as it stands in a path: quoted if it would confuse the reader.
func pathKey(key string) string {
	plain := key != "" && len(key) <= 40 && strings.IndexFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
	if plain {
		return key
	}
	return "[" + graphstore.Shorten(key) + "]"
}

// checkString checks the raw bytes of a string token, quotes included, for what the standard decoder silently replaces
// by U+FFFD, and the value for NUL.
func checkString(raw []byte, value string, escaped bool) error {
	if !utf8.Valid(raw) {
		return badField("", "%s is not valid UTF-8", graphstore.Shorten(value))
	}
	if at := strings.IndexByte(value, 0); at >= 0 {
		return badField("", "%s has a NUL at byte %d", graphstore.Shorten(value), at)
	}
	if !escaped {
		return nil
	}
	if half := halfSurrogate(raw); half != "" {
		return badField("", "%s has %s, half of a surrogate pair", graphstore.Shorten(value), half)
	}
	return nil
}

// halfSurrogate returns the first \u escape of a surrogate that is not part of a pair, or "".
func halfSurrogate(raw []byte) string {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // at the escaped character
		if raw[i] != 'u' {
			continue
		}
		esc := string(raw[i-1 : i+5])
		i += 4 // at the last digit
		switch {
		case isSurrogate(esc, "89ab") && i+6 < len(raw) && isSurrogate(string(raw[i+1:i+7]), "cdef"):
			i += 6
		case isSurrogate(esc, "89abcdef"):
			return esc
		}
	}
	return ""
}

// isSurrogate reports whether esc is \uD?xx with the third digit one of second, lower case.
func isSurrogate(esc, second string) bool {
	e := strings.ToLower(esc)
	return strings.HasPrefix(e, `\ud`) && strings.Contains(second, e[3:4])
}
