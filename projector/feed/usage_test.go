package feed

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// sight is what the server says of the consumer at a time after the first look.
type sight struct {
	waiting    int
	unsettled  int
	deliveries uint64
	lastActive time.Duration // relative to the first look; lives no longer than the server's memory
	forgotten  bool          // the server has been started since
}

func TestUsage(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		sight  func(at time.Duration) sight
		want   used
		before time.Duration // the decision falls in the second before this
	}{
		"a feed with nothing to do": { // later than a pull and its slack, 6.25 s
			func(time.Duration) sight { return sight{waiting: 1, deliveries: 9, lastActive: -time.Hour} }, inUse, 7 * time.Second},
		"a feed with nothing to do, first seen between two pulls": {
			func(at time.Duration) sight {
				return sight{waiting: min(1, int(at)), deliveries: 9, lastActive: -time.Hour}
			}, inUse, 7 * time.Second},
		"unused for an hour": { // the slack alone, 1.25 s
			func(time.Duration) sight { return sight{deliveries: 9, lastActive: -time.Hour} }, unused, 2 * time.Second},
		"unused since the server was started": { // 20 s
			func(time.Duration) sight { return sight{deliveries: 9, forgotten: true} }, unused, 21 * time.Second},
		"killed with nothing to do": { // its pull is open for 4.5 s more, then 20 s
			func(at time.Duration) sight {
				if at < 4500*time.Millisecond {
					return sight{waiting: 1, deliveries: 9, lastActive: -time.Hour}
				}
				return sight{deliveries: 9, lastActive: -time.Hour}
			}, unused, 25 * time.Second},
		"killed in a commit, a second ago": { // 20 s and a third of the ack wait of 30 s, less that second
			func(time.Duration) sight { return sight{unsettled: 5, deliveries: 9, lastActive: -time.Second} }, unused, 30 * time.Second},
		"its store is down: one try in 15 s": {
			func(at time.Duration) sight {
				return sight{unsettled: 1, deliveries: 9 + uint64(at/(15*time.Second)), lastActive: at.Truncate(15 * time.Second)}
			}, inUse, 16 * time.Second},
		"in a commit of a minute: a word in 10 s": {
			func(at time.Duration) sight {
				return sight{unsettled: 5, deliveries: 9, lastActive: at.Truncate(10 * time.Second)}
			}, inUse, 11 * time.Second},
	} {
		u := usage{pullWait: 5 * time.Second, quiet: 20 * time.Second}
		var got used
		at := time.Duration(0)
		for ; got == undecided && at < time.Minute; at += 250 * time.Millisecond {
			s := c.sight(at)
			info := &jetstream.ConsumerInfo{TimeStamp: start.Add(at), NumWaiting: s.waiting, NumAckPending: s.unsettled}
			info.Config.AckWait = 30 * time.Second
			info.Delivered.Consumer = s.deliveries
			if last := start.Add(s.lastActive); !s.forgotten {
				info.Delivered.Last = &last
			}
			got = u.look(info)
		}
		at -= 250 * time.Millisecond // of the last look
		if got != c.want || at > c.before || at < c.before-time.Second {
			t.Errorf("%s: %d after %s, want %d in the second before %s", name, got, at, c.want, c.before)
		}
	}
}
