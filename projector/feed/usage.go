package feed

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// looksPerPull is how often the consumer is looked at in the time of one pull.
const looksPerPull = 20

// usage finds out whether a service pulls from a consumer, from what the server says of it now and then. All times are the
// server's.
//
// A feed that is alive has a pull open nearly all the time, takes messages, or says every third of AckWait that it works on
// them; it pauses after failures only, up to RetryMax. A process that was killed leaves a pull behind that the server answers
// for at most pullWait. Hence: what is open or happens later than that is somebody's; where nothing was for longer than the
// pauses, nobody is there.
type usage struct {
	pullWait time.Duration // of one pull
	quiet    time.Duration // the longest time without a sign of life

	since     time.Time // first look
	last      time.Time // last sign of life
	delivered uint64    // deliveries
	active    time.Time // last delivery, word of work or acknowledgement that the server remembers
}

// used is what is known so far.
type used uint8

const (
	undecided used = iota
	inUse
	unused
)

// look takes in one answer of the server, in their order.
func (u *usage) look(info *jetstream.ConsumerInfo) used {
	now, remembered := info.TimeStamp, later(timeOf(info.Delivered.Last), timeOf(info.AckFloor.Last))
	active := info.NumWaiting > 0 || (!u.since.IsZero() && (info.Delivered.Consumer != u.delivered || remembered.After(u.active)))
	if u.since.IsZero() {
		u.since, u.last = now, remembered
		if remembered.IsZero() { // never, or the server has been started since
			u.last = now
		}
	}
	u.delivered, u.active = info.Delivered.Consumer, remembered
	slack := u.pullWait / 4
	if active {
		u.last = now
		if now.Sub(u.since) > u.pullWait+slack {
			return inUse
		}
		return undecided
	}
	quiet := u.quiet
	if info.NumAckPending > 0 { // perhaps in a long commit
		quiet += info.Config.AckWait / 3
	}
	if now.Sub(u.since) >= slack && now.Sub(u.last) >= quiet { // the slack: between two pulls none is open for an instant
		return unused
	}
	return undecided
}

// quiet is the longest time for which a feed shows no sign of life: its longest pause, and a pull's time for all else.
func (f *Feed) quiet() time.Duration { return f.cfg.RetryMax + f.env.pullWait }

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
