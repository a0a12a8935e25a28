package eventdoc

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// deriver turns Go types into schemas. Objects that stand inside others become definitions of their own.
type deriver struct {
	defs Members
	used map[string]map[string]bool // members of the table that were looked up
}

var (
	instantType = reflect.TypeFor[graphstore.Instant]()
	hardIDsType = reflect.TypeFor[[]graphstore.HardID]()
)

// object returns the schema of a struct. Its members are the fields with their JSON names, required unless their zero
// value is left out of the JSON.
func (d *deriver) object(t reflect.Type) (*Schema, error) {
	s := &Schema{Type: kinds{"object"}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		m, ok := members[t.Name()][name]
		if !ok {
			return nil, fmt.Errorf("member %q of %s: not in the table of members", name, t.Name())
		}
		d.use(t.Name(), name)
		member, err := d.value(f.Type, m)
		if err != nil {
			return nil, fmt.Errorf("member %q of %s: %w", name, t.Name(), err)
		}
		member.Description = m.text
		if strings.HasPrefix(options, "omit") {
			member.Type = orNull(member.Type)
			if member.Ref != "" {
				return nil, fmt.Errorf("member %q of %s: an object that may be null is not provided for", name, t.Name())
			}
		} else {
			s.Required = append(s.Required, name)
		}
		s.Properties = append(s.Properties, Member{name, member})
	}
	return s, nil
}

func (d *deriver) use(owner, name string) {
	if d.used[owner] == nil {
		d.used[owner] = map[string]bool{}
	}
	d.used[owner][name] = true
}

func orNull(types kinds) kinds { return append(slices.Clone(types), "null") }

// value returns the schema of a member's type.
func (d *deriver) value(t reflect.Type, m member) (*Schema, error) {
	if inner, ok := optional(t); ok {
		return d.value(inner, m)
	}
	switch {
	case t == instantType:
		return timeSchema(), nil
	case t == hardIDsType:
		key := anID.schema()
		key.Type = kinds{"string"}
		return &Schema{Type: kinds{"object"}, PropertyNames: key, AdditionalProperties: anID.schema()}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return m.kind.schema(), nil
	case reflect.Int64:
		return versionSchema(), nil
	case reflect.Float64:
		return &Schema{Type: kinds{"number"}}, nil
	case reflect.Slice:
		items, err := d.value(t.Elem(), m)
		return &Schema{Type: kinds{"array"}, Items: items, MaxItems: m.most}, err
	case reflect.Struct:
		return d.reference(t)
	default:
		return nil, fmt.Errorf("no schema for Go type %s", t)
	}
}

// reference makes a definition of a struct, once, and refers to it.
func (d *deriver) reference(t reflect.Type) (*Schema, error) {
	name, ok := objectNames[t.Name()]
	if !ok {
		return nil, fmt.Errorf("no definition for Go type %s: not in the table of objects", t)
	}
	if d.defs.Get(name) == nil {
		s, err := d.object(t)
		if err != nil {
			return nil, err
		}
		d.defs = append(d.defs, Member{name, s})
	}
	return &Schema{Ref: refTo(name)}, nil
}

func refTo(name string) string { return "#/$defs/" + name }

// optional returns T of projector.Optional[T].
func optional(t reflect.Type) (reflect.Type, bool) {
	prefix, _, _ := strings.Cut(reflect.TypeFor[projector.Optional[int]]().Name(), "[")
	if t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), prefix+"[") && t.PkgPath() == reflect.TypeFor[projector.Event]().PkgPath() {
		return t.Field(0).Type, true
	}
	return nil, false
}

// unusedMembers returns what the table holds and no type has.
func (d *deriver) unusedMembers() []string {
	var names []string
	for owner, table := range members {
		for name := range table {
			if !d.used[owner][name] {
				names = append(names, owner+"."+name)
			}
		}
	}
	slices.Sort(names)
	return names
}
