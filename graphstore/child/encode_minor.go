package child

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// minor packs the kinds of record of which there are few.
func (e *encoder) minor(c graphstore.Change) error {
	switch {
	case c.Schema != nil:
		s := c.Schema
		e.byte(wireSchema)
		e.texts(s.ID, s.Level, s.Title)
		e.flag(s.Deleted)
		e.stamp(s.Stamp)
	case c.Ref != nil:
		e.byte(wireRef)
		e.text(c.Ref.ID)
	case c.Merge != nil:
		m := c.Merge
		e.byte(wireMerge)
		e.texts(m.Merged, m.Kept, string(m.Step), m.Evidence, m.MergedName, m.KeptName)
		e.flag(m.Undone)
		e.stamp(m.Stamp)
	case c.Tombstone != nil:
		e.byte(wireTombstone)
		e.text(c.Tombstone.Source)
		e.instant(c.Tombstone.At)
	default:
		return errNoRecord
	}
	return nil
}

func (e *encoder) texts(texts ...string) {
	for _, s := range texts {
		e.text(s)
	}
}

func (e *encoder) flag(set bool) {
	if set {
		e.byte(1)
	} else {
		e.byte(0)
	}
}

// minor reads what [encoder.minor] packed of a record of this kind.
func (d *decoder) minor(kind byte, c *graphstore.Change) {
	switch kind {
	case wireSchema:
		c.Schema = &graphstore.Schema{ID: d.text(), Level: d.text(), Title: d.text(), Deleted: d.flag(), Stamp: d.stamp()}
	case wireRef:
		c.Ref = &graphstore.Ref{ID: d.text()}
	case wireMerge:
		c.Merge = &graphstore.Merge{Merged: d.text(), Kept: d.text(), Step: graphstore.Step(d.text()), Evidence: d.text(),
			MergedName: d.text(), KeptName: d.text(), Undone: d.flag(), Stamp: d.stamp()}
	case wireTombstone:
		c.Tombstone = &graphstore.Tombstone{Source: d.text(), At: d.instant()}
	default:
		d.fail(fmt.Errorf("kind %q: unknown", kind))
	}
}

func (d *decoder) flag() bool {
	switch b := d.byte(); b {
	case 0, 1:
		return b == 1
	default:
		d.fail(fmt.Errorf("flag %d: want 0 or 1", b))
		return false
	}
}
