package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// memorySystem writes facts of the users of a collection as a real one does: the point into the vector store, and an event of the same
// version that says the same. Versions grow with time. It changes only facts that are near nobody, and what it adds is near nobody, so
// that the neighbours of a fact do not depend on when they are looked for: no backfill promises that of a collection that changes.
type memorySystem struct {
	rng    *rand.Rand
	c      collection
	facts  map[string][]*memoryFact // by user
	events [][]byte                 // all that were made, in order of time
	now    time.Time
}

// memoryFact is a fact as the memory system has it.
type memoryFact struct {
	point         vdb.Point
	gone, retired bool
}

// newMemorySystem returns the system that has written the collection.
func newMemorySystem(t *testing.T, c collection, seed uint64) *memorySystem {
	t.Helper()
	m := &memorySystem{rng: rand.New(rand.NewPCG(seed, 7)), c: c, facts: map[string][]*memoryFact{}, now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
	i := 0
	err := c.each(func(points []vdb.Point) error {
		for _, p := range points {
			if c.isLone(i) {
				m.facts[c.user(i)] = append(m.facts[c.user(i)], &memoryFact{point: p})
			}
			i++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// write does one write and returns the fact that it was of and its event. The version is the number of the write, and greater than those
// of the collection, which are at most 3.
func (m *memorySystem) write() (*memoryFact, []byte, error) {
	version := int64(1000 + len(m.events))
	m.now = m.now.Add(time.Millisecond)
	user := m.c.user(m.rng.IntN(m.c.users))
	f := m.facts[user][m.rng.IntN(len(m.facts[user]))]
	var data projector.Data
	switch n := m.rng.IntN(100); {
	case n < 12:
		f, data = m.add(user)
	case n < 20: // the whole fact again, also of one that is gone or retired
		data = m.restate(f)
	case f.gone || f.retired: // nobody writes parts of those
		data = m.restate(f)
	case n < 50:
		f.point.Payload.MemoryAt = m.now.Add(-time.Duration(m.rng.IntN(1000)) * time.Hour)
		data = m.update(f, m.tags(f), projector.Some(graphstore.InstantOf(f.point.Payload.MemoryAt)))
	case n < 80:
		data = m.update(f, m.tags(f), projector.Optional[graphstore.Instant]{})
	case n < 90:
		data = m.supersede(user, f)
	default:
		f.gone = true
		data = projector.FactDeleted{FactID: f.point.ID, Version: projector.Some(version)}
	}
	f.stamp(version, m.now)
	ev, err := projector.NewEvent(fmt.Sprintf("event-%d", version), "memory", m.now, user, versioned(data, version))
	if err != nil {
		return nil, nil, err
	}
	payload, err := projector.Marshal(ev, projector.Limits{})
	m.events = append(m.events, payload)
	return f, payload, err
}

// stamp notes in the point what wrote it. A change of a field makes a new payload, since the store may have the old one.
func (f *memoryFact) stamp(version int64, at time.Time) {
	f.point.Payload.Version = version
	f.point.Payload.Extra = maps.Clone(f.point.Payload.Extra)
	f.point.Payload.Extra["updated_at"] = at.Format(time.RFC3339Nano)
}

// versioned states the version in an event.
func versioned(data projector.Data, version int64) projector.Data {
	switch d := data.(type) {
	case projector.FactsWritten:
		d.Facts[0].Version = projector.Some(version)
	case projector.FactSuperseded:
		d.Version = projector.Some(version)
		return d
	}
	return data
}

func (m *memorySystem) tags(f *memoryFact) projector.Optional[[]string] {
	f.point.Payload.Tags = []string{fmt.Sprint("tag ", m.rng.IntN(30)), fmt.Sprint("new tag ", m.rng.IntN(9))}
	return projector.Some(f.point.Payload.Tags)
}

func (m *memorySystem) update(f *memoryFact, tags projector.Optional[[]string], at projector.Optional[graphstore.Instant]) projector.Data {
	return projector.FactsWritten{Facts: []projector.FactWrite{{ID: f.point.ID, Op: projector.OpUpdate, Tags: tags, MemoryAt: at}}}
}

// add makes a new fact.
func (m *memorySystem) add(user string) (*memoryFact, projector.Data) {
	var b [16]byte
	for i := range b {
		b[i] = byte(m.rng.Uint32())
	}
	f := &memoryFact{}
	f.point.Space = m.facts[user][0].point.Space
	f.point.ID, f.point.Vector = uuid.UUID(b).String(), loneVector(m.rng, m.c.dim)
	f.point.Payload.CreatedAt, f.point.Payload.MemoryAt = m.now, m.now.Add(-time.Hour)
	f.point.Payload.EpisodeID = fmt.Sprintf("episode-%d", m.rng.IntN(40))
	m.facts[user] = append(m.facts[user], f)
	return f, m.restate(f)
}

// restate states the whole of a fact, which then is in no batch.
func (m *memorySystem) restate(f *memoryFact) projector.Data {
	f.gone, f.retired = false, false
	p := &f.point.Payload
	person := fmt.Sprintf("Person %d", m.rng.IntN(97))
	p.Content, p.State, p.BatchID = strings.Repeat("words ", 5)+f.point.ID, "", ""
	p.Extra = map[string]any{"entities": []any{map[string]any{"name": person, "type": "person"}}}
	return projector.FactsWritten{Facts: []projector.FactWrite{{
		ID: f.point.ID, Op: projector.OpAdd, EpisodeID: projector.Some(p.EpisodeID), Tags: m.tags(f),
		MemoryAt: projector.Some(graphstore.InstantOf(p.MemoryAt)), RecordedAt: projector.Some(graphstore.InstantOf(p.CreatedAt)),
		Entities: projector.Some([]projector.EntityRef{{Name: person, Type: "person"}}),
	}}}
}

// supersede retires a fact for the newest of its user, or for none if it is that.
func (m *memorySystem) supersede(user string, f *memoryFact) projector.Data {
	by := m.facts[user][len(m.facts[user])-1].point.ID
	if by == f.point.ID {
		by = ""
	}
	f.retired = true
	f.point.Payload.State = "superseded"
	f.point.Payload.Extra = maps.Clone(f.point.Payload.Extra)
	f.point.Payload.Extra["superseded_by"] = by
	return projector.FactSuperseded{FactID: f.point.ID, By: by}
}
