package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
)

// DefaultVersion is the version the health check reports unless [Options.Version] says otherwise.
const DefaultVersion = "1.17.1"

// keepaliveMinTime is the shortest ping interval accepted. Clients of Qdrant ping every 10 s even when idle, which a
// grpc-go server without this policy answers by closing the connection ("too_many_pings").
const keepaliveMinTime = 5 * time.Second

// Options configure a server. The zero Options give a plaintext server without a key.
type Options struct {
	// Addr is the address to listen on. Defaults to "127.0.0.1:0", a free port.
	Addr string
	// Certificate makes the server speak TLS (1.2 or later) only. See [NewCertificate].
	Certificate *tls.Certificate
	// APIKey is required of every call except the health check. Empty requires nothing.
	APIKey string
	// Version is what the health check reports and what version-dependent behaviour follows (see the package comment).
	// Defaults to [DefaultVersion].
	Version string
	// FlatVectors answers vectors in the deprecated flat fields of the protocol.
	FlatVectors bool
	// Observe sees every request that arrives, as in ("Query", *qdrant.QueryPoints), before faults and answers. Calls come
	// from several goroutines at once; the request must not be changed.
	Observe func(method string, req any)
}

// Server is a running Qdrant. All methods are safe for concurrent use.
type Server struct {
	opts  Options
	addr  string
	store store
	fault faults

	mu struct {
		sync.Mutex
		grpc *grpc.Server
		done chan struct{} // closed when grpc's Serve has returned
	}
}

// New starts a server. The caller must Close it.
func New(opts Options) (*Server, error) {
	opts.Addr = cmp.Or(opts.Addr, "127.0.0.1:0")
	opts.Version = cmp.Or(opts.Version, DefaultVersion)
	if _, err := pb.ParseVersion(opts.Version); err != nil {
		return nil, fmt.Errorf("version %q: %w", opts.Version, err)
	}
	s := &Server{opts: opts, addr: opts.Addr}
	s.store.collections = map[string]*collection{}
	s.fault.calls = map[string]int{}
	if err := s.Restart(); err != nil {
		return nil, err
	}
	return s, nil
}

// Addr returns the host:port that the server listens on. It stays the same over a [Server.Restart].
func (s *Server) Addr() string { return s.addr }

// Restart stops the server if it runs and starts it again on the same address, with the collections as they were.
func (s *Server) Restart() error {
	s.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	ln, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.addr = ln.Addr().String()
	srv := grpc.NewServer(s.serverOptions()...)
	pb.RegisterPointsServer(srv, pointsService{s: s})
	pb.RegisterCollectionsServer(srv, collectionsService{s: s})
	pb.RegisterQdrantServer(srv, healthService{version: s.opts.Version})
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Serve returns nil after Stop and an error when the listener breaks; calls then fail, which is what a test sees.
		if err := srv.Serve(ln); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			return
		}
	}()
	s.mu.grpc, s.mu.done = srv, done
	return nil
}

// Stop drops every connection and stops listening. The collections are kept for a [Server.Restart].
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.grpc == nil {
		return
	}
	s.mu.grpc.Stop()
	<-s.mu.done
	s.mu.grpc = nil
}

// Close stops the server for good. It always returns nil.
func (s *Server) Close() error {
	s.Stop()
	return nil
}

func (s *Server) serverOptions() []grpc.ServerOption {
	opts := []grpc.ServerOption{
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveMinTime, PermitWithoutStream: true}),
		grpc.MaxRecvMsgSize(math.MaxInt32),
		grpc.ChainUnaryInterceptor(s.observe, s.fault.intercept, s.authenticate),
		grpc.WaitForHandlers(true),
	}
	if s.opts.Certificate != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(&tls.Config{
			MinVersion:   tls.VersionTLS12,
			Certificates: []tls.Certificate{*s.opts.Certificate},
		})))
	}
	return opts
}

func (s *Server) observe(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if s.opts.Observe != nil {
		s.opts.Observe(methodName(info.FullMethod), req)
	}
	return next(ctx, req)
}

// methodName cuts the service off, as in /qdrant.Points/Query.
func methodName(fullMethod string) string {
	return fullMethod[strings.LastIndexByte(fullMethod, '/')+1:]
}

// atLeast reports whether the imitated server is of version major 1 with this minor, or later.
func (s *Server) atLeast(minor int) bool {
	v, err := pb.ParseVersion(s.opts.Version) // checked by New
	return err == nil && (v.Major > 1 || v.Minor >= minor)
}
