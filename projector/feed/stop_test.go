package feed

import (
	"errors"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// held returns a fault that holds every commit up until release is closed, and a channel that tells of each that waits.
func held() (decide func(graphstoretest.Call) graphstoretest.Fault, waiting chan struct{}, release chan struct{}) {
	waiting, release = make(chan struct{}, 100), make(chan struct{})
	return onApply(func(graphstoretest.Call) graphstoretest.Fault {
		waiting <- struct{}{}
		return graphstoretest.Fault{Wait: release}
	}), waiting, release
}

func TestStopFinishesTheBatchInHand(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	decide, waiting, release := held()
	g.faults.set(decide)
	f := run(t, newFeed(t, js, g, fastConfig()))
	publish(t, js, numbered(userA, 30)...)
	<-waiting // mid-batch
	f.cancel()
	close(release)
	f.stop(t)
	s := f.Status()
	if s.Applied == 0 || s.Returned != 0 {
		t.Errorf("status %+v: want the batch in hand applied, nothing given back", s)
	}
	g.wantFacts(t, userA, int(s.Applied))

	rest := run(t, newFeed(t, js, g, fastConfig()))
	rest.applied(t)
	g.wantFacts(t, userA, 30)
	if got := rest.Status(); got.Redelivered != 0 || got.Applied != 30-s.Applied {
		t.Errorf("status %+v after the first feed applied %d: want the others, each once", got, s.Applied)
	}
}

func TestStopThatIsTooSlowGivesTheBatchBack(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	decide, waiting, release := held()
	defer close(release)
	g.faults.set(decide)
	cfg := fastConfig()
	cfg.DrainTimeout = 50 * time.Millisecond
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 30)...)
	<-waiting
	f.cancel()
	err := f.end()
	if !errors.Is(err, errDrain) {
		t.Fatalf("run returned %v, want that the drain timeout was over", err)
	}
	g.wantFacts(t, userA, 0)

	g.faults.none()
	start := time.Now()
	rest := run(t, newFeed(t, js, g, cfg))
	rest.applied(t)
	g.wantFacts(t, userA, 30)
	if took := time.Since(start); took > cfg.AckWait {
		t.Errorf("the next feed took %s: want the batch back at once, not after the ack wait of %s", took, cfg.AckWait)
	}
	wantSettled(t, js)
}

func TestStopWhileTheStoreIsDown(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	g.faults.set(down)
	cfg := fastConfig()
	cfg.RetryMin, cfg.RetryMax = time.Minute, time.Minute
	f := run(t, newFeed(t, js, g, cfg))
	publish(t, js, numbered(userA, 3)...)
	eventually(t, "the first cycle failed", func() bool { return f.Status().Failures == 1 })
	f.stop(t) // does not wait for the pause of a minute to end
}

func TestWaitsEndWithTheFeed(t *testing.T) {
	js := newJS(t)
	f := run(t, newFeed(t, js, newGraph(t), fastConfig()))
	publish(t, js, numbered(userA, 1)...)
	f.applied(t)
	result := make(chan error, 1)
	go func() { result <- f.WaitApplied(testContext(t), 99) }()
	eventually(t, "somebody waits", f.progress.doubtful)
	f.stop(t)
	if err := <-result; !errors.Is(err, ErrStopped) {
		t.Errorf("wait for what never comes returned %v, want ErrStopped", err)
	}
	if err := f.WaitApplied(testContext(t), 99); !errors.Is(err, ErrStopped) {
		t.Errorf("wait after the end returned %v, want ErrStopped", err)
	}
	if err := f.WaitApplied(testContext(t), 1); err != nil {
		t.Errorf("wait for what has been applied returned %v", err)
	}
}
