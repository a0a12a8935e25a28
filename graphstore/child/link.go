package child

import (
	"context"
	"errors"
	"fmt"

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
		return nil, torn(broken)
	}
	if remote, is := outcome.(*remoteError); is { //nolint:errorlint // just made
		remote.from = l
	}
	return d, outcome
}

// torn reports an answer that is none.
func torn(cause error) error { return &lostError{fmt.Errorf("answer: %w", cause)} }

// open has the child open a graph and returns the graph's id.
func (l *link) open(ctx context.Context, path string) (id string, err error) {
	e := &encoder{}
	e.text(path)
	d, err := l.ask(ctx, methodOpen, e.buf)
	if err != nil {
		return "", err
	}
	if id = d.text(); d.err != nil {
		return "", torn(d.err)
	}
	return id, nil
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
			return nil, torn(errors.Join(d.err, err))
		}
	}
	return spaces, nil
}

func (l *link) stats(ctx context.Context) (graphstore.Stats, error) {
	d, err := l.ask(ctx, methodStats, nil)
	if err != nil {
		return graphstore.Stats{}, err
	}
	st := d.stats()
	if d.err != nil {
		return graphstore.Stats{}, torn(d.err)
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
