package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/sourcegraph/conc/iter"
)

// process projects one batch and settles every message of it. The error is trouble that will pass: the messages it
// concerns have been given back, and the feed pauses. The end of ctx asks it to start no new attempts after a failure, that
// of work cuts it off.
func (f *Feed) process(ctx, work context.Context, batch []*delivery) error {
	defer f.keepAlive(batch)()
	committed := f.counters.commits.Load()
	var good, suspects []*delivery
	undecoded := iter.Map(batch, func(d **delivery) error { return (*d).decode(f.cfg.Limits) })
	for i, d := range batch {
		if err := undecoded[i]; err != nil {
			f.settle(work, d, buried(ReasonBadEvent, err))
		} else if f.loop.suspects[d.seq].isolated() {
			suspects = append(suspects, d)
		} else {
			good = append(good, d)
		}
	}
	f.loop.whole = 0
	if len(batch) >= f.loop.size.now {
		f.loop.whole = len(good)
	}
	if len(good) > 0 {
		if err := f.project(ctx, work, good); err != nil {
			f.returnAll(work, suspects, err)
			return err
		}
	}
	return f.tryAlone(ctx, work, suspects, committed)
}

// project commits events together or finds out which of them cannot be.
func (f *Feed) project(ctx, work context.Context, ds []*delivery) error {
	err := f.attempt(work, ds)
	switch ds = unsettled(ds); {
	case err == nil:
		return nil
	case permanent(err) && len(ds) == 1:
		f.settle(work, ds[0], buried(ReasonCommit, err))
		return nil
	case permanent(err):
		return f.halve(ctx, work, ds)
	case len(ds) > 1 && failing(ds):
		return f.isolate(ctx, work, ds)
	default:
		f.returnAll(work, ds, err)
		return err
	}
}

// failing reports whether one of the messages has been through this often enough for the batch to be taken apart.
func failing(ds []*delivery) bool {
	for _, d := range ds {
		if d.count >= isolateAfter {
			return true
		}
	}
	return false
}

// keepAlive tells the server three times in AckWait that the messages are being worked on, until the returned function is
// called.
func (f *Feed) keepAlive(batch []*delivery) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(f.cfg.AckWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			for _, d := range unsettled(batch) {
				if err := d.msg.InProgress(); err != nil && !errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
					f.health.noted(fmt.Errorf("keep event %d alive: %w", d.seq, err))
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

func unsettled(ds []*delivery) []*delivery {
	var left []*delivery
	for _, d := range ds {
		if !d.settled.Load() {
			left = append(left, d)
		}
	}
	return left
}
