package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/kithgraph/kith/graphstore"
)

// buildState is that of the one build of a child that builds.
type buildState struct {
	stop    context.CancelFunc // nil before it has begun
	stopped bool               // it is not wanted any more
}

// build receives a graph's records and has them written to a new file while they arrive.
func (s *service) build(stream grpc.ServerStream) error {
	if s.cfg.Build == nil {
		return s.answerStream(stream, fmt.Errorf("ServeConfig.Build is not set: %w", errors.ErrUnsupported))
	}
	ctx, end := context.WithCancel(stream.Context())
	defer end()
	if err := s.beginBuild(end); err != nil {
		return s.answerStream(stream, err)
	}
	defer s.applies.Done()
	order, err := receiveOrder(stream)
	if err != nil {
		return s.answerStream(stream, err)
	}
	if order.left > 0 {
		var expire context.CancelFunc
		ctx, expire = context.WithTimeout(ctx, order.left)
		defer expire()
	}
	in := &incoming{from: stream}
	head, stats, err := s.cfg.Build(ctx, order.path, order.id, order.mark, func(yield func(graphstore.Change) error) error {
		return in.records(ctx, yield)
	})
	if err == nil && !in.whole {
		err = errors.New("build: not all records were read")
	}
	out := &encoder{buf: []byte{frameAnswer}}
	s.cfg.Errors.answer(out, err)
	if err == nil {
		out.head(head)
		out.stats(stats)
	}
	return stream.SendMsg(&message{out.buf})
}

// beginBuild counts the build among what is in hand.
func (s *service) beginBuild(stop context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.ending || s.mu.build.stop != nil {
		return graphstore.ErrClosed
	}
	if s.mu.build.stop = stop; s.mu.build.stopped {
		stop()
	}
	s.applies.Add(1)
	return nil
}

// stopBuild ends the context of the build. It is a call of its own: what is sent on the build's stream waits behind records
// that the builder may not be reading.
func (s *service) stopBuild(context.Context, *decoder, *encoder) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.build.stopped = true; s.mu.build.stop != nil {
		s.mu.build.stop()
	}
	return nil
}

// order is what a build begins with.
type order struct {
	left     time.Duration // 0: no limit
	path, id string
	mark     graphstore.Mark
}

func (e *encoder) order(ctx context.Context, cfg BuildConfig) {
	e.timeLeft(ctx)
	e.text(cfg.Path)
	e.text(cfg.ID)
	e.mark(cfg.Mark)
}

func receiveOrder(from receiver) (order, error) {
	m := &message{}
	if err := from.RecvMsg(m); err != nil {
		return order{}, err
	}
	kind, body, err := cutFrame(m)
	if err != nil || kind != frameBegin {
		return order{}, fmt.Errorf("frame %q instead of the beginning of a build", kind)
	}
	d := &decoder{rest: string(body)}
	o := order{left: time.Duration(d.varint()), path: d.text(), id: d.text(), mark: d.mark()}
	return o, d.err
}

// incoming is the stream of a build. A builder that does not read holds the sender up.
type incoming struct {
	from  receiver
	begun bool
	whole bool // everything was read
}

// records yields what arrives, once.
func (in *incoming) records(ctx context.Context, yield func(graphstore.Change) error) error {
	if in.begun {
		return errors.New("build: records can be read only once")
	}
	in.begun = true
	var records reader
	for n := 0; ; {
		m := &message{}
		if err := in.from.RecvMsg(m); err != nil {
			return errors.Join(ctx.Err(), fmt.Errorf("build: the records end before their end: %w", err))
		}
		kind, body, err := cutFrame(m)
		if err != nil {
			return err
		}
		switch kind {
		case frameChunk:
			stopped, broken := records.each(body, func(c graphstore.Change) error {
				n++
				return yield(c)
			})
			err = errors.Join(stopped, broken) // one of them
		case frameCommit:
			in.whole = true
			return complete(body, n)
		default:
			err = fmt.Errorf("frame %q in a build", kind)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
}
