package backfill_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/kithgraph/kith/backfill"
)

// A stream that does not answer at first is asked again, as the stores are.
func TestStreamThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	asked := 0
	b, err := backfill.New(newPoints(t, clustered(t, 1, 3)...), newGraph(t), newProjector(t), backfill.Config{
		Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
		LastSeq: func() (uint64, error) {
			if asked++; asked < 3 {
				return 0, errors.New("no responders")
			}
			return 42, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := b.Prepare(backfill.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := run.Do(context.Background()); err != nil || a.StreamSeq != 42 || a.Changed != 3 || asked != 3 {
		t.Errorf("%v: asked %d times, %+v: want the third answer, 42", err, asked, a)
	}
}
