package projector

import (
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// Projector plans events. It is immutable and safe for concurrent use.
type Projector struct {
	cfg   Config
	types map[string]bool
}

// New returns a projector, or what is wrong with the configuration.
func New(cfg Config) (*Projector, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("configure projector: %w", err)
	}
	p := &Projector{cfg: cfg, types: map[string]bool{TypeThing: true}}
	for _, t := range cfg.EntityTypes {
		p.types[t] = true
	}
	return p, nil
}

// Planned is what an event means for a graph.
type Planned struct {
	// Changes bring the graph up to date with the event: valid for one transaction, in ascending order of key, and
	// minimal, so that none is left when the graph already knows the event.
	Changes []graphstore.Change
	Report  Report
}

// Plan returns the changes that the event makes to the graph in view. It is a pure function; view is not modified.
//
// Plans are order-free: after a set of events has been planned and applied one after the other (each against the
// snapshot that the one before it left), the graph is the same in whatever order they came and however often. That
// holds as long as no two different events share an id. The error is a *[FieldError] for an event put together by hand
// that breaks the contract, or says that view belongs to another user or holds a record no projector wrote.
func (p *Projector) Plan(view *graphstore.Snapshot, ev Event) (Planned, error) {
	if view == nil {
		return Planned{}, errors.New("plan event: no snapshot")
	}
	if err := ev.Validate(); err != nil {
		return Planned{}, err
	}
	if view.Space() != ev.Space {
		return Planned{}, fmt.Errorf("plan event %s of user %s: the snapshot is of user %s", graphstore.Shorten(ev.ID),
			graphstore.Shorten(ev.Space.UserID()), graphstore.Shorten(view.Space().UserID()))
	}
	if t, forgotten := view.Tombstone(""); forgotten && t.Covers(ev.Time) {
		return Planned{Report: Report{Forgotten: 1}}, nil
	}
	d := newDraft(p, view)
	ev.Data.plan(d, ev)
	changes, err := d.changes()
	if err != nil {
		return Planned{}, fmt.Errorf("plan event %s: %w", graphstore.Shorten(ev.ID), err)
	}
	return Planned{Changes: changes, Report: d.report}, nil
}
