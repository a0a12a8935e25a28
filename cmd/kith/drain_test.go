package main

import (
	"context"
	"testing"
	"time"
)

// SIGTERM in the middle of a backlog: the service ends in its time, with what it had in hand committed and acknowledged, and the
// next one goes on behind it.
func TestTerminatedServiceGoesOnWhereItWas(t *testing.T) {
	const events, drain = 2000, 10 * time.Second
	file := writeEvents(t, events)
	calm := t.TempDir()
	publish(t, calm, file)
	p, cl := serve(t, calm)
	projected(t, p, cl, events)
	want := digestOf(t, cl)
	p.terminate(t)

	dir := t.TempDir()
	publish(t, dir, file)
	p, cl = serve(t, dir, "KITH_BATCH_EVENTS=20", "KITH_DRAIN_TIMEOUT="+drain.String())
	eventually(t, p, func() bool {
		h, err := cl.health(context.Background())
		return err == nil && h.AppliedSeq > 0
	})
	start := time.Now()
	p.terminate(t)
	if took := time.Since(start); took > drain+5*time.Second { // the stores are closed after the drain
		t.Errorf("took %s to stop, with %s to drain", took, drain)
	}
	p, cl = serve(t, dir)
	projected(t, p, cl, events)
	st, err := cl.stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := digestOf(t, cl); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if st.Feed.Applied == events {
		t.Error("the first service had applied nothing: the test tests nothing")
	}
	if st.Feed.Redelivered > 20 { // at most a pull that was open in the instant of the stop
		t.Errorf("%d events came again: what was in hand at the stop was not settled", st.Feed.Redelivered)
	}
	p.terminate(t)
}
