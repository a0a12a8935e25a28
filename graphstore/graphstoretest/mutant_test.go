package graphstoretest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// mutant is the store in memory with one promise broken: a nil func keeps the promise.
type mutant struct {
	*Memory
	apply  func(ctx context.Context, m *Memory, changes []graphstore.Change) error
	yield  func(c graphstore.Change) graphstore.Change // what a load makes of a record
	load   func(ctx context.Context, m *Memory, l loader, yield func(graphstore.Change) error) error
	space  func(m *Memory, s graphstore.Space) graphstore.Space // the space that is loaded
	spaces func([]graphstore.Space) []graphstore.Space
	stats  func(graphstore.Stats) graphstore.Stats
	close  func(m *Memory) error
	mark   func(m *Memory, mark graphstore.Mark, err error) // after an apply with a mark
	head   func(graphstore.Head) graphstore.Head
}

func (m *mutant) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	if m.mark == nil {
		return m.Memory.ApplyMarked(ctx, changes, mark)
	}
	err := m.Memory.ApplyMarked(ctx, changes, mark)
	m.mark(m.Memory, mark, err)
	return err
}

func (m *mutant) Head(ctx context.Context) (graphstore.Head, error) {
	h, err := m.Memory.Head(ctx)
	if m.head != nil && err == nil {
		h = m.head(h)
	}
	return h, err
}

func (m *mutant) Apply(ctx context.Context, changes []graphstore.Change) error {
	if m.apply == nil {
		return m.Memory.Apply(ctx, changes)
	}
	return m.apply(ctx, m.Memory, changes)
}

func (m *mutant) Load(ctx context.Context, s graphstore.Space, yield func(graphstore.Change) error) error {
	if m.space != nil {
		s = m.space(m.Memory, s)
	}
	return m.loadWith(ctx, loadSpace(m.Memory, s), yield)
}

func (m *mutant) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	return m.loadWith(ctx, m.Memory.LoadAll, yield)
}

func (m *mutant) loadWith(ctx context.Context, l loader, yield func(graphstore.Change) error) error {
	given := yield
	if m.yield != nil {
		yield = func(c graphstore.Change) error { return given(m.yield(c)) }
	}
	if m.load != nil {
		return m.load(ctx, m.Memory, l, yield)
	}
	return l(ctx, yield)
}

func (m *mutant) Spaces(ctx context.Context) ([]graphstore.Space, error) {
	spaces, err := m.Memory.Spaces(ctx)
	if m.spaces != nil && err == nil {
		spaces = m.spaces(spaces)
	}
	return spaces, err
}

func (m *mutant) Stats(ctx context.Context) (graphstore.Stats, error) {
	st, err := m.Memory.Stats(ctx)
	if m.stats != nil && err == nil {
		st = m.stats(st)
	}
	return st, err
}

func (m *mutant) Close() error {
	if m.close != nil {
		return m.close(m.Memory)
	}
	return m.Memory.Close()
}

// onFact makes a mutation of facts one of changes.
func onFact(change func(*graphstore.Fact)) func(graphstore.Change) graphstore.Change {
	return func(c graphstore.Change) graphstore.Change {
		if c.Fact != nil {
			c = clone(c)
			change(c.Fact)
		}
		return c
	}
}

func onEdge(change func(*graphstore.Edge)) func(graphstore.Change) graphstore.Change {
	return func(c graphstore.Change) graphstore.Change {
		if c.Edge != nil {
			c = clone(c)
			change(c.Edge)
		}
		return c
	}
}

func onEntity(change func(*graphstore.Entity)) func(graphstore.Change) graphstore.Change {
	return func(c graphstore.Change) graphstore.Change {
		if c.Entity != nil {
			c = clone(c)
			change(c.Entity)
		}
		return c
	}
}

// oneByOne applies each change by itself, in the given order or in one that does not dangle.
func oneByOne(sorted bool) func(context.Context, *Memory, []graphstore.Change) error {
	rank := func(c graphstore.Change) int { // node puts, edge puts, edge deletes, node deletes
		switch {
		case c.Op == graphstore.Put && c.Edge == nil:
			return 0
		case c.Op == graphstore.Put:
			return 1
		case c.Edge != nil:
			return 2
		default:
			return 3
		}
	}
	return func(ctx context.Context, m *Memory, changes []graphstore.Change) error {
		if err := graphstore.ValidateChanges(changes); err != nil {
			return err
		}
		if sorted {
			changes = slices.Clone(changes)
			slices.SortStableFunc(changes, func(a, b graphstore.Change) int { return rank(a) - rank(b) })
		}
		for _, c := range changes {
			if err := m.Apply(ctx, []graphstore.Change{c}); err != nil {
				return err
			}
			runtime.Gosched()
		}
		return nil
	}
}

