package graphstoretest

import (
	"context"
	"errors"
	"sync"

	"github.com/kithgraph/kith/graphstore"
)

// lifecycleCases: contexts and closing.
func lifecycleCases() []testCase {
	return []testCase{
		{"context/ended before the call", func(f *fixture) {
			f.apply(village(ada)...)
			for name, call := range calls(f.cancelled(), f.store) {
				if err := call(); !errors.Is(err, context.Canceled) {
					f.Errorf("%s: got %v, want context.Canceled", name, err)
				}
			}
			f.want(village(ada)...)
		}},
		{"context/ends during a load", func(f *fixture) {
			all := Graph(2, 1, 300)
			f.apply(all...)
			ctx, cancel := context.WithCancel(f.Context())
			defer cancel()
			n := 0
			err := f.store.LoadAll(ctx, func(graphstore.Change) error { n++; cancel(); return nil })
			if !errors.Is(err, context.Canceled) && (err != nil || n != len(all)) {
				f.Errorf("%d of %d records, error %v: want context.Canceled or all of them", n, len(all), err)
			}
		}},
		{"close/every call afterwards is refused", func(f *fixture) {
			f.apply(village(ada)...)
			f.close()
			for name, call := range calls(f.Context(), f.store) {
				if err := call(); !errors.Is(err, graphstore.ErrClosed) {
					f.Errorf("%s: got %v, want ErrClosed", name, err)
				}
			}
			if err := f.store.Apply(f.Context(), nil); !errors.Is(err, graphstore.ErrClosed) {
				f.Errorf("apply of nothing: got %v, want ErrClosed", err)
			}
		}},
		{"close/twice", func(f *fixture) {
			f.close()
			f.close()
		}},
		{"close/by several at once", func(f *fixture) {
			f.apply(village(ada)...)
			f.gone = true
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					if err := f.store.Close(); err != nil {
						f.Errorf("close: %v", err)
					}
				})
			}
			wg.Wait()
		}},
		{"close/after the calls in flight", closeDuringCalls},
		{"reopen/keeps everything", func(f *fixture) {
			if f.h.Reopen == nil {
				f.Skip("the store is not durable")
			}
			const rounds = 4
			all := Graph(9, 2, 60)
			for round := range rounds {
				piece := all[len(all)*round/rounds : len(all)*(round+1)/rounds]
				f.apply(piece...)
				f.checkpointIf(round%2 == 0)
				f.reopen()
				f.want(all[:len(all)*(round+1)/rounds]...)
			}
			f.apply(goneAll(all)...)
			f.reopen()
			f.want()
			f.apply(all...)
			f.want(all...)
		}},
	}
}

func (f *fixture) close() {
	f.Helper()
	f.gone = true
	if err := f.store.Close(); err != nil {
		f.Fatalf("close: %v", err)
	}
}

// calls returns a call of every method that takes a context.
func calls(ctx context.Context, s graphstore.Store) map[string]func() error {
	yield := func(graphstore.Change) error { return nil }
	return map[string]func() error{
		"Apply":   func() error { return s.Apply(ctx, []graphstore.Change{fact(ada, "another")}) },
		"Load":    func() error { return s.Load(ctx, ada, yield) },
		"LoadAll": func() error { return s.LoadAll(ctx, yield) },
		"Spaces":  func() error { _, err := s.Spaces(ctx); return err },
		"Stats":   func() error { _, err := s.Stats(ctx); return err },
	}
}

// closeDuringCalls closes the store from inside a load and beside applies. A call either does all it should or is
// refused.
func closeDuringCalls(f *fixture) {
	all := Graph(4, 1, 200)
	f.apply(all...)
	f.gone = true
	var closing sync.WaitGroup
	var once sync.Once
	n := 0
	err := f.store.LoadAll(f.Context(), func(graphstore.Change) error {
		n++
		once.Do(func() {
			closing.Go(func() {
				if err := f.store.Close(); err != nil {
					f.Errorf("close: %v", err)
				}
			})
			closing.Go(func() {
				err := f.store.Apply(f.Context(), []graphstore.Change{fact(bob, "late")})
				if err != nil && !errors.Is(err, graphstore.ErrClosed) {
					f.Errorf("apply beside close: %v", err)
				}
			})
		})
		return nil
	})
	if err != nil || n != len(all) {
		f.Errorf("load in flight: %d of %d records, error %v", n, len(all), err)
	}
	closing.Wait()
}
