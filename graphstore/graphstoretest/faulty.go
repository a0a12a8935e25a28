package graphstoretest

import (
	"context"
	"sync"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Method names a method of [graphstore.Store].
type Method string

// The methods that can be made to fail.
const (
	MethodApply   Method = "Apply" // also ApplyMarked
	MethodLoad    Method = "Load"
	MethodLoadAll Method = "LoadAll"
	MethodSpaces  Method = "Spaces"
	MethodStats   Method = "Stats"
	MethodHead    Method = "Head"
	MethodClose   Method = "Close"
)

// Call is one call that is about to be made.
type Call struct {
	Method  Method
	N       int                 // counts the calls of this method, from 1
	Changes []graphstore.Change // of Apply
	Space   graphstore.Space    // of Load
}

// Fault says what goes wrong with one call; the zero Fault is no fault. Several parts may be set: first the call waits,
// then it fails before, partway or after.
type Fault struct {
	// Delay and Wait hold the call up, until the time is over and the channel closed (nil: at once). A context that ends
	// meanwhile ends the call with its error.
	Delay time.Duration
	Wait  <-chan struct{}
	// Before makes the call do nothing and return this error.
	Before error
	// Partway makes Load and LoadAll return this error after they yielded Records records (or all, if there are fewer).
	Partway error
	Records int
	// After makes the call do all it should and return this error nevertheless: the unknown outcome, for Apply a commit
	// whose answer was lost.
	After error
}

// Faulty is a [graphstore.Store] over another that fails on demand. It is safe for concurrent use if what it wraps is.
type Faulty struct {
	store  graphstore.Store
	decide func(Call) Fault

	mu struct {
		sync.Mutex
		calls map[Method]int
	}
}

var _ graphstore.Store = (*Faulty)(nil)

// NewFaulty wraps store. decide is asked before each call, by several goroutines at once if the store is used so.
func NewFaulty(store graphstore.Store, decide func(Call) Fault) *Faulty {
	f := &Faulty{store: store, decide: decide}
	f.mu.calls = make(map[Method]int)
	return f
}

// OnNth returns a decide function for [NewFaulty]: the nth call of the method, from 1, suffers the fault.
func OnNth(method Method, n int, fault Fault) func(Call) Fault {
	return func(c Call) Fault {
		if c.Method == method && c.N == n {
			return fault
		}
		return Fault{}
	}
}

// Calls returns how many calls of the method have begun.
func (f *Faulty) Calls(method Method) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.calls[method]
}

// begin counts the call, holds it up as long as its fault says and returns the fault, with Before set if the call must
// not be made.
func (f *Faulty) begin(ctx context.Context, c Call) Fault {
	f.mu.Lock()
	f.mu.calls[c.Method]++
	c.N = f.mu.calls[c.Method]
	f.mu.Unlock()
	fault := f.decide(c)
	if err := fault.hold(ctx); err != nil {
		fault.Before = err
	}
	return fault
}

func (f Fault) hold(ctx context.Context) error {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.Wait != nil {
		select {
		case <-f.Wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// run makes the call between the two failures of the fault.
func (f Fault) run(call func() error) error {
	if f.Before != nil {
		return f.Before
	}
	if err := call(); err != nil {
		return err
	}
	return f.After
}

// Apply implements [graphstore.Store].
func (f *Faulty) Apply(ctx context.Context, changes []graphstore.Change) error {
	return f.begin(ctx, Call{Method: MethodApply, Changes: changes}).run(func() error {
		return f.store.Apply(ctx, changes)
	})
}

// ApplyMarked implements [graphstore.Store].
func (f *Faulty) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	return f.begin(ctx, Call{Method: MethodApply, Changes: changes}).run(func() error {
		return f.store.ApplyMarked(ctx, changes, mark)
	})
}

// Head implements [graphstore.Store].
func (f *Faulty) Head(ctx context.Context) (head graphstore.Head, err error) {
	err = f.begin(ctx, Call{Method: MethodHead}).run(func() error {
		head, err = f.store.Head(ctx)
		return err
	})
	if err != nil {
		return graphstore.Head{}, err
	}
	return head, nil
}

// Load implements [graphstore.Store].
func (f *Faulty) Load(ctx context.Context, space graphstore.Space, yield func(graphstore.Change) error) error {
	fault := f.begin(ctx, Call{Method: MethodLoad, Space: space})
	return fault.run(func() error {
		return fault.load(yield, func(y func(graphstore.Change) error) error { return f.store.Load(ctx, space, y) })
	})
}

// LoadAll implements [graphstore.Store].
func (f *Faulty) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	fault := f.begin(ctx, Call{Method: MethodLoadAll})
	return fault.run(func() error {
		return fault.load(yield, func(y func(graphstore.Change) error) error { return f.store.LoadAll(ctx, y) })
	})
}

func (f Fault) load(yield func(graphstore.Change) error, load func(func(graphstore.Change) error) error) error {
	if f.Partway == nil {
		return load(yield)
	}
	left := f.Records
	err := load(func(c graphstore.Change) error {
		if left == 0 {
			return f.Partway
		}
		left--
		return yield(c)
	})
	if err != nil {
		return err
	}
	return f.Partway
}

// Spaces implements [graphstore.Store].
func (f *Faulty) Spaces(ctx context.Context) (spaces []graphstore.Space, err error) {
	err = f.begin(ctx, Call{Method: MethodSpaces}).run(func() error {
		spaces, err = f.store.Spaces(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return spaces, nil
}

// Stats implements [graphstore.Store].
func (f *Faulty) Stats(ctx context.Context) (st graphstore.Stats, err error) {
	err = f.begin(ctx, Call{Method: MethodStats}).run(func() error {
		st, err = f.store.Stats(ctx)
		return err
	})
	if err != nil {
		return graphstore.Stats{}, err
	}
	return st, nil
}

// Close implements [graphstore.Store].
func (f *Faulty) Close() error {
	return f.begin(context.Background(), Call{Method: MethodClose}).run(f.store.Close)
}
