package graphstoretest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
)

// Memory is a correct [graphstore.Store] in memory: durable for as long as the process holds it. It favours being
// obviously right over being fast: reads copy what they return, so that a slow reader holds nobody up and may call the
// store itself.
type Memory struct {
	mu struct {
		sync.RWMutex
		closed bool
		spaces map[graphstore.Space]memorySpace
		mark   graphstore.Mark
	}
	id string
}

var _ graphstore.Store = (*Memory)(nil)

// memorySpace holds the records of one space, and for each of its nodes the number of edges that end at it.
type memorySpace struct {
	records map[graphstore.Key]graphstore.Change
	degree  map[graphstore.Key]int
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	m := &Memory{id: uuid.NewString()}
	m.mu.spaces = make(map[graphstore.Space]memorySpace)
	return m
}

// Apply implements [graphstore.Store].
func (m *Memory) Apply(ctx context.Context, changes []graphstore.Change) error {
	return m.ApplyMarked(ctx, changes, graphstore.Mark{})
}

// ApplyMarked implements [graphstore.Store].
func (m *Memory) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	if err := graphstore.ValidateChanges(changes); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.readyLocked(ctx); err != nil {
		return err
	}
	if err := m.checkDanglingLocked(changes); err != nil {
		return err
	}
	for _, c := range changes {
		m.applyLocked(c)
	}
	if mark != (graphstore.Mark{}) {
		m.mu.mark = mark
	}
	return nil
}

// Head implements [graphstore.Store]. The digest is computed anew each time.
func (m *Memory) Head(ctx context.Context) (graphstore.Head, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := m.readyLocked(ctx); err != nil {
		return graphstore.Head{}, err
	}
	head := graphstore.Head{ID: m.id, Mark: m.mu.mark}
	for _, s := range m.mu.spaces {
		for _, c := range s.records {
			head.Digest.Add(c)
		}
	}
	return head, nil
}

func (m *Memory) readyLocked(ctx context.Context) error {
	if m.mu.closed {
		return graphstore.ErrClosed
	}
	return ctx.Err()
}

// spaceKey names a record among those of all spaces.
type spaceKey struct {
	space graphstore.Space
	key   graphstore.Key
}

func keyOf(c graphstore.Change) spaceKey { return spaceKey{c.Space, c.Key()} }

// checkDanglingLocked compares, for every node that the changes touch, whether it is there afterwards and how many
// edges end at it afterwards.
func (m *Memory) checkDanglingLocked(changes []graphstore.Change) error {
	exists := make(map[spaceKey]bool)
	added := make(map[spaceKey]int)
	needed := make(map[spaceKey]graphstore.Key) // end of an edge put -> that edge
	for _, c := range changes {
		k := keyOf(c)
		if c.Edge == nil {
			exists[k] = c.Op == graphstore.Put
			continue
		}
		_, had := m.mu.spaces[c.Space].records[k.key]
		for _, end := range ends(*c.Edge) {
			at := spaceKey{c.Space, end}
			switch {
			case c.Op == graphstore.Put && !had:
				added[at]++
			case c.Op == graphstore.Delete && had:
				added[at]--
			}
			if c.Op == graphstore.Put {
				needed[at] = k.key
			}
		}
	}
	for at, edge := range needed {
		there, changed := exists[at]
		if !changed {
			_, there = m.mu.spaces[at.space].records[at.key]
		}
		if !there {
			return fmt.Errorf("%w: edge %s: no %s", graphstore.ErrDangling, edge, at.key)
		}
	}
	for at, there := range exists {
		if left := m.mu.spaces[at.space].degree[at.key] + added[at]; !there && left > 0 {
			return fmt.Errorf("%w: %s is deleted while %d edges of it remain", graphstore.ErrDangling, at.key, left)
		}
	}
	return nil
}

// ends returns the keys of the two nodes of an edge.
func ends(e graphstore.Edge) [2]graphstore.Key {
	source, target := e.Type.Ends()
	return [2]graphstore.Key{{Kind: source, Node: e.Source}, {Kind: target, Node: e.Target}}
}

