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
	unwatch := context.AfterFunc(ctx, func() {
		l.stopBuild(streamCtx, cfg.StopWait)
		end() // a child that does not end it by itself
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
	err = sendAll(ctx, stream, cfg, records, answered)
	_ = stream.CloseSend() // an error of it shows in the answer
	if err != nil && ctx.Err() == nil {
		go func() { // ends with the stream
			l.stopBuild(streamCtx, cfg.StopWait)
			end()
		}()
	}
	<-answered // at the latest when the stream is ended
	if err != nil {
		return built{err: err, hung: streamCtx.Err() != nil}
	}
	outcome.err = ownError(ctx, outcome.err)
	return outcome
}

// stopBuild tells the child that the build is not wanted any more, and returns when its stream has ended or the wait is over.
func (l *link) stopBuild(streamCtx context.Context, wait time.Duration) {
	limited, cancel := context.WithTimeout(streamCtx, wait)
	defer cancel()
	_, _ = l.ask(limited, methodStopBuild, nil) // the build's own answer says what came of it
	<-limited.Done()
}

// sendAll sends everything. Its error is the caller's: of the context or of the records. What becomes of the stream shows in
// the answer.
func sendAll(ctx context.Context, stream grpc.ClientStream, cfg BuildConfig, records func(func(graphstore.Change) error) error,
	answered <-chan struct{},
) error {
	begin := binaryFrame(frameBegin, func(e *encoder) { e.order(ctx, cfg) })
	over := stream.SendMsg(&message{begin}) != nil
	out, n := &chunker{to: stream}, 0
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
		}
		over = over || out.add(c) != nil
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
