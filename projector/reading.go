package projector

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// fields reads the members of one object and keeps the first thing that is wrong with their shape. Rules on values are
// not its business: they hold for events put together in Go too and stand in the validate methods.
type fields struct {
	node *node
	err  error
}

// take returns the member if it is there, or nil; never one after an error.
func (f *fields) take(key string) *node {
	if f.err != nil {
		return nil
	}
	return f.node.member(key)
}

func (f *fields) fail(key string, n *node, want string) {
	if n == nil {
		f.err = badField(key, "is missing: want %s", want)
		return
	}
	f.err = badField(key, "%s: want %s", n.show(), want)
}

const (
	wantID     = "a string or an integer"
	wantText   = "a string"
	wantTime   = "RFC 3339 with a zone, like 2026-09-01T00:00:00Z"
	wantArray  = "an array"
	wantObject = "an object"
	wantNumber = "a number"
)

// id reads a required id.
func (f *fields) id(key string) string {
	n := f.take(key)
	if f.err != nil {
		return ""
	}
	id, ok := idText(n)
	if !ok {
		f.fail(key, n, wantID)
	}
	return id
}

// optionalID reads an id that may be left out or null. An empty string is neither.
func (f *fields) optionalID(key string) Optional[string] {
	n := f.take(key)
	switch {
	case n == nil:
		return Optional[string]{}
	case n.kind == nodeNull:
		return Some("")
	}
	id, ok := idText(n)
	if !ok {
		f.fail(key, n, wantID)
	} else if id == "" {
		f.err = badField(key, `"" is empty: want an id, or null for none`)
	}
	return Some(id)
}

// idText returns the id that a string or an integer states.
func idText(n *node) (string, bool) {
	if n == nil {
		return "", false
	}
	switch n.kind {
	case nodeString:
		return n.text, true
	case nodeNumber:
		if n.text == "-0" {
			return "0", true
		}
		return n.text, strings.Trim(n.text, "-0123456789") == ""
	default:
		return "", false
	}
}

// text reads a required string.
func (f *fields) text(key string) string {
	n := f.take(key)
	if f.err != nil {
		return ""
	}
	if n == nil || n.kind != nodeString {
		f.fail(key, n, wantText)
		return ""
	}
	return n.text
}

// optionalText reads a string that may be left out or null.
func (f *fields) optionalText(key string) Optional[string] {
	n := f.take(key)
	switch {
	case n == nil:
		return Optional[string]{}
	case n.kind == nodeNull:
		return Some("")
	case n.kind != nodeString:
		f.fail(key, n, wantText)
	}
	return Some(n.text)
}

// optionalTime reads a time that may be left out or null.
func (f *fields) optionalTime(key string) Optional[graphstore.Instant] {
	n := f.take(key)
	switch {
	case n == nil:
		return Optional[graphstore.Instant]{}
	case n.kind == nodeNull:
		return Some(graphstore.Instant(0))
	case n.kind != nodeString:
		f.fail(key, n, wantTime)
		return Optional[graphstore.Instant]{}
	}
	at, err := parseTime(n.text)
	if err != nil {
		f.err = under(key, err)
	}
	return Some(at)
}

// parseTime reads an RFC 3339 time, truncated to the microsecond.
func parseTime(s string) (graphstore.Instant, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || looseTime(s) {
		if _, naive := time.Parse("2006-01-02T15:04:05", s); naive == nil {
			return 0, badField("", "%s has no zone, and none is guessed: want %s", graphstore.Shorten(s), wantTime)
		}
		return 0, badField("", "%s: want %s", graphstore.Shorten(s), wantTime)
	}
	if t.IsZero() {
		return 0, badField("", "%s is the zero time of some languages: leave it out, or null for no time", graphstore.Shorten(s))
	}
	return graphstore.InstantOf(t), nil
}

// looseTime reports whether a time is in a form that the standard parser takes and RFC 3339 does not have: a one-digit
// hour, a comma before the fraction, an offset of a day or of 60 minutes (golang.org/issue/54580).
func looseTime(s string) bool {
	const hourEnd, offsetLen = len("2006-01-02T15"), len("+00:00")
	offset := s[max(0, len(s)-offsetLen):]
	return len(s) <= hourEnd || s[hourEnd] != ':' || strings.Contains(s, ",") ||
		(!strings.HasSuffix(s, "Z") && (offset[1:3] > "23" || offset[4:] > "59"))
}

// optionalInt reads an int64 that may be left out or null, which is the same here.
func (f *fields) optionalInt(key string) Optional[int64] {
	n := f.take(key)
	if n == nil || n.kind == nodeNull {
		return Optional[int64]{}
	}
	i, err := strconv.ParseInt(n.text, 10, 64)
	if n.kind != nodeNumber || err != nil {
		f.fail(key, n, "an integer of at most 64 bits")
		return Optional[int64]{}
	}
	return Some(i)
}

// number reads a required number.
func (f *fields) number(key string) float64 {
	n := f.take(key)
	if f.err != nil {
		return 0
	}
	if n == nil || n.kind != nodeNumber {
		f.fail(key, n, wantNumber)
		return 0
	}
	x, err := strconv.ParseFloat(n.text, 64)
	if err != nil || math.IsInf(x, 0) {
		f.fail(key, n, "a number that a float64 holds")
	}
	return x
}

// optionalNumber reads a number that may be left out or null, which is the same here.
func (f *fields) optionalNumber(key string) Optional[float64] {
	if n := f.take(key); n == nil || n.kind == nodeNull {
		return Optional[float64]{}
	}
	return Some(f.number(key))
}

// optionalList reads an array that may be left out or null, item by item. Some is never of a non-nil empty slice, so
// that [] and null are the same value.
func optionalList[T any](f *fields, key string, read func(n *node) (T, error)) Optional[[]T] {
	n := f.take(key)
	if n == nil {
		return Optional[[]T]{}
	}
	if n.kind == nodeNull {
		return Some[[]T](nil)
	}
	if n.kind != nodeArray {
		f.fail(key, n, wantArray)
		return Optional[[]T]{}
	}
	var list []T
	for i := range n.items {
		item, err := read(&n.items[i])
		if err != nil {
			f.err = underItem(key, i, err)
			return Optional[[]T]{}
		}
		list = append(list, item)
	}
	return Some(list)
}

// readText reads a string that is an item of a list.
func readText(n *node) (string, error) {
	if n.kind != nodeString {
		return "", badField("", "%s: want %s", n.show(), wantText)
	}
	return n.text, nil
}

// objectFields returns a reader for the members of an object that is an item of a list.
func objectFields(n *node) (*fields, error) {
	if n.kind != nodeObject {
		return nil, badField("", "%s: want %s", n.show(), wantObject)
	}
	return &fields{node: n}, nil
}
