package child

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// TestContextsCross has the store in the child see the end of the caller's context, and the caller get its answer.
func TestContextsCross(t *testing.T) {
	for id, want := range map[string]error{
		"wait for the end of the context":  context.Canceled,
		"commit at the end of the context": nil, // the child alone knows: it was committed
	} {
		t.Run(id, func(t *testing.T) {
			cfg, _ := testConfig("odd", "graph")
			waiting := make(heard, 10)
			cfg.Stderr = waiting
			s := start(t, cfg)
			ctx, cancel := context.WithCancel(t.Context())
			answered := make(chan error)
			go func() { answered <- s.Apply(ctx, []graphstore.Change{fact("ada", id)}) }()
			wait(t, waiting)
			cancel()
			if err := <-answered; !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
	t.Run("deadline", func(t *testing.T) {
		cfg, _ := testConfig("odd", "graph")
		s := start(t, cfg)
		if err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "deadline")}); err == nil || !strings.Contains(err.Error(), "no deadline") {
			t.Errorf("without one: got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Apply(ctx, []graphstore.Change{fact("ada", "deadline")}); err != nil {
			t.Errorf("with one: %v", err)
		}
		short, end := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer end()
		err := s.Apply(short, []graphstore.Change{fact("ada", "wait for the end of the context")})
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnanswered) {
			t.Errorf("when it passes: got %v, want DeadlineExceeded as the child's answer", err)
		}
	})
}

// TestChildThatDoesNotAnswer hangs in a transaction: the caller gets its thread back, and Close ends the child.
func TestChildThatDoesNotAnswer(t *testing.T) {
	cfg, _ := testConfig("odd", "graph")
	waiting := make(heard, 10)
	cfg.Stderr, cfg.AnswerWait, cfg.CloseTimeout = waiting, 10*time.Millisecond, 300*time.Millisecond
	s := mustStart(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error)
	go func() { answered <- s.Apply(ctx, []graphstore.Change{fact("ada", "hang")}) }()
	wait(t, waiting)
	cancel()
	if err := <-answered; !errors.Is(err, ErrUnanswered) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want ErrUnanswered and the context's error", err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("close: got %v, want that the child was killed", err)
	}
	gone(t, s)
}

// TestErrorsKeepTheirIdentity has errors of the store arrive as what they are.
func TestErrorsKeepTheirIdentity(t *testing.T) {
	cfg, _ := testConfig("odd", "graph")
	s := start(t, cfg)
	err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "special")})
	if !errors.Is(err, errOfTheStore) || err.Error() != "apply: "+errOfTheStore.Error() {
		t.Errorf("got %v, want the store's error", err)
	}
	all := testErrors()
	plain := errors.New("plain")
	every := []error{graphstore.ErrBadChange, graphstore.ErrDangling, graphstore.ErrNoSpace, graphstore.ErrClosed, context.Canceled,
		context.DeadlineExceeded, ErrInUse, ErrForeign, ErrNewerSchema, all.InUse, all.Foreign, all.NewerSchema, all.Machine[0],
		errOfTheStore, plain}
	same := map[error]error{all.InUse: ErrInUse, all.Foreign: ErrForeign, all.NewerSchema: ErrNewerSchema,
		ErrInUse: all.InUse, ErrForeign: all.Foreign, ErrNewerSchema: all.NewerSchema}
	for _, err := range every {
		e := &encoder{}
		all.answer(e, fmt.Errorf("doing: %w", fmt.Errorf("deeper: %w", err)))
		got, broken := all.outcome(&decoder{rest: string(e.buf)})
		if broken != nil || got == nil || got.Error() != "doing: deeper: "+err.Error() {
			t.Fatalf("%v: got %v, broken %v", err, got, broken)
		}
		for _, other := range every {
			crosses := !errors.Is(err, plain)
			if want := crosses && (errors.Is(other, err) || errors.Is(other, same[err])); errors.Is(got, other) != want {
				t.Errorf("%v is %v: %v, want %v", err, other, !want, want)
			}
		}
	}
	both := &encoder{}
	all.answer(both, fmt.Errorf("%w: %w", graphstore.ErrBadChange, graphstore.ErrNoSpace))
	if got, _ := all.outcome(&decoder{rest: string(both.buf)}); !errors.Is(got, graphstore.ErrBadChange) || !errors.Is(got, graphstore.ErrNoSpace) {
		t.Errorf("an error that is two: got %v", got)
	}
}

