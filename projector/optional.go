package projector

import (
	"encoding/json"

	"github.com/kithgraph/kith/graphstore"
)

// Optional is a part of an event that may be left out, which differs from a part that is stated to be empty: an update
// keeps what it leaves out and clears what it states as empty. The zero Optional is left out.
//
// In JSON, left out is an absent key. null states "no value", like JSON Merge Patch (RFC 7396): it is Some of an empty
// string, an absent time or an empty list. A list may state the same as [].
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some returns a stated value.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Set: true} }

// none returns a part that is stated to be empty where o is stated at all.
func none[T any](o Optional[T]) Optional[T] { return Optional[T]{Set: o.Set} }

// IsZero reports whether the part is left out; encoding/json asks it for omitzero.
func (o Optional[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes the value, or null for a stated "no value".
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	switch v := any(o.Value).(type) {
	case string:
		if v == "" {
			return []byte("null"), nil
		}
	case graphstore.Instant:
		if !v.Present() {
			return []byte("null"), nil
		}
	}
	return json.Marshal(o.Value)
}
