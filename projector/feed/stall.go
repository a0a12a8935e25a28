package feed

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Servers and clients have had bugs by which a consumer has messages for a client that waits for them, and nothing moves
// (nats-server#6905, nats.go#1729). From outside it looks like an idle feed: no error, no failure, a lag that grows. So the
// monitor compares what the server says with how long the feed has been waiting. An episode lasts from the first finding to
// the next delivery, or until the server has nothing left; no cycle counts as a success in it.

// watch has the consumer taken up again if it is stalled. That makes a new one only if it is gone.
func (f *Feed) watch(info *jetstream.ConsumerInfo, now time.Time) {
	reason := f.stalled(info, now)
	switch {
	case reason != "":
		if f.health.stall(errors.New(reason), now) {
			f.log.Warn("the server has messages and delivers none: taking the consumer up again, as often as it takes", "reason", reason)
		}
		f.counters.stalls.Add(1)
		f.idle.Store(now.UnixNano())
		f.kickOff(reason)
	case info.NumPending == 0 && info.NumAckPending == 0:
		f.moved()
	}
}

// stalled returns why the consumer must be taken up again: the server has messages for the feed, the feed has been waiting
// for longer than any delivery can take, and nobody holds anything up on purpose.
func (f *Feed) stalled(info *jetstream.ConsumerInfo, now time.Time) string {
	since := f.idle.Load()
	if since == 0 || info.Paused {
		return ""
	}
	waited := now.Sub(time.Unix(0, since))
	limit := f.cfg.StallAfter
	switch {
	case info.NumPending > 0 && info.NumAckPending < f.cfg.MaxAckPending && waited > limit:
		return fmt.Sprintf("%d messages pending and none delivered for %s", info.NumPending, waited.Round(time.Second))
	case info.NumAckPending > 0 && waited > limit+f.cfg.RetryMax:
		return fmt.Sprintf("%d messages unsettled and none delivered again for %s", info.NumAckPending, waited.Round(time.Second))
	default:
		return ""
	}
}

// moved ends an episode.
func (f *Feed) moved() {
	if since := f.health.unstall(); !since.IsZero() {
		f.log.Info("the consumer is no longer stalled", "lasted", time.Since(since).Round(time.Second))
	}
}

// stall notes that the consumer delivers nothing and reports whether that is news.
func (h *health) stall(why error, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	fresh := h.mu.stalled == nil
	if fresh {
		h.mu.stalledSince = now
	}
	h.mu.stalled = why
	return fresh
}

// unstall returns since when the consumer had delivered nothing; zero if it was not stalled.
func (h *health) unstall() (since time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	since = h.mu.stalledSince
	h.mu.stalled, h.mu.stalledSince = nil, time.Time{}
	return since
}

// stallError returns what the monitor has found in this episode.
func (h *health) stallError() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.stalled
}
