package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/kithgraph/kith/reader"
)

// maxBodyBytes bounds a request: a vector of 65,536 dimensions as text with room to spare.
const maxBodyBytes = 2 << 20

// Searcher answers searches; *[reader.Reader] is one.
type Searcher interface {
	Search(ctx context.Context, q reader.Query) (reader.Answer, error)
}

// Operator is what the operator's endpoints ask of the service.
type Operator interface {
	// Health tells whether the process is ready and what ails it. It must not block.
	Health() Health
	// Stats counts what the service holds.
	Stats(ctx context.Context) (Stats, error)
	// Digest returns the digest of the graph: of one user, or of all when user is empty.
	Digest(ctx context.Context, user string) (string, error)
	// AppliedSeq is the stream sequence up to which every event is projected.
	AppliedSeq() uint64
}

// Config of a Server.
type Config struct {
	Version       string
	SearchTimeout time.Duration // longest time one search may take; 0 is no limit
	Logger        *slog.Logger
}

// Server is the HTTP interface.
type Server struct {
	search  Searcher
	ops     Operator
	cfg     Config
	log     *slog.Logger
	handler http.Handler
}

// New returns a server over a searcher and an operator's view.
func New(search Searcher, ops Operator, cfg Config) *Server {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	s := &Server{search: search, ops: ops, cfg: cfg, log: cfg.Logger.With("component", "http")}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.livez)
	mux.HandleFunc("GET /readyz", s.readyz)
	apiConfig := huma.DefaultConfig("kith", cfg.Version)
	apiConfig.DocsPath = "" // its page would load scripts from elsewhere; the document itself is at /openapi.json
	s.register(humago.New(mux, apiConfig))
	s.handler = s.guard(mux)
	return s
}

// Handler returns the HTTP handler.
func (s *Server) Handler() http.Handler { return s.handler }

// Serve answers on the listener until ctx ends, then lets requests in flight finish for at most drain. It closes the
// listener. It returns nil after a requested stop.
func (s *Server) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := srv.Shutdown(stop)
	if closed := <-failed; !errors.Is(closed, http.ErrServerClosed) {
		err = errors.Join(err, closed)
	}
	if err != nil {
		return fmt.Errorf("stop HTTP: %w", err)
	}
	return nil
}

// guard turns a panic of a handler into a 500 that says so, and bounds request bodies.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("request panicked", "path", req.URL.Path, "err", p)
				http.Error(w, "internal error", http.StatusInternalServerError)
			}
		}()
		req.Body = http.MaxBytesReader(w, req.Body, maxBodyBytes)
		next.ServeHTTP(w, req)
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone: nobody is left to tell
}