// unchecked applies without looking for edges that dangle.
func unchecked(ctx context.Context, m *Memory, changes []graphstore.Change) error {
	if err := graphstore.ValidateChanges(changes); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.readyLocked(ctx); err != nil {
		return err
	}
	for _, c := range changes {
		m.applyLocked(c)
	}
	return nil
}

// dropping ignores the changes for which drop is true.
func dropping(drop func(graphstore.Change) bool) func(context.Context, *Memory, []graphstore.Change) error {
	return func(ctx context.Context, m *Memory, changes []graphstore.Change) error {
		if err := graphstore.ValidateChanges(changes); err != nil {
			return err
		}
		return m.Apply(ctx, slices.DeleteFunc(slices.Clone(changes), drop))
	}
}

var errMutant = errors.New("of the mutant")

// mutants break one promise each.
func mutants() map[string]mutant {
	return map[string]mutant{
		"applies one by one":      {apply: oneByOne(false)},
		"applies in sorted steps": {apply: oneByOne(true)},
		"lets edges dangle":       {apply: unchecked},
		"forgets edge deletes":    {apply: dropping(func(c graphstore.Change) bool { return c.Op == graphstore.Delete && c.Edge != nil })},
		"forgets topics":          {apply: dropping(func(c graphstore.Change) bool { return c.Topic != nil })},
		"does not validate": {apply: func(ctx context.Context, m *Memory, changes []graphstore.Change) error {
			return m.Apply(ctx, slices.DeleteFunc(slices.Clone(changes), func(c graphstore.Change) bool { return c.Validate() != nil }))
		}},
		"keeps what it was given": {apply: func(ctx context.Context, m *Memory, changes []graphstore.Change) error {
			err := m.Apply(ctx, changes)
			for _, c := range changes {
				if err == nil && c.Op == graphstore.Put {
					m.mu.spaces[c.Space].records[c.Key()] = c
				}
			}
			return err
		}},
		"merges instead of replacing": {apply: func(ctx context.Context, m *Memory, changes []graphstore.Change) error {
			merged := slices.Clone(changes)
			for i, c := range changes {
				old, had := m.mu.spaces[c.Space].records[c.Key()]
				if c.Fact != nil && c.Op == graphstore.Put && had && c.Fact.AgentID == "" {
					merged[i] = onFact(func(f *graphstore.Fact) { f.AgentID = old.Fact.AgentID })(c)
				}
			}
			return m.Apply(ctx, merged)
		}},
		"answers a commit with an error": {apply: func(ctx context.Context, m *Memory, changes []graphstore.Change) error {
			return errors.Join(m.Apply(ctx, changes), errMutant)
		}},
		"ignores the context": {apply: func(_ context.Context, m *Memory, changes []graphstore.Change) error {
			return m.Apply(context.Background(), changes)
		}},
		"loses the place in the batch": {yield: onFact(func(f *graphstore.Fact) { f.BatchSeq = 0 })},
		"loses times before 1970":      {yield: onFact(func(f *graphstore.Fact) { f.MemoryAt = max(f.MemoryAt, 0) })},
		"loses registers":              {yield: onFact(func(f *graphstore.Fact) { f.Registers.Fields = nil })},
		"keeps versions as doubles": {yield: onFact(func(f *graphstore.Fact) {
			f.Registers.Base.Version = int64(float64(f.Registers.Base.Version))
		})},
		"trims text":              {yield: onFact(func(f *graphstore.Fact) { f.AgentID = strings.TrimSpace(f.AgentID) })},
		"keeps weights as floats": {yield: onEdge(func(e *graphstore.Edge) { e.Weight = float64(float32(e.Weight)) })},
		"loses details":           {yield: onEdge(func(e *graphstore.Edge) { e.Detail = "" })},
		"mixes up asserters":      {yield: onEdge(func(e *graphstore.Edge) { e.Asserter.Kind = graphstore.ByFact })},
		"joins aliases by commas": {yield: onEntity(func(e *graphstore.Entity) { e.Aliases = strings.Split(strings.Join(e.Aliases, ","), ",") })},
		"loses kinds of hard ids": {yield: onEntity(func(e *graphstore.Entity) { e.HardIDs = slices.CompactFunc(slices.Clone(e.HardIDs), sameValue) })},
		"wraps the yield's error": {load: wrapping},
		"does not stop for yield": {load: deaf},
		"loads twice":             {load: twice},
		"yields edges first":      {load: edgesFirst},
		"takes no space for all":  {space: func(*Memory, graphstore.Space) graphstore.Space { return ada }},
		"finds spaces by prefix":  {space: byPrefix},
		"does not sort spaces":    {spaces: func(s []graphstore.Space) []graphstore.Space { slices.Reverse(s); return s }},
		"counts an edge too much": {stats: func(st graphstore.Stats) graphstore.Stats { st.Edges++; return st }},
		"claims bytes":            {stats: func(st graphstore.Stats) graphstore.Stats { st.Bytes = 1; return st }},
		"keeps no digest":         {head: func(h graphstore.Head) graphstore.Head { h.Digest = graphstore.Digest{}; return h }},
		"has no id":               {head: func(h graphstore.Head) graphstore.Head { h.ID = ""; return h }},
		"has a new id each time":  {head: func(h graphstore.Head) graphstore.Head { h.ID = fmt.Sprint(rand.Uint64()); return h }},
		"has everybody's id":      {head: func(h graphstore.Head) graphstore.Head { h.ID = "graph"; return h }},
		"loses the log's name":    {head: func(h graphstore.Head) graphstore.Head { h.Mark.Log = ""; return h }},
		"keeps small marks only":  {head: func(h graphstore.Head) graphstore.Head { h.Mark.Seq &= 1<<53 - 1; return h }},
		"marks what was refused":  {mark: func(m *Memory, mark graphstore.Mark, _ error) { m.mu.mark = mark }},
		"stays open":              {close: func(*Memory) error { return nil }},
		"fails at the second close": {close: func(m *Memory) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.mu.closed {
				return errMutant
			}
			m.mu.closed = true
			return nil
		}},
	}
}

