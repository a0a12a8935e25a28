package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/sourcegraph/conc"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/natsserver"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/vdb"
)

// service is kith at work: the stores, the live graph, the reader and its HTTP handler, and, while events are taken, the
// feed. Data flows feed -> live graph -> store on one side and vectors + live graph -> reader -> HTTP on the other.
type service struct {
	e  *env
	sw config.Switches

	instance string // names this run
	serving  bool   // or made for one command

	lock      *dataLock
	vectors   vdb.Store
	embedder  *embedder  // nil without an endpoint
	probe     probe      // whether the vector store answers
	host      *graphHost // nil when the graph is off
	paused    paused     // while events are not projected
	erasing   erasing    // of a user, one at a time
	rebuilds  rebuildState
	reader    *reader.Reader
	explained server.Settings // what its explanations are made of
	http      *server.Server
	metrics   *server.Metrics

	nats *natsserver.Server // nil with an external server, or without events
	conn *nats.Conn
	js   jetstream.JetStream // nil before start

	backfills backfills // of stored points
	verifies  verifies  // of the graph against them

	listener net.Listener
	started  time.Time

	work     conc.WaitGroup
	stopWork context.CancelFunc
	stopping atomic.Bool
	failed   chan error // a part without which serving makes no sense has ended
}

// open opens the stores and builds the reading side, of a service or for one command; nothing runs yet.
func open(e *env, serving bool) (*service, error) {
	s := &service{e: e, serving: serving, sw: e.cfg.Memory.Resolve(), instance: uuid.NewString(), failed: make(chan error, 1)}
	s.backfills.s, s.verifies.s = s, s
	s.metrics = server.NewMetrics(e.cfg.Ready.ErrorWindow)
	for _, w := range s.sw.Warnings {
		e.log.Warn(w)
	}
	var err error
	if s.lock, err = lockData(e.cfg.DataDir); err != nil {
		return nil, err
	}
	if err := errors.Join(sweepSockets(e.cfg.DataDir), sweepRebuild(e.cfg)); err != nil {
		e.log.Warn("files of earlier runs stay", "err", err)
	}
	if err := s.openStores(); err != nil {
		return nil, errors.Join(err, s.closeStores())
	}
	s.http = server.New(s.reader, s, server.Config{
		Version: buildVersion(), Settings: s.explained, SearchTimeout: e.cfg.Serve.SearchLimit, Hosts: hosts(e.cfg.Serve.Listen), Metrics: s.metrics, Dead: &deadLetters{func() jetstream.JetStream { return s.js }}, Backfills: &s.backfills, Verifier: &s.verifies, Logger: e.log,
	})
	return s, nil
}

// hosts returns the names a service on this address answers to: loopback names on loopback, any elsewhere.
func hosts(listen string) []string {
	host, _, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "localhost" || (ip != nil && ip.IsLoopback())) {
		return server.LoopbackHosts()
	}
	return nil
}

func (s *service) openStores() error {
	cfg, err := s.e.readerConfig(s.sw)
	if err != nil {
		return err
	}
	if s.vectors, err = s.e.openVectors(); err != nil {
		return err
	}
	var view reader.Graph
	if s.sw.Write || s.sw.Rerank {
		if s.host, err = s.e.newGraphHost(s.sw.Write, s.serving); err != nil {
			return err
		}
		s.host.hooks = feedHooks(s.metrics)
		view = s.host
	}
	cfg.AppliedSeq, s.explained = s.AppliedSeq, explained(cfg)
	if s.embedder, err = s.e.newEmbedder(s.vectors, s.e.cfg.Embed.QueryPrefix); err != nil {
		return err
	}
	if s.embedder != nil {
		cfg.Embedder = s.embedder
	}
	s.reader, err = reader.New(s.vectors, view, cfg)
	return err
}

func (s *service) closeStores() error {
	s.backfills.close()
	var errs []error
	if s.reader != nil {
		s.reader.Close()
	}
	s.embedder.close()
	if s.host != nil {
		errs = append(errs, s.host.close())
	}
	if s.vectors != nil {
		errs = append(errs, s.vectors.Close())
	}
	errs = append(errs, s.lock.unlock())
	return errors.Join(errs...)
}

// keepGraph runs the graph until ctx ends.
func (s *service) keepGraph(ctx context.Context) {
	if s.host != nil {
		s.host.run(ctx, s.js)
	}
}

// start listens on addr, takes events, and loads the graph in the background. The caller calls stop, also after an error.
func (s *service) start(addr string) error {
	var ctx context.Context
	ctx, s.stopWork = context.WithCancel(context.WithoutCancel(s.e.ctx))
	if hosts(addr) == nil {
		s.e.log.Warn("the HTTP API is not on loopback and knows no users: put authentication in front of it", "listen", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return &usageError{fmt.Errorf("listen for HTTP on %s (KITH_LISTEN): %w", addr, err)}
	}
	s.listener, s.started = listener, time.Now()
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.announce(); err != nil {
		return err
	}
	s.work.Go(func() { s.keepGraph(ctx) })
	s.work.Go(func() { s.probe.run(ctx, s.vectors, s.embedder.found) })
	if s.sw.Paused {
		s.work.Go(func() { s.paused.run(ctx, s.waiting) })
	}
	s.work.Go(func() { s.serveHTTP(ctx) })
	return nil
}

func (s *service) serveHTTP(ctx context.Context) {
	if err := s.http.Serve(ctx, s.listener, s.e.cfg.Serve.DrainTimeout); err != nil {
		s.failed <- err
	}
}

// wait returns when the command is to stop (nil) or a part without which serving makes no sense has ended (why).
func (s *service) wait() error {
	select {
	case <-s.e.ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	}
}

// announce leaves the file that tells other commands where the service is.
func (s *service) announce() error {
	if err := os.MkdirAll(s.e.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("create data directory: %w", err)
	}
	r := runFile{PID: os.Getpid(), Instance: s.instance, HTTP: "http://" + s.listener.Addr().String(), Started: time.Now().UTC()}
	if s.nats != nil {
		r.NATS = s.nats.ClientURL()
	}
	return r.write(s.e.cfg.DataDir)
}

// stop ends the work, in the order in which it depends on itself, and closes everything. It is safe after a failed
// start.
func (s *service) stop() error {
	s.stopping.Store(true)
	s.backfills.close() // with them end the requests that follow them
	if s.stopWork != nil {
		s.stopWork()
	}
	s.work.Wait() // the feed commits and acknowledges what it has in hand, HTTP finishes what is in flight
	var errs []error
	if s.listener != nil {
		if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
		if r, ok, _ := readRunFile(s.e.cfg.DataDir); ok && r.Instance == s.instance {
			errs = append(errs, os.Remove(runFilePath(s.e.cfg.DataDir)))
		}
	}
	errs = append(errs, s.disconnect(), s.closeStores())
	return errors.Join(errs...)
}
