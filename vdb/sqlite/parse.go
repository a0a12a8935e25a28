package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// parser reads the JSON that appendJSON writes, without blanks. It exists because a first search of a large user reads
// such texts by the ten thousand, and the standard decoder, asked to keep integers apart from floats, takes about four
// times as long.
type parser struct {
	text []byte
	at   int
}

var errJSON = errors.New("not the JSON this store writes")

// parseExtra reads the fields of Payload.Extra.
func parseExtra(text []byte) (map[string]any, error) {
	v, err := parseJSON(text)
	object, ok := v.(map[string]any)
	if err == nil && !ok {
		err = errJSON
	}
	if err != nil {
		return nil, fmt.Errorf("read extra fields: %w", err)
	}
	return object, nil
}

// parseTags reads a list of texts.
func parseTags(text []byte) ([]string, error) {
	v, err := parseJSON(text)
	list, ok := v.([]any)
	if err == nil && !ok {
		err = errJSON
	}
	tags := make([]string, len(list))
	for i, tag := range list {
		if tags[i], ok = tag.(string); !ok {
			err = errJSON
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read tags: %w", err)
	}
	return tags, nil
}

func parseJSON(text []byte) (any, error) {
	p := parser{text: text}
	v, err := p.value(0)
	if err == nil && p.at != len(text) {
		err = errJSON
	}
	return v, err
}

func (p *parser) value(depth int) (any, error) {
	if depth > maxNesting {
		return nil, errJSON
	}
	switch c := p.peek(); {
	case c == '"':
		return p.string()
	case c == '[':
		return p.list(depth + 1)
	case c == '{':
		return p.object(depth + 1)
	case p.skip("null"):
		return nil, nil
	case p.skip("true"):
		return true, nil
	case p.skip("false"):
		return false, nil
	default:
		return p.number()
	}
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// skip moves behind the word if that comes next.
func (p *parser) skip(word string) bool {
	if !bytes.HasPrefix(p.text[p.at:], []byte(word)) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) list(depth int) (any, error) {
	p.at++
	list := []any{}
	for !p.skip("]") {
		if len(list) > 0 && !p.skip(",") {
			return nil, errJSON
		}
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (p *parser) object(depth int) (any, error) {
	p.at++
	object := map[string]any{}
	for !p.skip("}") {
		if len(object) > 0 && !p.skip(",") {
			return nil, errJSON
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		if !p.skip(":") {
			return nil, errJSON
		}
		if object[key], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// string reads a text; one with an escape, which is rare, by the standard decoder.
func (p *parser) string() (string, error) {
	if !p.skip(`"`) {
		return "", errJSON
	}
	start, escaped := p.at, false
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\\':
			escaped = true
			p.at++
		case '"':
			p.at++
			if !escaped {
				return string(p.text[start : p.at-1]), nil
			}
			var s string
			if json.Unmarshal(p.text[start-1:p.at], &s) != nil {
				return "", errJSON
			}
			return s, nil
		}
	}
	return "", errJSON
}

// number reads an int64, or a float64 when it has a point or an exponent.
func (p *parser) number() (any, error) {
	start, float := p.at, false
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		if c == '.' || c == 'e' {
			float = true
		} else if c != '-' && c != '+' && (c < '0' || c > '9') {
			break
		}
	}
	text := string(p.text[start:p.at])
	if float {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errJSON
		}
		return f, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, errJSON
	}
	return n, nil
}
