package projector

import (
	"github.com/kithgraph/kith/graphstore"
)

// decoding is the state of one call of Decode while the data member is read.
type decoding struct {
	limits   Limits
	node     *node // the data member
	typ      Type
	event    Event // all but Data
	rejected []Rejected
}

// Decode reads one event.
//
// The error, if any, is permanent for these bytes and these limits: a *[FieldError] that names the JSON path, the value
// and the rule, or an *[UnknownTypeError]. Facts of a write event that break a rule are returned as Rejected, in order,
// and the event holds the others; it may then hold none. What breaks JSON itself or makes text unreadable (invalid
// UTF-8, NUL, half of a surrogate pair, a key twice, more than 32 levels) is an error of the whole event, wherever it
// stands.
//
// Unknown attributes and members are ignored. Limits must be valid; zero fields mean defaults. Decode keeps no reference
// to data.
func Decode(data []byte, limits Limits) (Event, []Rejected, error) {
	d := decoding{limits: limits.WithDefaults()}
	if len(data) > d.limits.MaxBytes {
		return Event{}, nil, badField("$", "has %d bytes: want at most %d", len(data), d.limits.MaxBytes)
	}
	top, err := parseJSON(data)
	if err != nil {
		return Event{}, nil, err
	}
	if err := d.envelope(&top); err != nil {
		return Event{}, nil, err
	}
	d.event.Data, err = decoders[d.typ](&d)
	if err != nil {
		return Event{}, nil, under("data", err)
	}
	return d.event, d.rejected, nil
}

// envelope reads the attributes and the user id.
func (d *decoding) envelope(top *node) error {
	if top.kind != nodeObject {
		return badField("$", "%s: want %s", top.show(), wantObject)
	}
	f := fields{node: top}
	if version := f.text("specversion"); f.err == nil && version != "1.0" {
		return badField("specversion", `%s: want "1.0"`, graphstore.Shorten(version))
	}
	d.event.ID = f.id("id")
	d.event.Source = f.optionalText("source").Value
	d.event.Time = f.optionalTime("time").Value
	name := f.text("type")
	if f.err != nil {
		return f.err
	}
	var err error
	if d.typ, err = parseType(name); err != nil {
		return err
	}
	d.node = top.member("data")
	if d.node == nil || d.node.kind != nodeObject {
		f.fail("data", d.node, wantObject)
		return f.err
	}
	if err := d.user(); err != nil {
		return under("data", err)
	}
	return d.event.validateEnvelope(d.typ)
}

func (d *decoding) user() error {
	f := fields{node: d.node}
	user := f.id("user_id")
	if f.err != nil {
		return f.err
	}
	space, err := graphstore.NewSpace(user)
	if err != nil {
		return badField("user_id", "%s", problemOfUser(user))
	}
	d.event.Space = space
	return nil
}
