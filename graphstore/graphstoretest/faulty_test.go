package graphstoretest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

var errInjected = errors.New("injected")

func TestExerciseFaultyWithoutFaults(t *testing.T) {
	Exercise(t, Harness{Name: "faulty", ChurnTime: time.Second / 10, Open: func(testing.TB) graphstore.Store {
		return NewFaulty(NewMemory(), func(Call) Fault { return Fault{} })
	}})
}

func TestFaultyBeforeAndAfterCommit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		fault   Fault
		applied bool
	}{
		{"before: nothing happened", Fault{Before: errInjected}, false},
		{"after: the commit happened", Fault{After: errInjected}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewMemory()
			f := NewFaulty(m, OnNth(MethodApply, 2, tc.fault))
			for n, want := range []error{nil, errInjected, nil} {
				s := []graphstore.Space{ada, bob, ada}[n]
				if err := f.Apply(t.Context(), []graphstore.Change{fact(s, "f")}); !errors.Is(err, want) {
					t.Errorf("apply %d: got %v, want %v", n+1, err, want)
				}
			}
			spaces, err := m.Spaces(t.Context())
			if err != nil || (len(spaces) == 2) != tc.applied {
				t.Errorf("spaces %v (%v), want bob in them: %v", spaces, err, tc.applied)
			}
			if n := f.Calls(MethodApply); n != 3 {
				t.Errorf("%d calls, want 3", n)
			}
		})
	}
}

func TestFaultyFailsEveryMethod(t *testing.T) {
	f := NewFaulty(NewMemory(), func(Call) Fault { return Fault{Before: errInjected} })
	for name, call := range calls(t.Context(), f) {
		if err := call(); !errors.Is(err, errInjected) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := f.Close(); !errors.Is(err, errInjected) {
		t.Errorf("Close: got %v", err)
	}
}

func TestFaultyLoadPartway(t *testing.T) {
	m := NewMemory()
	if err := m.Apply(t.Context(), village(ada)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 3, len(village(ada)), 1000} {
		f := NewFaulty(m, func(Call) Fault { return Fault{Partway: errInjected, Records: want} })
		for _, load := range []loader{f.LoadAll, loadSpace(f, ada)} {
			n := 0
			err := load(t.Context(), func(graphstore.Change) error { n++; return nil })
			if !errors.Is(err, errInjected) || n != min(want, len(village(ada))) {
				t.Errorf("records %d: %d yields, error %v", want, n, err)
			}
		}
	}
}

func TestFaultyHoldsCallsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		f := NewFaulty(NewMemory(), func(c Call) Fault {
			if c.N == 1 {
				return Fault{Delay: time.Hour}
			}
			return Fault{Wait: gate}
		})
		start := time.Now()
		if err := f.Apply(t.Context(), village(ada)); err != nil || time.Since(start) != time.Hour {
			t.Errorf("delayed call: %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := f.Apply(ctx, village(bob)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("call at a closed gate: %v", err)
		}
		go func() { time.Sleep(time.Second); close(gate) }()
		if err := f.Apply(t.Context(), village(bob)); err != nil {
			t.Errorf("call after the gate opened: %v", err)
		}
	})
}
