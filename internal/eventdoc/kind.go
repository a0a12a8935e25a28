package eventdoc

import (
	"math"
	"strconv"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// kind is what the Go type string does not say of a member.
type kind uint8

const (
	plain    kind = iota // no string
	anID                 // 1 to graphstore.MaxIDBytes bytes without control characters, or an integer
	aText                // any text without NUL
	aName                // a text with a visible character
	aTypeTag             // empty or like an id; never an integer
	anOp                 // add or update
	aLevel               // the one level of schemas
	aReason              // a text of bounded length
)

// The patterns hold in the dialects of ECMA 262, RE2, Java, .NET and Python alike: no anchors before a line feed, no
// classes that Unicode widens in one and not in another but \S, whose narrowest reading is right here.
const (
	controlPattern = `[\x00-\x1f\x7f-\x9f]`
	nulPattern     = `\x00`
	visiblePattern = `\S`
	// timePattern is RFC 3339 without small letters, second 60 and offsets that are none. That the day is one of its
	// month is for "format" to say.
	timePattern = `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
)

// none returns the schema of what must not be: a string that has the pattern somewhere. Without its type, it would be
// everything that is no string too.
func none(pattern string) *Schema { return &Schema{Type: kinds{"string"}, Pattern: pattern} }

func (k kind) schema() *Schema {
	switch k {
	case anID:
		return &Schema{Type: kinds{"string", "integer"}, MinLength: 1, MaxLength: graphstore.MaxIDBytes, Not: none(controlPattern)}
	case aText:
		return &Schema{Type: kinds{"string"}, Not: none(nulPattern)}
	case aName:
		return &Schema{Type: kinds{"string"}, Pattern: visiblePattern, Not: none(nulPattern)}
	case aTypeTag:
		return &Schema{Type: kinds{"string"}, MaxLength: graphstore.MaxIDBytes, Not: none(controlPattern)}
	case anOp:
		return &Schema{Type: kinds{"string"}, Enum: []string{string(projector.OpAdd), string(projector.OpUpdate)}}
	case aLevel:
		return &Schema{Type: kinds{"string"}, Const: graphstore.LevelSchema}
	case aReason:
		return &Schema{Type: kinds{"string"}, MaxLength: projector.MaxEvidenceBytes, Not: none(nulPattern)}
	default:
		panic("eventdoc: no schema for strings of kind " + strconv.Itoa(int(k)))
	}
}

func timeSchema() *Schema {
	return &Schema{Type: kinds{"string"}, Format: "date-time", Pattern: timePattern}
}

func versionSchema() *Schema {
	zero, most := int64(0), int64(math.MaxInt64)
	return &Schema{Type: kinds{"integer"}, Minimum: &zero, Maximum: &most}
}
