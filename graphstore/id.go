package graphstore

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// MaxIDBytes is the longest id (user, fact, batch, entity, ...) in bytes of UTF-8.
const MaxIDBytes = 512

// CheckID returns an error that shows the value (shortened) and the rule it breaks, or nil: an id is 1 to [MaxIDBytes]
// bytes of valid UTF-8 without control characters. The error text starts with the quoted value, to be prefixed by the
// caller with the field's name.
func CheckID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%q is empty: want 1 to %d bytes", id, MaxIDBytes)
	case len(id) > MaxIDBytes:
		return fmt.Errorf("%s has %d bytes: want at most %d", Shorten(id), len(id), MaxIDBytes)
	case plain(id):
		return nil
	case !utf8.ValidString(id):
		return fmt.Errorf("%s is not valid UTF-8", Shorten(id))
	}
	if i := strings.IndexFunc(id, unicode.IsControl); i >= 0 {
		return fmt.Errorf("%s has a control character at byte %d", Shorten(id), i)
	}
	return nil
}

// plain reports whether an id is printable ASCII, as nearly all are: every edge checks two.
func plain(id string) bool {
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// CanonicalFactID returns the one spelling of a fact id under which the graph and every vector store keep it. A UUID in
// any of its written forms (upper case, braces, urn:uuid:, no hyphens) becomes lower case with hyphens, because vector
// stores canonicalise it and a second spelling would be a second node; everything else stays as it is.
func CanonicalFactID(id string) string {
	switch len(id) {
	case 32, 36, 38, 45: // the lengths uuid.Parse knows; keeps the common non-UUID case free of allocation
		if u, err := uuid.Parse(id); err == nil && wellFormedUUID(id) {
			return u.String()
		}
	}
	return id
}

// wellFormedUUID rejects the 38-byte strings that uuid.Parse accepts without looking at the outer characters.
func wellFormedUUID(id string) bool {
	return len(id) != 38 || (id[0] == '{' && id[37] == '}')
}

// NumericFactID returns the unsigned integer that id spells in canonical decimal ("17", never "017" or "+17").
func NumericFactID(id string) (uint64, bool) {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != id {
		return 0, false
	}
	return n, true
}

// shownBytes bounds what an error message shows of a value.
const shownBytes = 48

// Shorten quotes a value for an error message, cut at a rune boundary to about 48 bytes with its full length noted.
func Shorten(v string) string {
	if len(v) <= shownBytes {
		return strconv.Quote(v)
	}
	cut := shownBytes
	for cut > 0 && !utf8.RuneStart(v[cut]) {
		cut--
	}
	return fmt.Sprintf("%s... (%d bytes)", strconv.Quote(v[:cut]), len(v))
}