func (m *Memory) applyLocked(c graphstore.Change) {
	k := c.Key()
	s, known := m.mu.spaces[c.Space]
	if !known {
		if c.Op == graphstore.Delete {
			return
		}
		s = memorySpace{make(map[graphstore.Key]graphstore.Change), make(map[graphstore.Key]int)}
		m.mu.spaces[c.Space] = s
	}
	_, had := s.records[k]
	switch {
	case c.Op == graphstore.Put:
		s.records[k] = clone(c)
		if !had && c.Edge != nil {
			s.count(*c.Edge, +1)
		}
	case had:
		delete(s.records, k)
		if c.Edge != nil {
			s.count(*c.Edge, -1)
		}
		if len(s.records) == 0 {
			delete(m.mu.spaces, c.Space)
		}
	}
}

func (s memorySpace) count(e graphstore.Edge, by int) {
	for _, end := range ends(e) {
		if s.degree[end] += by; s.degree[end] == 0 {
			delete(s.degree, end)
		}
	}
}

// clone copies a change with everything that it points to.
func clone(c graphstore.Change) graphstore.Change {
	switch {
	case c.Fact != nil:
		f := *c.Fact
		f.Registers.Fields = slices.Clone(f.Registers.Fields)
		c.Fact = &f
	case c.Entity != nil:
		e := *c.Entity
		e.Aliases, e.HardIDs = slices.Clone(e.Aliases), slices.Clone(e.HardIDs)
		c.Entity = &e
	case c.Topic != nil:
		t := *c.Topic
		c.Topic = &t
	case c.Edge != nil:
		e := *c.Edge
		c.Edge = &e
	case c.Schema != nil:
		s := *c.Schema
		c.Schema = &s
	case c.Ref != nil:
		r := *c.Ref
		c.Ref = &r
	case c.Merge != nil:
		m := *c.Merge
		c.Merge = &m
	case c.Tombstone != nil:
		t := *c.Tombstone
		c.Tombstone = &t
	}
	return c
}

// Load implements [graphstore.Store].
func (m *Memory) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	if space.IsZero() {
		return graphstore.ErrNoSpace
	}
	return m.load(ctx, yield, func() []memorySpace { return []memorySpace{m.mu.spaces[space]} })
}

// LoadAll implements [graphstore.Store].
func (m *Memory) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	return m.load(ctx, yield, func() []memorySpace { return slices.Collect(maps.Values(m.mu.spaces)) })
}

func (m *Memory) load(ctx context.Context, yield func(graphstore.Change) error, pick func() []memorySpace) error {
	m.mu.RLock()
	if err := m.readyLocked(ctx); err != nil {
		m.mu.RUnlock()
		return err
	}
	var nodes, edges []graphstore.Change
	for _, s := range pick() {
		for k, c := range s.records {
			if k.IsEdge() {
				edges = append(edges, clone(c))
			} else {
				nodes = append(nodes, clone(c))
			}
		}
	}
	m.mu.RUnlock()
	for _, c := range append(nodes, edges...) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := yield(c); err != nil {
			return err
		}
	}
	return nil
}

// Spaces implements [graphstore.Store].
func (m *Memory) Spaces(ctx context.Context) ([]graphstore.Space, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := m.readyLocked(ctx); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Keys(m.mu.spaces), func(a, b graphstore.Space) int {
		return cmp.Compare(a.UserID(), b.UserID())
	}), nil
}

// Stats implements [graphstore.Store]; nothing is on disk.
func (m *Memory) Stats(ctx context.Context) (graphstore.Stats, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := m.readyLocked(ctx); err != nil {
		return graphstore.Stats{}, err
	}
	st := graphstore.Stats{Spaces: len(m.mu.spaces)}
	for _, s := range m.mu.spaces {
		for _, c := range s.records {
			tally(&st, c)
		}
	}
	return st, nil
}

// tally counts one record.
func tally(st *graphstore.Stats, c graphstore.Change) {
	switch {
	case c.Fact != nil:
		st.Facts++
	case c.Entity != nil:
		st.Entities++
	case c.Topic != nil:
		st.Topics++
	case c.Edge != nil:
		st.Edges++
	case c.Schema != nil:
		st.Schemas++
	case c.Ref != nil:
		st.Refs++
	case c.Merge != nil:
		st.Merges++
	case c.Tombstone != nil:
		st.Tombstones++
	}
}

// Close implements [graphstore.Store].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.closed = true
	return nil
}
