package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/kithgraph/kith/graphstore"
)

var errNotOpen = errors.New("store child: graph is not open")

// service is the child's side of the methods.
type service struct {
	open func(path string) (graphstore.Store, error)
	cfg  ServeConfig
	log  *slog.Logger

	mu struct {
		sync.Mutex
		store   graphstore.Store // nil before Open and after Close
		opening bool
		ending  bool // no more applies
		build   buildState
	}
	applies sync.WaitGroup // in hand
}

func newService(open func(path string) (graphstore.Store, error), cfg ServeConfig) *service {
	return &service{open: open, cfg: cfg, log: cfg.Logger.With("component", "graphstore/child")}
}

// bridge is what go-plugin knows of this package, on both sides.
type bridge struct {
	plugin.NetRPCUnsupportedPlugin
	service *service // the child's side
	errors  Errors   // the parent's
}

var _ plugin.GRPCPlugin = (*bridge)(nil)

// GRPCServer implements [plugin.GRPCPlugin].
func (b *bridge) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(description(), b.service)
	return nil
}

// GRPCClient implements [plugin.GRPCPlugin]. The context ends when the process has ended.
func (b *bridge) GRPCClient(ended context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return &link{conn: conn, codec: newCodec(), errors: b.errors, ended: ended.Done()}, nil
}

func description() *grpc.ServiceDesc {
	unary := func(name string, fn func(*service, context.Context, *decoder, *encoder) error) grpc.MethodDesc {
		return grpc.MethodDesc{MethodName: name,
			Handler: func(srv any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				in := &message{}
				if err := read(in); err != nil {
					return nil, err
				}
				s, out := srv.(*service), &encoder{}
				payload := &encoder{}
				err := fn(s, ctx, &decoder{rest: string(in.data)}, payload)
				s.cfg.Errors.answer(out, err)
				if err == nil {
					out.buf = append(out.buf, payload.buf...)
				}
				return &message{out.buf}, nil
			}}
	}
	return &grpc.ServiceDesc{
		ServiceName: serviceName,
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{unary("Open", (*service).openStore), unary("Head", (*service).head),
			unary("Spaces", (*service).spaces), unary("Stats", (*service).stats), unary("Backup", (*service).backup),
			unary("Checkpoint", (*service).checkpoint), unary("Leaked", (*service).leaked),
			unary("Verify", (*service).verify),
			unary("StopBuild", (*service).stopBuild), unary("Close", (*service).closeStore)},
		Streams: []grpc.StreamDesc{
			{StreamName: "Build", ClientStreams: true, ServerStreams: true,
				Handler: func(srv any, stream grpc.ServerStream) error { return srv.(*service).build(stream) }},
			{StreamName: "Apply", ClientStreams: true, ServerStreams: true,
				Handler: func(srv any, stream grpc.ServerStream) error { return srv.(*service).apply(stream) }},
			{StreamName: "Load", ServerStreams: true,
				Handler: func(srv any, stream grpc.ServerStream) error { return srv.(*service).load(stream) }},
		},
	}
}

// openStore opens the graph. After an error it may be asked again.
func (s *service) openStore(ctx context.Context, in *decoder, out *encoder) error {
	path := in.text()
	if in.err != nil {
		return in.err
	}
	s.mu.Lock()
	if s.mu.opening {
		s.mu.Unlock()
		return errors.New("store child: graph is open already")
	}
	s.mu.opening = true
	s.mu.Unlock()
	store, id, err := s.openWithHead(ctx, path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.mu.opening = false
		return err
	}
	s.mu.store = store
	out.text(id)
	return nil
}

func (s *service) openWithHead(ctx context.Context, path string) (_ graphstore.Store, id string, err error) {
	opened, err := s.open(path)
	if err != nil {
		return nil, "", err
	}
	head, err := opened.Head(ctx)
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("head of the graph: %w", err), opened.Close())
	}
	return opened, head.ID, nil
}

func (s *service) opened() (graphstore.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openedLocked()
}

func (s *service) openedLocked() (graphstore.Store, error) {
	if s.mu.store == nil {
		return nil, errNotOpen
	}
	return s.mu.store, nil
}

func (s *service) spaces(ctx context.Context, _ *decoder, out *encoder) error {
	store, err := s.opened()
	if err != nil {
		return err
	}
	spaces, err := store.Spaces(ctx)
	if err != nil {
		return err
	}
	out.uvarint(uint64(len(spaces)))
	for _, sp := range spaces {
		out.text(sp.UserID())
	}
	return nil
}

func (s *service) stats(ctx context.Context, _ *decoder, out *encoder) error {
	store, err := s.opened()
	if err != nil {
		return err
	}
	st, err := store.Stats(ctx)
	if err != nil {
		return err
	}
	out.stats(st)
	return nil
}

// closeStore closes the store after the calls in flight.
func (s *service) closeStore(context.Context, *decoder, *encoder) error { return s.finish() }

// begin begins an apply; s.applies counts it until its end.
func (s *service) begin() (graphstore.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.ending {
		return nil, graphstore.ErrClosed
	}
	store, err := s.openedLocked()
	if err == nil {
		s.applies.Add(1)
	}
	return store, err
}

// end lets no apply begin and returns the store, once.
func (s *service) end() graphstore.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	store := s.mu.store
	s.mu.ending, s.mu.store = true, nil
	return store
}

// finish ends the service in order. Only the first call has something to close.
func (s *service) finish() error {
	store := s.end()
	s.applies.Wait()
	if store == nil {
		return nil
	}
	return store.Close()
}

// orphaned ends the service when the parent is gone: after the transaction in hand, but without closing the store. What
// was committed is durable, and the next owner of the file waits.
func (s *service) orphaned() {
	s.log.Warn("parent is gone: ending after the transaction in hand")
	s.end()
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		s.applies.Wait()
	}()
	timer := time.NewTimer(s.cfg.OrphanWait)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
		s.log.Error("parent is gone, and the transaction in hand has not ended", "waited", s.cfg.OrphanWait)
	}
}
