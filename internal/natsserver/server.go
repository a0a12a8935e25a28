package natsserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	natsd "github.com/nats-io/nats-server/v2/server"
)

// Server is a running NATS server. Its methods are safe for concurrent use.
type Server struct {
	ns   *natsd.Server
	lock *flock.Flock

	shutdown sync.Once
}

// Start starts the server and returns when it takes connections. An error says what is in the way: a data directory that
// another process uses, a port that is taken, a JetStream store that cannot be opened. Nothing runs after an error.
func Start(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("nats server: %w", err)
	}
	lock, err := lockDir(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("nats server: %w", err)
	}
	s, err := start(cfg, lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("nats server: %w", err), lock.Unlock())
	}
	return s, nil
}

// lockDir makes the directory and takes its lock. JetStream itself would let two processes write to one directory.
func lockDir(dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock data directory %s: %w", dir, err)
	}
	if !got {
		return nil, fmt.Errorf("data directory %s: another process uses it", dir)
	}
	return lock, nil
}

func start(cfg Config, lock *flock.Flock) (*Server, error) {
	host, port, err := cfg.address()
	if err != nil {
		return nil, err
	}
	ns, err := natsd.NewServer(&natsd.Options{
		ServerName: "kith", Host: host, Port: port, DontListen: host == "",
		JetStream: true, StoreDir: cfg.Dir, JetStreamMaxStore: cfg.MaxStoreBytes,
		SyncInterval: cfg.SyncInterval, SyncAlways: cfg.SyncAlways,
		MaxPayload: int32(cfg.MaxPayload),
		NoSigs:     true, DisableJetStreamBanner: true,
	})
	if err != nil {
		return nil, fmt.Errorf("configure: %w", err)
	}
	log := newLogger(cfg.Logger)
	ns.SetLoggerV2(log, false, false, false)
	ns.Start() // returns when the server runs, or when it has given up with a fatal message
	if err := awaitReady(ns, log, cfg.ReadyTimeout); err != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
		return nil, err
	}
	return &Server{ns: ns, lock: lock}, nil
}

func awaitReady(ns *natsd.Server, log *logger, timeout time.Duration) error {
	ready := log.fatal.Load() == nil && ns.ReadyForConnections(timeout)
	if msg := log.fatal.Load(); msg != nil {
		return fmt.Errorf("start: %s", *msg)
	}
	if !ready {
		return fmt.Errorf("start: not ready for connections after %s", timeout)
	}
	log.started.Store(true)
	return nil
}

// ClientURL returns the URL clients connect to, or "" when the server listens on no port.
func (s *Server) ClientURL() string {
	if s.ns.Addr() == nil {
		return ""
	}
	return s.ns.ClientURL()
}

// InProcessConn returns a connection that needs no port. With it the server is what nats.InProcessServer takes.
func (s *Server) InProcessConn() (net.Conn, error) { return s.ns.InProcessConn() }

// Shutdown closes all connections, writes everything to disk and returns when the server has stopped and its directory
// may be used again. A second call does nothing but wait.
func (s *Server) Shutdown() error {
	var err error
	s.shutdown.Do(func() {
		s.ns.Shutdown()
		s.ns.WaitForShutdown()
		if err = s.lock.Unlock(); err != nil {
			err = fmt.Errorf("nats server: unlock data directory: %w", err)
		}
	})
	s.ns.WaitForShutdown()
	return err
}
