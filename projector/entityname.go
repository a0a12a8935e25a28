package projector

import (
	"cmp"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// EntityName names an entity in a decision about it, as a mention in a fact would.
type EntityName struct {
	Name string `json:"name"` // any spelling of it; has a visible character
	// Type is a type the projector is configured with; anything else, also nothing, is [TypeThing].
	Type string `json:"type,omitempty"`
}

// entityName reads a required entity of a decision.
func (f *fields) entityName(key string) EntityName {
	n := f.take(key)
	if f.err != nil {
		return EntityName{}
	}
	if n == nil || n.kind != nodeObject {
		f.fail(key, n, wantObject)
		return EntityName{}
	}
	inner := fields{node: n}
	name := EntityName{Name: inner.text("name"), Type: inner.optionalText("type").Value}
	if inner.err != nil {
		f.err = under(key, inner.err)
	}
	return name
}

func (e EntityName) validate() error {
	if err := checkName("name", e.Name); err != nil {
		return err
	}
	return checkText("type", e.Type)
}

// same reports whether two names are one under every configuration. Names that only a configuration makes one (a
// synonym of a type, a legal suffix) are for planning to see.
func (e EntityName) same(o EntityName) bool {
	return typeWord(e.Type) == typeWord(o.Type) && NormalizeName(e.Name) == NormalizeName(o.Name)
}

// typeWord returns the word for a type as planning looks it up.
func typeWord(typ string) string {
	return cmp.Or(strings.ToLower(strings.TrimSpace(typ)), TypeThing)
}

// checkName refuses a name that nobody could see. In a mention it is dropped and counted; here it is all there is.
func checkName(field, name string) error {
	if err := checkText(field, name); err != nil {
		return err
	}
	if NormalizeName(name) == "" {
		return badField(field, "%s has no visible character: want one at least", graphstore.Shorten(name))
	}
	return nil
}
