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

func factID(spelling string) string { return look(spelling, factTable, neverTable) }

// entityOf returns the type and the normal form of what a spelling names.
func entityOf(typ, name string) (string, string) {
	typ, norm := look(typ, typeTable), look(name, nameTable)
	if typ == "organization" {
		norm = strings.TrimSuffix(norm, " inc")
	}
	return typ, norm
}

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
