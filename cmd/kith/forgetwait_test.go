package main

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// A feed that has stopped answers at once, each time: the next one is waited for, not asked for in a loop.
func TestWaitAppliedRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &graphHost{e: &env{log: slog.New(slog.DiscardHandler)}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		asked := 0
		err := h.waitOn(ctx, 7, func(context.Context) error { asked++; return errors.New("feed has stopped") })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the deadline", err)
		}
		if asked < 90 || asked > 101 { // 10 s, a tenth of one between two questions
			t.Errorf("asked %d times in ten seconds", asked)
		}
		cause := errors.New("enough")
		broken, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(nextFeed/2, func() { stop(cause) })
		began := time.Now()
		if err := h.waitOn(broken, 7, func(context.Context) error { return errors.New("feed has stopped") }); !errors.Is(err, cause) || time.Since(began) >= nextFeed {
			t.Errorf("cancelled: %v after %s", err, time.Since(began))
		}
	})
}
