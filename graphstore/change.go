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

// Change is one write to one record of one space. Exactly one of the pointers is set; for Delete only its key counts.
// Changes are values once handed to a store: neither side modifies what the pointers point to.
type Change struct {
	Space     Space
	Op        Op
	Fact      *Fact
	Entity    *Entity
	Topic     *Topic
	Edge      *Edge
	Schema    *Schema
	Ref       *Ref
	Merge     *Merge
	Tombstone *Tombstone
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

// PutSchema returns the change that stores c.
func PutSchema(s Space, c Schema) Change { return Change{Space: s, Op: Put, Schema: &c} }

// PutRef returns the change that stores r.
func PutRef(s Space, r Ref) Change { return Change{Space: s, Op: Put, Ref: &r} }

// PutMerge returns the change that stores m.
func PutMerge(s Space, m Merge) Change { return Change{Space: s, Op: Put, Merge: &m} }

// PutTombstone returns the change that stores t.
func PutTombstone(s Space, t Tombstone) Change { return Change{Space: s, Op: Put, Tombstone: &t} }

// DeleteKey returns the change that removes the record with this key.
func DeleteKey(s Space, k Key) Change {
	c := Change{Space: s, Op: Delete}
	if k.IsEdge() {
		c.Edge = &Edge{Source: k.Node, Target: k.Target, Type: k.Relation, Asserter: k.Asserter}
		return c
	}
	switch k.Kind {
	case KindFact:
		c.Fact = &Fact{ID: k.Node}
	case KindEntity:
		c.Entity = &Entity{ID: k.Node}
	case KindTopic:
		c.Topic = &Topic{ID: k.Node}
	case KindSchema:
		c.Schema = &Schema{ID: k.Node}
	case KindRef:
		c.Ref = &Ref{ID: k.Node}
	case KindMerge:
		c.Merge = &Merge{Merged: k.Node, Kept: k.Target}
	case KindTombstone:
		t := tombstoneOf(k)
		c.Tombstone = &t
	}
	return c
}

// Key returns the identity of the record the change writes.
func (c Change) Key() Key {
	switch {
	case c.Fact != nil:
		return c.Fact.Key()
	case c.Edge != nil:
		return c.Edge.Key()
	case c.Entity != nil:
		return c.Entity.Key()
	case c.Topic != nil:
		return c.Topic.Key()
	case c.Schema != nil:
		return c.Schema.Key()
	case c.Ref != nil:
		return c.Ref.Key()
	case c.Merge != nil:
		return c.Merge.Key()
	case c.Tombstone != nil:
		return c.Tombstone.Key()
	default:
		return Key{}
	}
}

// Validate reports, wrapped in [ErrBadChange], what makes the change impossible by itself: no space, not exactly one
// record, a time or version of -2^63, an id that [CheckID] refuses, text that [CheckText] refuses, an edge of a type that
// cannot be stored, with a weight outside (0, 1], from a node to itself, or not normalised, a merge of an entity into
// itself, a tombstone without a time.
func (c Change) Validate() error {
	if c.Space.IsZero() {
		return fmt.Errorf("%w: %w", ErrBadChange, ErrNoSpace)
	}
	if c.Op != Put && c.Op != Delete {
		return fmt.Errorf("%w: op %d is neither put nor delete", ErrBadChange, c.Op)
	}
	if records := c.records(); records != 1 {
		return fmt.Errorf("%w: %d records: want exactly one", ErrBadChange, records)
	}
	if err := c.validateRecord(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadChange, err)
	}
	return nil
}

func (c Change) records() int {
	n := 0
	for _, set := range []bool{c.Fact != nil, c.Entity != nil, c.Topic != nil, c.Edge != nil, c.Schema != nil, c.Ref != nil,
		c.Merge != nil, c.Tombstone != nil} {
		if set {
			n++
		}
	}
	return n
}

func (c Change) validateRecord() error {
	if err := c.checkTexts(); err != nil {
		return err
	}
	switch {
	case c.Edge != nil:
		return c.Edge.validate(c.Op)
	case c.Merge != nil:
		return c.Merge.validate()
	case c.Tombstone != nil:
		return c.Tombstone.validate(c.Op)
	}
	k := c.Key()
	if err := CheckID(k.Node); err != nil {
		return fmt.Errorf("%s id %w", k.Kind, err)
	}
	switch {
	case c.Fact != nil && int(c.Fact.State) >= len(stateNames):
		return fmt.Errorf("fact %s: state %d: unknown", Shorten(c.Fact.ID), c.Fact.State)
	case c.Fact != nil:
		return c.Fact.checkNumbers()
	case c.Schema != nil:
		return c.Schema.Stamp.checkNumbers(k)
	}
	return nil
}

func (m *Merge) validate() error {
	for _, id := range []string{m.Merged, m.Kept} {
		if err := CheckID(id); err != nil {
			return fmt.Errorf("merge: entity id %w", err)
		}
	}
	if m.Merged == m.Kept {
		return fmt.Errorf("%s: an entity is not merged into itself", m.Key())
	}
	return m.Stamp.checkNumbers(m.Key())
}

func (t *Tombstone) validate(op Op) error {
	if t.Source != "" {
		if err := CheckID(t.Source); err != nil {
			return fmt.Errorf("tombstone: source id %w", err)
		}
	}
	if op == Put && (!t.At.Present() || int64(t.At) == math.MinInt64) {
		return fmt.Errorf("%s: time %d: want one", t.Key(), int64(t.At))
	}
	return nil
}

// checkNumbers refuses what [Fact.checkNumbers] refuses.
func (s Stamp) checkNumbers(k Key) error {
	if s.Version == math.MinInt64 || int64(s.At) == math.MinInt64 {
		return fmt.Errorf("%s: version or time %d: want more", k, int64(math.MinInt64))
	}
	return nil
}

// checkNumbers refuses the smallest 64-bit number, which no event can hold and Kuzu turns into 0 when it packs a column.
func (f *Fact) checkNumbers() error {
	var name string
	switch int64(math.MinInt64) {
	case f.Registers.State.Version, f.Registers.Base.Version:
		name = "version"
	case int64(f.MemoryAt), int64(f.RecordedAt), int64(f.SupersededAt), int64(f.Registers.State.At), int64(f.Registers.Base.At):
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
	if e.Asserter.Kind < ByFact || e.Asserter.Kind > BySchema {
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
	var seen map[id]struct{} // of those before, once one is not in the order of keys; plans are, and need none
	var last id
	for i, c := range changes {
		if err := c.Validate(); err != nil {
			return fmt.Errorf("change %d: %w", i, err)
		}
		k := id{c.Space, c.Key()}
		inOrder := i == 0 || (k.space == last.space && last.key.Compare(k.key) < 0)
		last = k
		if seen == nil && inOrder {
			continue
		}
		if seen == nil {
			seen = make(map[id]struct{}, len(changes))
			for _, before := range changes[:i] {
				seen[id{before.Space, before.Key()}] = struct{}{}
			}
		}
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
