package canary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/google/uuid"
)

// forms returns the byte sequences that stand for a text: itself; as JSON, with and without the characters escaped that
// encoders differ in; and the 16 bytes of a UUID.
func forms(text string) [][]byte {
	all := [][]byte{[]byte(text)}
	add := func(form []byte) {
		if !slices.ContainsFunc(all, func(other []byte) bool { return bytes.Equal(form, other) }) {
			all = append(all, form)
		}
	}
	if quoted, err := json.Marshal(text); err == nil { // <, > and & escaped
		add(quoted[1 : len(quoted)-1])
		add(ascii(quoted[1 : len(quoted)-1]))
	}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) == nil {
		quoted := bytes.TrimSuffix(plain.Bytes(), []byte("\n"))
		add(slices.Clone(quoted[1 : len(quoted)-1]))
		add(ascii(quoted[1 : len(quoted)-1]))
	}
	if id, err := uuid.Parse(text); err == nil {
		add(slices.Clone(id[:]))
		add([]byte(id.String()))
	}
	return all
}

// ascii writes what is not ASCII as JSON escapes, as encoders of other languages do.
func ascii(quoted []byte) []byte {
	var b strings.Builder
	for _, r := range string(quoted) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return []byte(b.String())
}
