package child

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/kithgraph/kith/graphstore"
)

// apply sends a transaction and waits for its outcome. The stream does not end with the caller's context: once the commit
// is asked for, the child alone knows whether it had begun, so the end of the context is sent to it and its answer awaited,
// for as long as wait says.
func (l *link) apply(ctx context.Context, wait time.Duration, changes []graphstore.Change, mark graphstore.Mark) error {
	streamCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	unwatch := context.AfterFunc(ctx, end)
	defer unwatch()
	stream, err := l.conn.NewStream(streamCtx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, methodApply, l.options()...)
	if err != nil {
		return lost(ctx, err)
	}
	if err := send(ctx, stream, changes, mark); err != nil {
		return err
	}
	if !unwatch() {
		return ctx.Err() // nothing was asked to be committed
	}
	if err := stream.SendMsg(commitFrame(len(changes))); err != nil {
		return &lostError{err}
	}
	answered := make(chan error, 1)
	go func() { // ends with the stream
		_, err := l.receiveAnswer(stream)
		answered <- err
	}()
	select {
	case err := <-answered:
		return ownError(ctx, err)
	case <-ctx.Done():
	}
	// The error of sending shows in the answer.
	_ = stream.SendMsg(&message{[]byte{frameCancel}})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case err := <-answered:
		return ownError(ctx, err)
	case <-timer.C:
		return fmt.Errorf("apply: %w: %w", ErrUnanswered, ctx.Err())
	}
}

// timeLeft packs how many nanoseconds are left until the deadline, 0 for none.
func (e *encoder) timeLeft(ctx context.Context) {
	deadline, has := ctx.Deadline()
	if !has {
		e.varint(0)
		return
	}
	e.varint(max(1, int64(time.Until(deadline))))
}

func commitFrame(records int) *message {
	return &message{binaryFrame(frameCommit, func(e *encoder) { e.uvarint(uint64(records)) })}
}

func binaryFrame(kind byte, body func(*encoder)) []byte {
	e := &encoder{}
	e.byte(kind)
	body(e)
	return e.buf
}

// send sends all but the commit. An error that is not of the transport is the caller's.
func send(ctx context.Context, stream grpc.ClientStream, changes []graphstore.Change, mark graphstore.Mark) error {
	begin := binaryFrame(frameBegin, func(e *encoder) {
		e.timeLeft(ctx)
		e.mark(mark)
	})
	if err := stream.SendMsg(&message{begin}); err != nil {
		return lost(ctx, err)
	}
	out := &chunker{to: stream}
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := out.add(c); err != nil {
			return lost(ctx, err)
		}
	}
	if err := out.flush(); err != nil {
		return lost(ctx, err)
	}
	return nil
}

// receiveAnswer returns what follows the outcome at the end of a stream.
func (l *link) receiveAnswer(stream receiver) (*decoder, error) {
	m := &message{}
	if err := stream.RecvMsg(m); err != nil {
		return nil, &lostError{err}
	}
	kind, body, err := cutFrame(m)
	if err != nil || kind != frameAnswer {
		return nil, &lostError{fmt.Errorf("frame %q instead of an answer", kind)}
	}
	return l.answer(body)
}
