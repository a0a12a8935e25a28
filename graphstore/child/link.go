package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kithgraph/kith/graphstore"
)

// link is the parent's side of the methods: one connection to one child.
type link struct {
	conn   *grpc.ClientConn
	codec  codec
	errors Errors
	ended  <-chan struct{} // closed when the process has ended
}

// lostError says that no answer came: the connection, and with it the child, is of no more use.
type lostError struct{ cause error }

func (e *lostError) Error() string { return "no answer: " + e.cause.Error() }
func (e *lostError) Unwrap() error { return e.cause }

// lost sorts out an error of the transport: the caller's context, or the loss of the child.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if status.Code(err) == codes.DeadlineExceeded { // the child's clock was faster
		return context.DeadlineExceeded
	}
	return &lostError{err}
}

func (l *link) options() []grpc.CallOption {
	return []grpc.CallOption{grpc.ForceCodecV2(l.codec), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)}
}

// ask makes a call of one question and one answer, and returns what follows the outcome.
func (l *link) ask(ctx context.Context, method string, question []byte) (*decoder, error) {
	out := &message{}
	if err := l.conn.Invoke(ctx, method, &message{question}, out, l.options()...); err != nil {
		return nil, lost(ctx, err)
	}
	return l.answer(out.data)
}

func (l *link) answer(data []byte) (*decoder, error) {
	d := &decoder{rest: string(data)}
	outcome, broken := l.errors.outcome(d)
	if broken != nil {
		return nil, &lostError{fmt.Errorf("answer: %w", broken)}
	}
	return d, outcome
}

func (l *link) open(ctx context.Context, path string) error {
	e := &encoder{}
	e.text(path)
	_, err := l.ask(ctx, methodOpen, e.buf)
	return err
}

func (l *link) close(ctx context.Context) error {
	_, err := l.ask(ctx, methodClose, nil)
	return err
}

func (l *link) spaces(ctx context.Context) ([]graphstore.Space, error) {
	d, err := l.ask(ctx, methodSpaces, nil)
	if err != nil {
		return nil, err
	}
	spaces := make([]graphstore.Space, d.count())
	for i := range spaces {
		if spaces[i], err = graphstore.NewSpace(d.text()); err != nil {
			return nil, &lostError{fmt.Errorf("answer: %w", errors.Join(d.err, err))}
		}
	}
	return spaces, nil
}

func (l *link) stats(ctx context.Context) (graphstore.Stats, error) {
	d, err := l.ask(ctx, methodStats, nil)
	if err != nil {
		return graphstore.Stats{}, err
	}
	var st graphstore.Stats
	for _, n := range []*int{&st.Spaces, &st.Facts, &st.Entities, &st.Topics, &st.Edges} {
		*n = int(d.varint())
	}
	st.Bytes = d.varint()
	if d.err != nil {
		return graphstore.Stats{}, &lostError{fmt.Errorf("answer: %w", d.err)}
	}
	return st, nil
}

// load reads the records of one space, or of all for nil.
func (l *link) load(ctx context.Context, space *graphstore.Space, yield func(graphstore.Change) error) error {
	streamCtx, end := context.WithCancel(ctx) // ends the child's load when this one ends early
	defer end()
	stream, err := l.conn.NewStream(streamCtx, &grpc.StreamDesc{ServerStreams: true}, methodLoad, l.options()...)
	if err != nil {
		return lost(ctx, err)
	}
	if err := askLoad(stream, space); err != nil {
		return lost(ctx, err)
	}
	var records reader
	for {
		m := &message{}
		if err := stream.RecvMsg(m); err != nil {
			return lost(ctx, err)
		}
		kind, body, err := cutFrame(m)
		switch {
		case err != nil:
			return &lostError{err}
		case kind == frameAnswer:
			_, err := l.answer(body)
			return ownError(ctx, err)
		case kind != frameChunk:
			return &lostError{fmt.Errorf("frame %q in a load", kind)}
		}
		stopped, broken := records.each(body, func(c graphstore.Change) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return yield(c)
		})
		if broken != nil {
			return &lostError{broken}
		}
		if stopped != nil {
			return stopped
		}
	}
}

func askLoad(stream grpc.ClientStream, space *graphstore.Space) error {
	e := &encoder{}
	if space == nil {
		e.byte(1)
		e.text("")
	} else {
		e.byte(0)
		e.text(space.UserID())
	}
	if err := stream.SendMsg(&message{e.buf}); err != nil {
		return err
	}
	return stream.CloseSend()
}

// ownError prefers the caller's own context error to the child's rendering of it.
func ownError(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return ctx.Err()
	}
	return err
}

// apply sends a transaction and waits for its outcome. The stream does not end with the caller's context: once the commit
// is asked for, the child alone knows whether it had begun, so the end of the context is sent to it and its answer awaited,
// for as long as wait says.
func (l *link) apply(ctx context.Context, wait time.Duration, changes []graphstore.Change) error {
	streamCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	unwatch := context.AfterFunc(ctx, end)
	defer unwatch()
	stream, err := l.conn.NewStream(streamCtx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, methodApply, l.options()...)
	if err != nil {
		return lost(ctx, err)
	}
	if err := send(ctx, stream, changes); err != nil {
		return err
	}
	if !unwatch() {
		return ctx.Err() // nothing was asked to be committed
	}
	if err := stream.SendMsg(&message{binaryFrame(frameCommit, func(e *encoder) { e.uvarint(uint64(len(changes))) })}); err != nil {
		return &lostError{err}
	}
	answered := make(chan error, 1)
	go func() { answered <- l.receiveAnswer(stream) }() // ends with the stream
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

func binaryFrame(kind byte, body func(*encoder)) []byte {
	e := &encoder{}
	e.byte(kind)
	body(e)
	return e.buf
}

// send sends all but the commit. An error that is not of the transport is the caller's.
func send(ctx context.Context, stream grpc.ClientStream, changes []graphstore.Change) error {
	begin := binaryFrame(frameBegin, func(e *encoder) {
		deadline, has := ctx.Deadline()
		if !has {
			e.varint(0)
			return
		}
		e.varint(max(1, int64(time.Until(deadline))))
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

func (l *link) receiveAnswer(stream receiver) error {
	m := &message{}
	if err := stream.RecvMsg(m); err != nil {
		return &lostError{err}
	}
	kind, body, err := cutFrame(m)
	if err != nil || kind != frameAnswer {
		return &lostError{fmt.Errorf("frame %q instead of an answer", kind)}
	}
	_, err = l.answer(body)
	return err
}
