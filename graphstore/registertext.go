package graphstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// The text of registers is JSON: {"s": state, "b": base, "f": {field: stamp, ...}} without what there is none of. A stamp is
// [version, rank, event id], with the time in its coding and the source where there are any. A graph has it once for
// each fact, so texts are written and read without reflection, and read with it when they are spelled in another way.

// MarshalText returns the compact text form that stores keep in one column; equal registers give equal text.
func (r Registers) MarshalText() ([]byte, error) {
	text := make([]byte, 1, 64*(2+len(r.Fields)))
	text[0] = '{'
	for _, one := range []struct {
		key   string
		stamp Stamp
	}{{`"s":`, r.State}, {`"b":`, r.Base}} {
		if !one.stamp.IsZero() {
			text = appendStampText(append(separate(text), one.key...), one.stamp)
		}
	}
	if len(r.Fields) > 0 {
		text = append(separate(text), `"f":{`...)
		for _, fs := range r.Fields { // sorted by name
			text = appendStampText(append(appendJSON(separate(text), string(fs.Field)), ':'), fs.Stamp)
		}
		text = append(text, '}')
	}
	return append(text, '}'), nil
}

// separate puts a comma behind what is there of an object.
func separate(text []byte) []byte {
	if text[len(text)-1] == '{' {
		return text
	}
	return append(text, ',')
}

func appendStampText(text []byte, s Stamp) []byte {
	text = strconv.AppendInt(append(text, '['), s.Version, 10)
	text = strconv.AppendUint(append(text, ','), uint64(s.Rank), 10)
	text = appendJSON(append(text, ','), s.EventID)
	if s.At != 0 || s.Source != "" {
		text = strconv.AppendInt(append(text, ','), int64(s.At), 10)
		text = appendJSON(append(text, ','), s.Source)
	}
	return append(text, ']')
}

// appendJSON appends a string as encoding/json spells it.
func appendJSON(text []byte, s string) []byte {
	if plainText(s) {
		return append(append(append(text, '"'), s...), '"')
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // there is no string that cannot be spelled
	}
	return append(text, quoted...)
}

// plainText reports whether a string is spelled in JSON as it is.
func plainText[T string | []byte](s T) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// UnmarshalText is the inverse of [Registers.MarshalText].
func (r *Registers) UnmarshalText(text []byte) error {
	in := registerReader{rest: text}
	if *r = in.registers(); in.ok() {
		return nil
	}
	if err := r.unmarshalJSON(text); err != nil {
		return fmt.Errorf("version registers %s: %w", Shorten(string(text)), err)
	}
	return nil
}

// registerReader reads what MarshalText writes of plain texts, and gives up on anything else.
type registerReader struct {
	rest   []byte
	failed bool
}

// ok reports whether everything was read.
func (t *registerReader) ok() bool { return !t.failed && len(t.rest) == 0 }

// next takes a prefix off, if it is there.
func (t *registerReader) next(prefix string) bool {
	if len(t.rest) < len(prefix) || string(t.rest[:len(prefix)]) != prefix {
		return false
	}
	t.rest = t.rest[len(prefix):]
	return true
}

// want takes a prefix off that has to be there.
func (t *registerReader) want(prefix string) {
	if !t.next(prefix) {
		t.failed = true
	}
}

func (t *registerReader) registers() (r Registers) {
	t.want("{")
	comma := ""
	if t.next(`"s":`) {
		r.State, comma = t.stamp(), ","
	}
	if t.next(comma + `"b":`) {
		r.Base, comma = t.stamp(), ","
	}
	if t.next(comma + `"f":{`) {
		r.Fields = t.fields()
	}
	t.want("}")
	return r
}

// fields reads stamps of fields up to the end of their object.
func (t *registerReader) fields() []FieldStamp {
	fields := make([]FieldStamp, 0, bytes.Count(t.rest, []byte{'['}))
	for !t.failed {
		name := Field(t.text())
		t.want(":")
		if n := len(fields); n > 0 && name <= fields[n-1].Field {
			t.failed = true
		}
		fields = append(fields, FieldStamp{name.known(), t.stamp()})
		if t.next("}") {
			return fields
		}
		t.want(",")
	}
	return nil
}

func (t *registerReader) stamp() (s Stamp) {
	t.want("[")
	s.Version = t.number()
	t.want(",")
	rank := t.number()
	s.Rank = Rank(rank) //nolint:gosec // checked
	t.failed = t.failed || int64(s.Rank) != rank
	t.want(",")
	s.EventID = t.text()
	if t.next(",") {
		s.At = Instant(t.number())
		t.want(",")
		s.Source = t.text()
	}
	t.want("]")
	return s
}

// number reads a whole number in its shortest spelling.
func (t *registerReader) number() int64 {
	end := bytes.IndexAny(t.rest, ",]")
	if end < 0 {
		t.failed = true
		return 0
	}
	digits := t.rest[:end]
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || digits[0] == '+' || (n != 0) == (digits[0] == '0') || (n == 0 && len(digits) > 1) || bytes.HasPrefix(digits, []byte("-0")) {
		t.failed = true
	}
	t.rest = t.rest[end:]
	return n
}

// text reads a string that is spelled as it is.
func (t *registerReader) text() string {
	t.want(`"`)
	end := bytes.IndexByte(t.rest, '"')
	if end < 0 || !plainText(t.rest[:end]) {
		t.failed = true
		return ""
	}
	text := string(t.rest[:end])
	t.rest = t.rest[end+1:]
	return text
}

// known returns the same name without a text of its own, if it is one that is known.
func (f Field) known() Field {
	for _, known := range knownFields {
		if f == known {
			return known
		}
	}
	return f
}

// knownFields are those that a build knows.
var knownFields = []Field{
	FieldAgent, FieldSource, FieldEpisode, FieldBatch, FieldMemoryAt, FieldValidFrom, FieldValidTo, FieldRecordedAt, FieldTags,
	FieldEntities, FieldRelations, FieldNeighbors, FieldTriples, FieldPoint,
}

type registersJSON struct {
	State  *stampJSON          `json:"s"`
	Base   *stampJSON          `json:"b"`
	Fields map[Field]stampJSON `json:"f"`
}

type stampJSON Stamp

func (s *stampJSON) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	into := []any{&s.Version, &s.Rank, &s.EventID, (*int64)(&s.At), &s.Source}
	if len(raw) == 3 { // nothing known of where the write came from
		into = into[:3]
	}
	if len(raw) != len(into) {
		return fmt.Errorf("stamp %s: want 3 or %d items, got %d", Shorten(string(data)), len(into), len(raw))
	}
	for i := range into {
		if err := json.Unmarshal(raw[i], into[i]); err != nil {
			return err
		}
	}
	return nil
}

// unmarshalJSON reads any spelling.
func (r *Registers) unmarshalJSON(text []byte) error {
	var in registersJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*r = Registers{}
	if in.State != nil {
		r.State = Stamp(*in.State)
	}
	if in.Base != nil {
		r.Base = Stamp(*in.Base)
	}
	for f, s := range in.Fields {
		r.Fields = append(r.Fields, FieldStamp{f, Stamp(s)})
	}
	slices.SortFunc(r.Fields, func(a, b FieldStamp) int { return bytes.Compare([]byte(a.Field), []byte(b.Field)) })
	return nil
}
