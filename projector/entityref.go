package projector

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// EntityRef is something a fact mentions, in the fact's own words.
type EntityRef struct {
	Name    string              `json:"name"`              // as the fact spells it; a blank name drops the mention
	Type    string              `json:"type,omitempty"`    // a type the projector is configured with; anything else, also nothing, is "thing"
	Aliases []string            `json:"aliases,omitempty"` // other names of the same thing
	IDs     []graphstore.HardID `json:"ids,omitempty"`     // an object of kinds and values
}

// entityJSON is the wire form: hard ids are an object.
type entityJSON struct {
	Name    string            `json:"name"`
	Type    string            `json:"type,omitempty"`
	Aliases []string          `json:"aliases,omitempty"`
	IDs     map[string]string `json:"ids,omitempty"`
}

// MarshalJSON writes the wire form.
func (e EntityRef) MarshalJSON() ([]byte, error) {
	out := entityJSON{Name: e.Name, Type: e.Type, Aliases: e.Aliases}
	if len(e.IDs) > 0 {
		out.IDs = make(map[string]string, len(e.IDs))
		for _, id := range e.IDs {
			out.IDs[id.Kind] = id.Value
		}
	}
	return json.Marshal(out)
}

func readEntityRef(n *node) (EntityRef, error) {
	f, err := objectFields(n)
	if err != nil {
		return EntityRef{}, err
	}
	ref := EntityRef{Name: f.text("name"), Type: f.optionalText("type").Value}
	ref.Aliases = optionalList(f, "aliases", readText).Value
	ref.IDs = readHardIDs(f)
	return ref, f.err
}

// readHardIDs reads the object of ids, sorted by kind.
func readHardIDs(f *fields) []graphstore.HardID {
	n := f.take("ids")
	if n == nil || n.kind == nodeNull {
		return nil
	}
	if n.kind != nodeObject {
		f.fail("ids", n, wantObject)
		return nil
	}
	var ids []graphstore.HardID
	for i, kind := range n.keys {
		value, ok := idText(&n.items[i])
		if !ok {
			f.err = under("ids", badField(pathKey(kind), "%s: want %s", n.items[i].show(), wantID))
			return nil
		}
		ids = append(ids, graphstore.HardID{Kind: kind, Value: value})
	}
	slices.SortFunc(ids, compareHardID)
	return ids
}

func compareHardID(a, b graphstore.HardID) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
}

func (e *EntityRef) validate() error {
	if err := checkText("name", e.Name); err != nil {
		return err
	}
	if err := checkText("type", e.Type); err != nil {
		return err
	}
	for i, alias := range e.Aliases {
		if err := checkText("", alias); err != nil {
			return underItem("aliases", i, err)
		}
	}
	for i, id := range e.IDs {
		if err := graphstore.CheckID(id.Kind); err != nil {
			return under("ids", badField("(key)", "%s", err))
		}
		if err := graphstore.CheckID(id.Value); err != nil {
			return under("ids", badField(pathKey(id.Kind), "%s", err))
		}
		if slices.ContainsFunc(e.IDs[:i], func(o graphstore.HardID) bool { return o.Kind == id.Kind }) {
			return under("ids", badField(pathKey(id.Kind), "is there twice: want each kind once"))
		}
	}
	return nil
}
