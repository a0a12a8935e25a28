package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/reader"
)

// maxBodyBytes bounds a request: a vector of 65,536 dimensions as text with room to spare.
const maxBodyBytes = 2 << 20

// ErrNoGraph reports that there is no graph to ask.
var ErrNoGraph = errors.New("no graph")

// Searcher answers searches; *[reader.Reader] is one.
type Searcher interface {
	Search(ctx context.Context, q reader.Query) (reader.Answer, error)
}

// Operator is what the operator's endpoints ask of the service.
type Operator interface {
	Forgetter
	Rebuilder
	// Health tells whether the process is ready and what ails it. It must not block.
	Health() Health
	// Instance names this run of the service.
	Instance() string
	// Stats counts what the service holds. A store that does not answer has its error beside its numbers, which then mean nothing.
	Stats(ctx context.Context) Stats
	// Digest returns the digest of the graph: of one user, or of all when user is empty. It wraps ErrNoGraph when the graph
	// is off or not loaded yet.
	Digest(ctx context.Context, user string) (string, error)
	// Busy says what is in flight, searches apart. It must not block.
	Busy() Busy
	// Backup writes a backup of the graph into a directory that is empty or not there. Errors: ErrBusy, ErrBadRequest,
	// ErrNoGraph, or what went wrong; the directory then holds nothing that could be taken for a backup.
	Backup(ctx context.Context, dir string) (Backup, error)
	// Compact writes the graph's file anew. Errors like Backup's; the graph is then as it was.
	Compact(ctx context.Context) (Compaction, error)
}

// Config of a Server.
type Config struct {
	Version string
	// Hosts are the values of the Host header that are answered, without ports; empty answers all. A service on loopback
	// answers loopback names only, so that no web page can reach it by a name of its own (DNS rebinding).
	Hosts         []string
	SearchTimeout time.Duration // longest time one search may take; 0 is no limit
	Metrics       *Metrics      // served at GET /metrics; nil: ones of the server's own, in which the feed does not count
	Settings      Settings      // of the searcher's ranking, for those who ask for explanations
	Dead          DeadLetters   // what /v1/dead asks; nil: there are none to be reached
	Backfills     Backfills     // what /v1/backfills asks; nil: there are none
	Verifier      Verifier      // what /v1/verify asks; nil: there is none
	Logger        *slog.Logger
}

// Server is the HTTP interface.
type Server struct {
	search  Searcher
	ops     Operator
	cfg     Config
	log     *slog.Logger
	handler http.Handler

	searches atomic.Int64 // in flight
}

// New returns a server over a searcher and an operator's view.
func New(search Searcher, ops Operator, cfg Config) *Server {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(time.Minute)
	}
	s := &Server{search: search, ops: ops, cfg: cfg, log: cfg.Logger.With("component", "http")}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.livez)
	mux.HandleFunc("GET /readyz", s.readyz)
	cfg.Metrics.registry.MustRegister(&stateCollector{server: s})
	mux.Handle("GET /metrics", cfg.Metrics.handler())
	apiConfig := huma.DefaultConfig("kith", cfg.Version)
	apiConfig.Formats = map[string]huma.Format{"application/json": strictJSON(), "json": strictJSON()}
	apiConfig.DocsPath = "" // its page would load scripts from elsewhere; the document itself is at /openapi.json
	s.register(humago.New(mux, apiConfig))
	s.handler = s.guard(routed(mux))
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
		WriteTimeout:      s.cfg.SearchTimeout + time.Minute,
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
	if err != nil {
		err = errors.Join(err, srv.Close()) // ends the requests that did not finish in time
	}
	if closed := <-failed; !errors.Is(closed, http.ErrServerClosed) {
		err = errors.Join(err, closed)
	}
	if err != nil {
		return fmt.Errorf("stop HTTP: %w", err)
	}
	return nil
}

// LoopbackHosts are the names by which a service on loopback is called.
func LoopbackHosts() []string { return []string{"localhost", "127.0.0.1", "::1"} }

func (s *Server) knowsHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return len(s.cfg.Hosts) == 0 || slices.Contains(s.cfg.Hosts, strings.ToLower(host))
}

// guard turns a panic of a handler into a 500 that says so, bounds request bodies and refuses unknown hosts.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !s.knowsHost(req.Host) {
			writeProblem(w, http.StatusMisdirectedRequest, fmt.Sprintf("host %s: this service answers as one of %v only", graphstore.Shorten(req.Host), s.cfg.Hosts))
			return
		}
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("request panicked", "path", req.URL.Path, "err", p)
				writeProblem(w, http.StatusInternalServerError, "internal error")
			}
		}()
		if operators(req.URL.Path) && req.Header.Get("Origin") != "" {
			writeProblem(w, http.StatusForbidden, "administration is not for web pages")
			return
		}
		req.Body = http.MaxBytesReader(w, req.Body, maxBodyBytes)
		next.ServeHTTP(w, req)
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone: nobody is left to tell
}

// operators reports whether a path is for operators only: no web page may ask there.
func operators(path string) bool {
	return strings.HasPrefix(path, "/v1/admin/") || strings.HasPrefix(path, "/v1/backfills") || path == "/v1/verify"
}
