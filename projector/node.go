package projector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kithgraph/kith/graphstore"
)

// node is one JSON value. It keeps what decoding into structs would lose: whether a key is there, and its null.
type node struct {
	kind       nodeKind
	text       string   // a string's value, a number's literal
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

// parseJSON reads one JSON document. Beyond the grammar it refuses what the standard decoder would repair or leave
// ambiguous: invalid UTF-8, NUL, half of a surrogate pair, a key twice in one object, deep nesting, and bytes behind
// the value.
func parseJSON(data []byte) (node, error) {
	p := parser{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return node{}, p.describe(err)
	}
	if rest := bytes.TrimLeft(data[n.end:], " \t\r\n"); len(rest) > 0 {
		return node{}, badField("$", "has %d bytes behind the JSON value, from byte %d", len(rest), len(data)-len(rest))
	}
	return n, nil
}

type parser struct {
	data []byte
	dec  *json.Decoder
}

// describe turns an error of the standard decoder into one that says where.
func (p *parser) describe(err error) error {
	var syntax *json.SyntaxError
	var fe *FieldError
	switch {
	case errors.As(err, &fe):
		return err
	case errors.As(err, &syntax):
		return badField("$", "is not JSON at byte %d: %v", syntax.Offset, syntax)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return badField("$", "ends at byte %d inside a JSON value", len(p.data))
	default:
		return badField("$", "is not JSON: %v", err)
	}
}

func (p *parser) value(depth int) (node, error) {
	before := int(p.dec.InputOffset())
	tok, err := p.dec.Token()
	if err != nil {
		return node{}, err
	}
	n := node{start: p.tokenStart(before), end: int(p.dec.InputOffset())}
	switch t := tok.(type) {
	case json.Delim:
		if depth >= maxDepth {
			return node{}, badField("", "is nested deeper than %d levels", maxDepth)
		}
		if t == '[' {
			n.kind = nodeArray
			err = p.array(&n, depth)
		} else {
			n.kind = nodeObject
			err = p.object(&n, depth)
		}
		n.end = int(p.dec.InputOffset())
		return n, err
	case string:
		n.kind, n.text = nodeString, t
		return n, checkString(p.data[n.start:n.end], t)
	case json.Number:
		n.kind, n.text = nodeNumber, t.String()
	case bool:
		n.kind = nodeBool
	case nil:
		n.kind = nodeNull
	}
	return n, nil
}

// tokenStart returns where the token that was just read begins: behind the separators that follow the one before it.
func (p *parser) tokenStart(before int) int {
	for before < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[before]) >= 0 {
		before++
	}
	return before
}

func (p *parser) array(n *node, depth int) error {
	for i := 0; p.dec.More(); i++ {
		item, err := p.value(depth + 1)
		if err != nil {
			return under(fmt.Sprintf("[%d]", i), err)
		}
		n.items = append(n.items, item)
	}
	_, err := p.dec.Token() // the closing bracket, or what is wrong with it
	return err
}

// indexedKeys is the size of an object from which a map finds a repeated key faster than a scan.
const indexedKeys = 16

func (p *parser) object(n *node, depth int) error {
	var seen map[string]struct{}
	for p.dec.More() {
		key, err := p.value(depth)
		if err != nil {
			return under("(key)", err)
		}
		if len(n.keys) == indexedKeys {
			seen = make(map[string]struct{}, 2*indexedKeys)
			for _, k := range n.keys {
				seen[k] = struct{}{}
			}
		}
		if _, dup := seen[key.text]; dup || (seen == nil && n.member(key.text) != nil) {
			return badField(pathKey(key.text), "is there twice: want each key once")
		}
		if seen != nil {
			seen[key.text] = struct{}{}
		}
		val, err := p.value(depth + 1)
		if err != nil {
			return under(pathKey(key.text), err)
		}
		n.keys = append(n.keys, key.text)
		n.items = append(n.items, val)
	}
	_, err := p.dec.Token()
	return err
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
func checkString(raw []byte, value string) error {
	if !utf8.Valid(raw) {
		return badField("", "%s is not valid UTF-8", graphstore.Shorten(value))
	}
	if at := strings.IndexByte(value, 0); at >= 0 {
		return badField("", "%s has a NUL at byte %d", graphstore.Shorten(value), at)
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
