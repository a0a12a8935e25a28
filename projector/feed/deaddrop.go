package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/nats-io/nats.go/jetstream"
)

// Drop deletes one message of [DeadStream], a foreign one too, and overwrites it on the server's disk. What the event stream
// has of it stays there. Errors: [ErrNoDeadLetter], the server's, the context's.
func (d *DeadLetters) Drop(ctx context.Context, number uint64) error {
	if _, err := d.get(ctx, number); err != nil {
		return err
	}
	if err := d.remove(ctx, number); err != nil {
		return fmt.Errorf("drop dead letter %d: %w", number, err)
	}
	return nil
}

// DropUser drops all that is kept under the subjects of a user, and returns how many messages. It may be repeated after an
// error; then n is what it dropped before that. Dead letters of which nobody could read the user are not found by it.
func (d *DeadLetters) DropUser(ctx context.Context, userID string) (n int, err error) {
	if err := graphstore.CheckID(userID); err != nil {
		return 0, fmt.Errorf("drop dead letters: %w: user %w", ErrBadFilter, err)
	}
	subjects := deadSubjectsOf(userID, "")
	for seq := uint64(1); ; n++ {
		raw, err := d.message(ctx, DeadStream, seq, subjects)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return n, nil
		}
		if err == nil {
			seq = raw.Sequence + 1
			err = d.remove(ctx, raw.Sequence)
		}
		if err != nil {
			return n, fmt.Errorf("drop dead letters of %s: %w", graphstore.Shorten(userID), err)
		}
	}
}

// remove is not a purge, which leaves the bytes on the server's disk. What is gone already is no error.
func (d *DeadLetters) remove(ctx context.Context, number uint64) error {
	asking, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	err := eraseMessage(asking, d.js, DeadStream, number)
	if err == nil {
		return nil
	}
	if _, there := d.message(ctx, DeadStream, number, ""); errors.Is(there, jetstream.ErrMsgNotFound) {
		return nil
	}
	return err
}
