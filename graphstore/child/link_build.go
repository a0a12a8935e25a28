package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/kithgraph/kith/graphstore"
)

// built is the answer to a build.
type built struct {
	head  graphstore.Head
	stats graphstore.Stats
	err   error
	hung  bool // the child did not end the build when it was told to
}

// errAnswered stops the records: the child has answered before it had them all.
var errAnswered = errors.New("build has ended")

// build sends the records and waits for the outcome. When the context or the records end it early, the child is told and
// has as long as cfg.StopWait says to leave nothing behind.
func (l *link) build(ctx context.Context, cfg BuildConfig, records func(func(graphstore.Change) error) error) built {
	streamCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	// A child that neither reads nor answers ends nothing by itself.
	unwatch := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(cfg.StopWait)
		defer timer.Stop()
		select {
		case <-timer.C:
			end()
		case <-streamCtx.Done():
		}
	})
	defer unwatch()
	stream, err := l.conn.NewStream(streamCtx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, methodBuild, l.options()...)
	if err != nil {
		return built{err: lost(ctx, err)}
	}
	answered, outcome := make(chan struct{}), built{}
	go func() { // ends with the stream
		defer close(answered)
		d, err := l.receiveAnswer(stream)
		if err != nil {
			outcome.err = err
			return
		}
		outcome.head, outcome.stats, outcome.err = d.written()
	}()
	if err := sendAll(ctx, stream, cfg, records, answered); err != nil {
		_ = stream.SendMsg(&message{[]byte{frameCancel}}) // an error of it shows in the answer
		timer := time.NewTimer(cfg.StopWait)
		defer timer.Stop()
		select {
		case <-answered:
			return built{err: err}
		case <-timer.C:
			return built{err: err, hung: true}
		}
	}
	select {
	case <-answered:
	case <-ctx.Done():
		_ = stream.SendMsg(&message{[]byte{frameCancel}}) // as above
		<-answered                                        // at the latest when the watch above ends the stream
	}
	outcome.err = ownError(ctx, outcome.err)
	return outcome
}

// sendAll sends everything. Its error is the caller's: of the context or of the records. What becomes of the stream shows in
// the answer.
func sendAll(ctx context.Context, stream grpc.ClientStream, cfg BuildConfig, records func(func(graphstore.Change) error) error,
	answered <-chan struct{},
) error {
	begin := binaryFrame(frameBegin, func(e *encoder) { e.order(ctx, cfg) })
	if stream.SendMsg(&message{begin}) != nil {
		return nil
	}
	out, n, over := &chunker{to: stream}, 0, false
	err := records(func(c graphstore.Change) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.Validate(); err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		select {
		case <-answered:
			over = true
		default:
			over = over || out.add(c) != nil
		}
		if over {
			return errAnswered
		}
		n++
		return nil
	})
	switch {
	case over:
		return nil
	case err != nil:
		return err
	case out.flush() == nil:
		_ = stream.SendMsg(commitFrame(n)) // an error of it shows in the answer
	}
	return nil
}