// TestReaderThatDoesNotRead stands still at the first of 20,000 records of a kilobyte. The child may read ahead as much as
// the window (1 MiB), the transport's own buffers and a few chunks (256 KiB) hold, about 2 MB, and not the 20 MB there are.
func TestReaderThatDoesNotRead(t *testing.T) {
	const records, most = 20_000, 4_000
	cfg, _ := testConfig("odd", "graph")
	s := start(t, cfg)
	for i := 0; i < records; i += 5000 {
		if err := s.Apply(t.Context(), large(i, 5000)); err != nil {
			t.Fatal(err)
		}
	}
	yielded := func() int {
		st, err := s.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.Facts
	}
	stopped := errors.New("stopped")
	n := 0
	err := s.LoadAll(t.Context(), func(graphstore.Change) error {
		n++
		for last, same := 0, 0; same < 100; { // until it stands still
			now := yielded()
			if same++; now != last {
				last, same = now, 0
			}
		}
		if ahead := yielded(); ahead > most || ahead < chunkBytes/2000 {
			t.Errorf("the child is %d records ahead, want at most %d, and at least part of a chunk", ahead, most)
		}
		return stopped
	})
	if err != stopped || n != 1 { //nolint:errorlint // as it is
		t.Errorf("got %v after %d records", err, n)
	}
	if all := yielded(); all > most {
		t.Errorf("after the reader gave up the child went on to %d records", all)
	}
}

// TestCancelOfALoad ends a load by its context, from inside.
func TestCancelOfALoad(t *testing.T) {
	cfg, _ := testConfig("odd", "graph")
	s := start(t, cfg)
	if err := s.Apply(t.Context(), large(0, 5000)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	err := s.LoadAll(ctx, func(graphstore.Change) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrChildDied) || n != 10 {
		t.Errorf("got %v after %d records, want the context's error after 10", err, n)
	}
	if _, n := digest(t, s); n != 5000 {
		t.Errorf("the next load yields %d records, want 5000", n)
	}
}

// TestHugeTransaction commits 8,000 changes at once to a Kuzu file, and all or nothing of as many with one that dangles.
func TestHugeTransaction(t *testing.T) {
	const n = 8_000
	cfg, _ := testConfig("kuzu", filepath.Join(t.TempDir(), "graph"))
	s := start(t, cfg)
	all := make([]graphstore.Change, n)
	for i := range all {
		all[i] = fact("ada", fmt.Sprintf("f%d", i))
	}
	dangling := graphstore.PutEdge(all[0].Space, graphstore.Edge{Source: "f1", Target: "none", Type: graphstore.Causes, Weight: 1,
		Asserter: graphstore.Asserter{Kind: graphstore.ByFact, ID: "f1"}})
	if err := s.Apply(t.Context(), append(all[:n:n], dangling)); !errors.Is(err, graphstore.ErrDangling) {
		t.Errorf("got %v, want ErrDangling", err)
	}
	if _, got := digest(t, s); got != 0 {
		t.Errorf("%d records after a refused transaction", got)
	}
	if err := s.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Facts != n {
		t.Errorf("stats %+v, %v, want %d facts", st, err, n)
	}
}

// TestCloseDuringALoad closes under a reader that stands still: the calls in flight get CloseTimeout, then the child goes.
func TestCloseDuringALoad(t *testing.T) {
	cfg, _ := testConfig("odd", "graph")
	cfg.CloseTimeout = 300 * time.Millisecond
	s := mustStart(t, cfg)
	if err := s.Apply(t.Context(), large(0, 5000)); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := s.LoadAll(t.Context(), func(graphstore.Change) error {
		if n++; n > 1 {
			return nil
		}
		closed := make(chan error)
		go func() { closed <- s.Close() }()
		if err := <-closed; err == nil || !strings.Contains(err.Error(), "still in flight") {
			t.Errorf("close: got %v, want that calls were in flight", err)
		}
		return nil
	})
	if !errors.Is(err, ErrChildDied) || !errors.Is(err, graphstore.ErrClosed) || n >= 5000 {
		t.Errorf("load: got %v after %d records, want ErrClosed", err, n)
	}
	gone(t, s)
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// TestHungChildIsReplaced hangs in a transaction for a caller without a deadline.
func TestHungChildIsReplaced(t *testing.T) {
	cfg, happened := testConfig("odd", "graph")
	cfg.ApplyLimit = 300 * time.Millisecond
	s := start(t, cfg)
	err := s.Apply(t.Context(), []graphstore.Change{fact("ada", "hang")})
	if !errors.Is(err, ErrChildDied) || !strings.Contains(err.Error(), "not answered within 300ms") {
		t.Errorf("got %v, want ErrChildDied and why", err)
	}
	wait(t, happened.restarted)
	if _, err := s.Stats(t.Context()); err != nil {
		t.Error(err)
	}
}
