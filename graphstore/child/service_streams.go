package child

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/kithgraph/kith/graphstore"
)

// apply receives a transaction, commits it and answers.
func (s *service) apply(stream grpc.ServerStream) error {
	store, err := s.begin()
	if err != nil {
		return s.answerStream(stream, err)
	}
	defer s.applies.Done()
	ctx, changes, err := receive(stream)
	if err != nil {
		return s.answerStream(stream, err)
	}
	if ctx == nil {
		return nil // the caller gave up before it said all: nobody waits for an answer
	}
	defer ctx.end()
	return s.answerStream(stream, store.Apply(ctx, changes))
}

func (s *service) answerStream(to sender, err error) error {
	out := &encoder{buf: []byte{frameAnswer}}
	s.cfg.Errors.answer(out, err)
	return to.SendMsg(&message{out.buf})
}

// callContext is the caller's context on this side: it ends when the caller's does, or the connection.
type callContext struct {
	context.Context
	end context.CancelFunc
}

// receive reads the frames of an apply up to the commit. Without one there is nothing to do: it returns nothing.
func receive(stream grpc.ServerStream) (*callContext, []graphstore.Change, error) {
	var left time.Duration
	var changes []graphstore.Change
	var records reader
	for {
		m := &message{}
		if stream.RecvMsg(m) != nil {
			return nil, nil, nil
		}
		kind, body, err := cutFrame(m)
		if err != nil {
			return nil, nil, err
		}
		switch kind {
		case frameBegin:
			d := &decoder{rest: string(body)}
			left, err = time.Duration(d.varint()), d.err
		case frameChunk:
			_, err = records.each(body, func(c graphstore.Change) error {
				changes = append(changes, c)
				return nil
			})
		case frameCommit:
			if err := complete(body, len(changes)); err != nil {
				return nil, nil, err
			}
			return newCallContext(stream, left), changes, nil
		default:
			err = fmt.Errorf("frame %q in an apply", kind)
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

func complete(body []byte, got int) error {
	d := &decoder{rest: string(body)}
	if want := d.uvarint(); d.err != nil || want != uint64(got) {
		return fmt.Errorf("apply of %d changes: %d arrived", want, got)
	}
	return nil
}

// newCallContext watches for the frame that cancels.
func newCallContext(stream grpc.ServerStream, left time.Duration) *callContext {
	c := &callContext{}
	if left > 0 {
		c.Context, c.end = context.WithTimeout(stream.Context(), left)
	} else {
		c.Context, c.end = context.WithCancel(stream.Context())
	}
	go func() { // ends with the stream
		m := &message{}
		if stream.RecvMsg(m) == nil && len(m.data) > 0 && m.data[0] == frameCancel {
			c.end()
		}
	}()
	return c
}

// load answers with the records of one space, or of all, in chunks. A reader that does not read holds it up in SendMsg
// once the stream's window is full.
func (s *service) load(stream grpc.ServerStream) error {
	m := &message{}
	if err := stream.RecvMsg(m); err != nil {
		return err
	}
	store, err := s.store()
	if err != nil {
		return s.answerStream(stream, err)
	}
	out := &chunker{to: stream}
	d := &decoder{rest: string(m.data)}
	all, user := d.byte() == 1, d.text()
	switch {
	case d.err != nil:
		err = d.err
	case all:
		err = store.LoadAll(stream.Context(), out.add)
	default:
		err = loadSpace(stream.Context(), store, user, out)
	}
	if err == nil {
		err = out.flush()
	}
	return s.answerStream(stream, err)
}

func loadSpace(ctx context.Context, store graphstore.Store, user string, out *chunker) error {
	space, err := graphstore.NewSpace(user)
	if err != nil {
		return err
	}
	return store.Load(ctx, space, out.add)
}
