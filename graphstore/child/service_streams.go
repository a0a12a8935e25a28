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
	tx, err := receive(stream)
	if err != nil {
		return s.answerStream(stream, err)
	}
	ctx, end := callContext(stream, tx.left)
	defer end()
	return s.answerStream(stream, store.ApplyMarked(ctx, tx.changes, tx.mark))
}

func (s *service) answerStream(to sender, err error) error {
	out := &encoder{buf: []byte{frameAnswer}}
	s.cfg.Errors.answer(out, err)
	return to.SendMsg(&message{out.buf})
}

// transaction is what arrived of an apply: how long the caller gives it (0: no limit), and what to commit.
type transaction struct {
	left    time.Duration
	mark    graphstore.Mark
	changes []graphstore.Change
}

// receive reads the frames of an apply up to the commit. A caller that gives up before the commit is an error, whose answer
// finds nobody.
func receive(stream grpc.ServerStream) (tx transaction, err error) {
	var records reader
	for {
		m := &message{}
		if err := stream.RecvMsg(m); err != nil {
			return tx, err
		}
		kind, body, err := cutFrame(m)
		if err != nil {
			return tx, err
		}
		switch kind {
		case frameBegin:
			d := &decoder{rest: string(body)}
			tx.left, tx.mark = time.Duration(d.varint()), d.mark()
			err = d.err
		case frameChunk:
			_, err = records.each(body, func(c graphstore.Change) error {
				tx.changes = append(tx.changes, c)
				return nil
			})
		case frameCommit:
			return tx, complete(body, len(tx.changes))
		default:
			err = fmt.Errorf("frame %q in an apply", kind)
		}
		if err != nil {
			return tx, err
		}
	}
}

func complete(body []byte, got int) error {
	d := &decoder{rest: string(body)}
	if want := d.uvarint(); d.err != nil || want != uint64(got) {
		return fmt.Errorf("%d records were sent: %d arrived", want, got)
	}
	return nil
}

// callContext returns the caller's context on this side: it ends when the caller's does, or the connection.
func callContext(stream grpc.ServerStream, left time.Duration) (context.Context, context.CancelFunc) {
	var ctx context.Context
	var end context.CancelFunc
	if left > 0 {
		ctx, end = context.WithTimeout(stream.Context(), left)
	} else {
		ctx, end = context.WithCancel(stream.Context())
	}
	go func() { // ends with the stream
		m := &message{}
		if stream.RecvMsg(m) == nil && len(m.data) > 0 && m.data[0] == frameCancel {
			end()
		}
	}()
	return ctx, end
}

// load answers with the records of one space, or of all, in chunks. A reader that does not read holds it up in SendMsg
// once the stream's window is full.
func (s *service) load(stream grpc.ServerStream) error {
	m := &message{}
	if err := stream.RecvMsg(m); err != nil {
		return err
	}
	store, err := s.opened()
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
