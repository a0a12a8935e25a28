package feed

import (
	"errors"
	"fmt"
)

// errLeft is why a standby gives back what is bad: the active one stores its dead letters.
var errLeft = errors.New("its dead letters are the active service's to store")

// errPinUncertain is why a dead letter is not stored by who may have lost its pin.
var errPinUncertain = fmt.Errorf("dead letter has to wait: %w", errSeatLost)

// standIn turns a verdict of a standby that needs dead letters into one that leaves them to the active one: the message waits,
// and counts as left, until the group has settled it.
func (f *Feed) standIn(d *delivery, v verdict) verdict {
	bad := v.outcome == Buried || (v.outcome == Applied && len(d.rejected) > 0)
	if !f.grouped() || !bad || f.mayBury() == nil {
		return v
	}
	if f.group.active.Load() { // it may have lost its pin, and will find out; that is no trouble
		return verdict{outcome: Left, err: errLeft, delay: f.cfg.Standby.TTL / 3}
	}
	if f.group.floor.Load() >= d.seq {
		f.settledByActive(d, v)
		return verdict{outcome: Left}
	}
	f.loop.left[d.seq] = struct{}{}
	f.group.left.Store(int64(len(f.loop.left)))
	return verdict{outcome: Left, err: errLeft, delay: f.cfg.StatusInterval}
}

// settledByActive notes an event that the group is done with. A bad event is bad everywhere; what this service alone could not
// project the active one may have, and then the graphs differ.
func (f *Feed) settledByActive(d *delivery, v verdict) {
	f.unleave(d.seq)
	if v.outcome == Buried && v.reason != ReasonBadEvent {
		f.counters.skipped.Add(1)
		f.log.Warn("event is settled by the active service, and this one could not project it", "reason", v.reason, "event", d.id, "sequence", d.seq, "err", v.err)
	}
}

func (f *Feed) unleave(seq uint64) {
	delete(f.loop.left, seq)
	f.group.left.Store(int64(len(f.loop.left)))
}

// forgetLeft lets go of what is left to the active one: it comes again.
func (f *Feed) forgetLeft() {
	clear(f.loop.left)
	f.group.left.Store(0)
}

// mayBury returns why the feed must not store a dead letter now: it stands by, or may have lost its pin.
func (f *Feed) mayBury() error {
	if f.grouped() && (!f.group.active.Load() || !f.loop.seat.fresh()) {
		return errPinUncertain
	}
	return nil
}
