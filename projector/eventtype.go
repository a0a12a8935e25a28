package projector

import (
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// Type is the name of an event type with its major version.
type Type string

// The event types of the contract.
const (
	TypeFactsWritten    Type = "memory.facts.written.v1"
	TypeFactSuperseded  Type = "memory.fact.superseded.v1"
	TypeFactShadowed    Type = "memory.fact.shadowed.v1"
	TypeFactRestored    Type = "memory.fact.restored.v1"
	TypeFactDeleted     Type = "memory.fact.deleted.v1"
	TypeSourceRetracted Type = "memory.source.retracted.v1"
	TypeUserForgotten   Type = "memory.user.forgotten.v1"
	TypeEntityAliased   Type = "memory.entity.aliased.v1"
	TypeEntityMerged    Type = "memory.entity.merged.v1"
	TypeEntityUnmerged  Type = "memory.entity.unmerged.v1"
	TypeEntityRetyped   Type = "memory.entity.retyped.v1"
	TypeSchemaUpserted  Type = "memory.schema.upserted.v1"
	TypeSchemaDeleted   Type = "memory.schema.deleted.v1"
)

const typePrefix = "memory."

// Types returns every type of the contract, in its order. The caller owns the slice.
func Types() []Type {
	return []Type{
		TypeFactsWritten, TypeFactSuperseded, TypeFactShadowed, TypeFactRestored, TypeFactDeleted, TypeSourceRetracted,
		TypeUserForgotten, TypeEntityAliased, TypeEntityMerged, TypeEntityUnmerged, TypeEntityRetyped, TypeSchemaUpserted,
		TypeSchemaDeleted,
	}
}

// decoders holds, for every type of the contract, the function that reads its data member.
var decoders = map[Type]func(d *decoding) (Data, error){
	TypeFactsWritten:    decodeFactsWritten,
	TypeFactSuperseded:  decodeFactSuperseded,
	TypeFactShadowed:    decodeFactShadowed,
	TypeFactRestored:    decodeFactRestored,
	TypeFactDeleted:     decodeFactDeleted,
	TypeSourceRetracted: decodeSourceRetracted,
	TypeUserForgotten:   decodeUserForgotten,
	TypeEntityAliased:   decodeEntityAliased,
	TypeEntityMerged:    decodeEntityMerged,
	TypeEntityUnmerged:  decodeEntityUnmerged,
	TypeEntityRetyped:   decodeEntityRetyped,
	TypeSchemaUpserted:  decodeSchemaUpserted,
	TypeSchemaDeleted:   decodeSchemaDeleted,
}

// needsTime reports whether an event of the type means nothing without its time: it withdraws what is not later.
func (t Type) needsTime() bool { return t == TypeSourceRetracted || t == TypeUserForgotten }

// parseType returns the known type with this name or an [UnknownTypeError].
func parseType(name string) (Type, error) {
	if _, ok := decoders[Type(name)]; ok {
		return Type(name), nil
	}
	unknown := &UnknownTypeError{Type: graphstore.Shorten(name)}
	if dot := strings.LastIndex(name, ".v"); dot >= 0 && isMajor(name[dot+2:]) {
		_, unknown.Newer = decoders[Type(name[:dot]+".v1")]
	}
	return "", unknown
}

func isMajor(s string) bool {
	return s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}
