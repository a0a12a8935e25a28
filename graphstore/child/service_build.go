package child

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/kithgraph/kith/graphstore"
)

// build receives a graph's records and has them written to a new file while they arrive.
func (s *service) build(stream grpc.ServerStream) error {
	if s.cfg.Build == nil {
		return s.answerStream(stream, fmt.Errorf("ServeConfig.Build is not set: %w", errors.ErrUnsupported))
	}
	if err := s.beginBuild(); err != nil {
		return s.answerStream(stream, err)
	}
	defer s.applies.Done()
	order, err := receiveOrder(stream)
	if err != nil {
		return s.answerStream(stream, err)
	}
	ctx, end := context.WithCancel(stream.Context())
	defer end()
	if order.left > 0 {
		var expire context.CancelFunc
		ctx, expire = context.WithTimeout(ctx, order.left)
		defer expire()
	}
	in := &incoming{chunks: make(chan []byte), commit: make(chan []byte, 1)}
	go in.pump(ctx, end, stream) // ends with the stream
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
func (s *service) beginBuild() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.ending {
		return graphstore.ErrClosed
	}
	s.applies.Add(1)
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

// incoming is the stream of a build on its way to the builder. The pump is apart from the reading so that the end of the
// caller's context is heard while the builder does other things.
type incoming struct {
	chunks chan []byte // closed at the end
	commit chan []byte // the frame that says that everything was sent; none if the stream broke
	begun  bool
	whole  bool // everything was read
}

// pump passes on the frames, one at a time: a builder that does not read holds the sender up.
func (in *incoming) pump(ctx context.Context, end context.CancelFunc, from receiver) {
	defer end()
	open := true
	defer func() {
		if open {
			close(in.chunks)
		}
	}()
	for {
		m := &message{}
		if from.RecvMsg(m) != nil {
			return
		}
		kind, body, err := cutFrame(m)
		switch {
		case err == nil && kind == frameChunk && open:
			select {
			case in.chunks <- body:
			case <-ctx.Done():
				return
			}
		case err == nil && kind == frameCommit && open:
			in.commit <- body
			close(in.chunks)
			open = false
		default: // a cancel, or nonsense
			return
		}
	}
}

// records yields what arrives, once.
func (in *incoming) records(ctx context.Context, yield func(graphstore.Change) error) error {
	if in.begun {
		return errors.New("build: records can be read only once")
	}
	in.begun = true
	var records reader
	n := 0
	for chunk := range in.chunks {
		stopped, broken := records.each(chunk, func(c graphstore.Change) error {
			n++
			return yield(c)
		})
		if stopped != nil || broken != nil {
			return errors.Join(stopped, broken) // one of them
		}
	}
	select {
	case body := <-in.commit:
		if err := complete(body, n); err != nil {
			return err
		}
	default:
		return errors.Join(errors.New("build: the records end before their end"), ctx.Err())
	}
	in.whole = true
	return nil
}