func sameValue(a, b graphstore.HardID) bool { return a.Kind+":"+a.Value == b.Kind+":"+b.Value }

func wrapping(ctx context.Context, _ *Memory, l loader, yield func(graphstore.Change) error) error {
	if err := l(ctx, yield); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

func deaf(ctx context.Context, _ *Memory, l loader, yield func(graphstore.Change) error) error {
	var first error
	err := l(ctx, func(c graphstore.Change) error {
		if err := yield(c); first == nil {
			first = err
		}
		return nil
	})
	if first != nil {
		return first
	}
	return err
}

func twice(ctx context.Context, _ *Memory, l loader, yield func(graphstore.Change) error) error {
	if err := l(ctx, yield); err != nil {
		return err
	}
	return l(ctx, yield)
}

func edgesFirst(ctx context.Context, _ *Memory, l loader, yield func(graphstore.Change) error) error {
	var all []graphstore.Change
	if err := l(ctx, func(c graphstore.Change) error { all = append(all, c); return nil }); err != nil {
		return err
	}
	slices.Reverse(all)
	for _, c := range all {
		if err := yield(c); err != nil {
			return err
		}
	}
	return nil
}

func byPrefix(m *Memory, s graphstore.Space) graphstore.Space {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if _, exact := m.mu.spaces[s]; exact || s.IsZero() {
		return s
	}
	for other := range m.mu.spaces {
		if strings.HasPrefix(other.UserID(), s.UserID()) {
			return other
		}
	}
	return s
}

// recorder takes the place of a test that is expected to fail.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any)   { r.Fatalf("%s", fmt.Sprint(args...)) }
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Helper()             {}
func (r *recorder) Skip(...any)         { runtime.Goexit() }
func (r *recorder) Cleanup(fn func())   { r.cleanups = append(r.cleanups, fn) }

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

// run runs a subtest of the suite and reports whether it failed.
func (r *recorder) run(c testCase, h Harness) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, fn := range slices.Backward(r.cleanups) {
				fn()
			}
		}()
		c.on(r, h)
	}()
	<-done
	return r.Failed()
}

// TestExerciseCatchesEveryMutant runs the suite on stores that break one promise each: it must fail on each of them.
func TestExerciseCatchesEveryMutant(t *testing.T) {
	for name, m := range mutants() {
		t.Run(name, func(t *testing.T) {
			h := Harness{Name: name, ChurnTime: 1, Open: func(testing.TB) graphstore.Store {
				own := m
				own.Memory = NewMemory()
				return &own
			}}
			for _, c := range allCases() {
				r := &recorder{TB: t}
				if r.run(c, h) {
					t.Logf("caught by %s: %.200s", c.name, r.failures[0])
					return
				}
			}
			t.Error("no subtest of the suite noticed")
		})
	}
}

// TestExerciseCatchesAStoreThatIsNotDurable reopens as an empty store.
func TestExerciseCatchesAStoreThatIsNotDurable(t *testing.T) {
	h := memoryHarness()
	h.Reopen = func(_ testing.TB, s graphstore.Store) graphstore.Store {
		_ = s.Close()
		return NewMemory()
	}
	r := &recorder{TB: t}
	if !r.run(recordCases()[0], h) {
		t.Error("not noticed")
	}
}
