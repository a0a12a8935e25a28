package projectortest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The tables that histories draw from, with the normal form of each spelling by hand.
var (
	tagTable = map[string]string{"Work": "work", "work": "work", " WORK ": "work", "home": "home", "Home!": "home", "ｈome": "home",
		"💥": "💥", "  ": "", "???": "???"}

	nameTable = map[string]string{"Asha Rao": "asha rao", "asha-RAO": "asha rao", " Asha Rao": "asha rao", "Acme, Inc.": "acme inc", "ACME": "acme",
		"Ｆｏｏ": "foo", "foo": "foo", "!!": "!!", "\t": "", "Straße": "strasse", "STRASSE": "strasse"}

	typeTable = map[string]string{"person": "person", "Organization": "organization", "": "thing", "starship": "thing"}

	// factTable has one fact in two spellings: UUIDs are known in any.
	factTable = map[string]string{"a": "a", "b": "b", "c": "c",
		"5c56c793-69f3-4fbf-87e6-c4bf54c28c26": "5c56c793-69f3-4fbf-87e6-c4bf54c28c26",
		"5C56C793-69F3-4FBF-87E6-C4BF54C28C26": "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"}

	// neverTable has facts that no history writes.
	neverTable = map[string]string{"x": "x", "y": "y"}
)

// look returns the normal form of a spelling. One that no table has is a mistake of the caller's: the model does not
// normalise.
func look(spelling string, tables ...map[string]string) string {
	for _, t := range tables {
		if norm, ok := t[spelling]; ok {
			return norm
		}
	}
	panic(fmt.Sprintf("projectortest: %q is in none of the tables", spelling))
}

// Forms are normal forms of what the tables do not have, for events that were not drawn from them: of ids of facts, of
// names and types of entities, of tags. Each reports whether it knows a spelling; nil knows none. They must come from
// whoever made the events, not from the projector.
type Forms struct {
	Fact, Name, Type, Tag func(spelling string) (norm string, known bool)
}

func (f Forms) factID(spelling string) string { return either(f.Fact, spelling, factTable, neverTable) }
func (f Forms) tag(spelling string) string    { return either(f.Tag, spelling, tagTable) }

// entityOf returns the type and the normal form of what a spelling names.
func (f Forms) entityOf(typ, name string) (string, string) {
	typ, norm := either(f.Type, typ, typeTable), either(f.Name, name, nameTable)
	if typ == "organization" {
		norm = strings.TrimSuffix(norm, " inc")
	}
	return typ, norm
}

// either asks the caller's forms before the tables.
func either(form func(string) (string, bool), spelling string, tables ...map[string]string) string {
	if form != nil {
		if norm, known := form(spelling); known {
			return norm
		}
	}
	return look(spelling, tables...)
}

func factID(spelling string) string { return look(spelling, factTable, neverTable) }

// visible returns the spellings of a table that are not blank, in order.
func visible(table map[string]string) []string {
	return slices.DeleteFunc(spellings(table), func(s string) bool { return table[s] == "" })
}

func spellings(table map[string]string) []string { return slices.Sorted(maps.Keys(table)) }

// FactIDs returns the canonical ids of every fact that a history may write.
func FactIDs() []string {
	ids := slices.Sorted(maps.Values(factTable))
	return slices.Compact(ids)
}

// SchemaIDs returns the ids of every schema that a history may write.
func SchemaIDs() []string { return []string{"a", "s"} } // a fact has the first one too
