package graphstore

import (
	"errors"
	"fmt"
	"math"
)

// ErrBadChange reports a change that no store may commit: the whole call is refused and the graph is as before.
var ErrBadChange = errors.New("bad change")

// Op is what a change does.
type Op uint8

// The operations.
const (
	Put    Op = iota + 1 // the record is now exactly this: created, or replaced
	Delete               // no record has this key; nothing happens if none had
)

// Change is one write to one record of one space. Exactly one of Fact, Entity, Topic and Edge is set; for Delete only
// its key counts. Changes are values once handed to a store: neither side modifies what the pointers point to.
type Change struct {
	Space  Space
	Op     Op
	Fact   *Fact
	Entity *Entity
	Topic  *Topic
	Edge   *Edge
}

// PutFact returns the change that stores f.
func PutFact(s Space, f Fact) Change { return Change{Space: s, Op: Put, Fact: &f} }

// PutEntity returns the change that stores e.
func PutEntity(s Space, e Entity) Change { return Change{Space: s, Op: Put, Entity: &e} }

// PutTopic returns the change that stores t.
func PutTopic(s Space, t Topic) Change { return Change{Space: s, Op: Put, Topic: &t} }

// PutEdge returns the change that stores e, normalised.
func PutEdge(s Space, e Edge) Change {
	e = e.Normalized()
	return Change{Space: s, Op: Put, Edge: &e}
}

// DeleteKey returns the change that removes the record with this key.
func DeleteKey(s Space, k Key) Change {
	c := Change{Space: s, Op: Delete}
	switch {
	case k.IsEdge():
		c.Edge = &Edge{Source: k.Node, Target: k.Target, Type: k.Relation, Asserter: k.Asserter}
	case k.Kind == KindFact:
		c.Fact = &Fact{ID: k.Node}
	case k.Kind == KindEntity:
		c.Entity = &Entity{ID: k.Node}
	default:
		c.Topic = &Topic{ID: k.Node}
	}
	return c
}

// Key returns the identity of the record the change writes.
func (c Change) Key() Key {
	switch {
	case c.Fact != nil:
		return c.Fact.Key()
	case c.Entity != nil:
		return c.Entity.Key()
	case c.Topic != nil:
		return c.Topic.Key()
	case c.Edge != nil:
		return c.Edge.Key()
	default:
		return Key{}
	}
}

// Validate reports, wrapped in [ErrBadChange], what makes the change impossible by itself: no space, not exactly one
// record, a fact with a time or version of -2^63, an id that [CheckID] refuses, text that [CheckText] refuses, an edge of a type that cannot be stored, with a weight outside (0, 1], from a
// node to itself, or not normalised.
func (c Change) Validate() error {
	if c.Space.IsZero() {
		return fmt.Errorf("%w: %w", ErrBadChange, ErrNoSpace)
	}
	if c.Op != Put && c.Op != Delete {
		return fmt.Errorf("%w: op %d is neither put nor delete", ErrBadChange, c.Op)
	}
	records := 0
	for _, set := range []bool{c.Fact != nil, c.Entity != nil, c.Topic != nil, c.Edge != nil} {
		if set {
			records++
		}
	}
	if records != 1 {
		return fmt.Errorf("%w: %d records: want exactly one", ErrBadChange, records)
	}
	if err := c.validateRecord(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadChange, err)
	}
	return nil
}

func (c Change) validateRecord() error {
	if err := c.checkTexts(); err != nil {
		return err
	}
	if c.Edge != nil {
		return c.Edge.validate(c.Op)
	}
	k := c.Key()
	if err := CheckID(k.Node); err != nil {
		return fmt.Errorf("%s id %w", k.Kind, err)
	}
	if c.Fact != nil && int(c.Fact.State) >= len(stateNames) {
		return fmt.Errorf("fact %s: state %d: unknown", Shorten(c.Fact.ID), c.Fact.State)
	}
	if c.Fact != nil {
		return c.Fact.checkNumbers()
	}
	return nil
}

// checkNumbers refuses the smallest 64-bit number, which no event can hold and Kuzu turns into 0 when it packs a column.
func (f *Fact) checkNumbers() error {
	var name string
	switch int64(math.MinInt64) {
	case f.Registers.State.Version, f.Registers.Base.Version:
		name = "version"
	case int64(f.MemoryAt), int64(f.RecordedAt), int64(f.SupersededAt):
		name = "time"
	case int64(f.ValidFrom), int64(f.ValidTo):
		name = "validity"
	default:
		return nil
	}
	return fmt.Errorf("fact %s: %s %d: want more", Shorten(f.ID), name, int64(math.MinInt64))
}

func (e *Edge) validate(op Op) error {
	source, target := e.Type.Ends()
	if source == 0 {
		return fmt.Errorf("edge type %s: cannot be stored", e.Type)
	}
	if err := CheckID(e.Source); err != nil {
		return fmt.Errorf("edge source %w", err)
	}
	if err := CheckID(e.Target); err != nil {
		return fmt.Errorf("edge target %w", err)
	}
	if e.Asserter.Kind < ByFact || e.Asserter.Kind > BySpine {
		return fmt.Errorf("edge %s: asserter kind %d: unknown", e.Key(), e.Asserter.Kind)
	}
	if source == target && e.Source == e.Target {
		return fmt.Errorf("edge %s: a node has no edge to itself", e.Key())
	}
	if !e.Type.Directed() && e.Target < e.Source {
		return fmt.Errorf("edge %s: undirected: want the smaller id first", e.Key())
	}
	if op == Put && !(e.Weight > 0 && e.Weight <= 1) { // also catches NaN
		return fmt.Errorf("edge %s: weight %v: want a number in (0, 1]", e.Key(), e.Weight)
	}
	return nil
}

// ValidateChanges validates each change and that no two of one transaction write the same record. Every store calls it
// before it touches anything.
func ValidateChanges(changes []Change) error {
	type id struct {
		space Space
		key   Key
	}
	seen := make(map[id]struct{}, len(changes))
	for i, c := range changes {
		if err := c.Validate(); err != nil {
			return fmt.Errorf("change %d: %w", i, err)
		}
		k := id{c.Space, c.Key()}
		if _, dup := seen[k]; dup {
			return fmt.Errorf("change %d: %w: %s is written twice in one transaction", i, ErrBadChange, k.key)
		}
		seen[k] = struct{}{}
	}
	return nil
}

// ClampWeight returns w clamped into (0, 1], or false for a weight that drops its item: NaN, zero or negative.
func ClampWeight(w float64) (float64, bool) {
	if math.IsNaN(w) || w <= 0 {
		return 0, false
	}
	return math.Min(w, 1), true
}
