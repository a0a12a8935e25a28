package feed

import (
	"context"
	"log/slog"
)

// undeliverable handles a dead letter that could not be stored: its message goes back and waits. The feed goes on with
// others, and no cycle counts as a success until the last of such messages is settled. The streams are checked before the
// next pull: the one of the dead letters may be gone.
func (f *Feed) undeliverable(ctx context.Context, d *delivery, err error) verdict {
	f.loop.consumer = nil
	level := slog.LevelDebug
	if f.loop.deadErr == nil {
		level = slog.LevelError
	}
	f.log.Log(context.Background(), level, "dead letter cannot be stored, its event stays in the queue", "event", d.id, "sequence", d.seq, "err", err)
	f.loop.deadErr = err
	f.loop.undelivered[d.seq] = struct{}{}
	f.health.noted(err)
	f.health.waiting(len(f.loop.undelivered))
	return f.returned(ctx, d, err)
}

// forgetUndelivered lets go of messages that are settled, or gone from the stream, without having come again.
func (f *Feed) forgetUndelivered() {
	floor := f.progress.position()
	for seq := range f.loop.undelivered {
		if seq <= floor {
			delete(f.loop.undelivered, seq)
		}
	}
	f.countUndelivered()
}

// countUndelivered publishes the number and notes the end of an episode.
func (f *Feed) countUndelivered() {
	f.health.waiting(len(f.loop.undelivered))
	if f.loop.deadErr != nil && len(f.loop.undelivered) == 0 {
		f.loop.deadErr = nil
		f.log.Info("dead letters are stored again")
	}
}
