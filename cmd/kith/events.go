package main

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/internal/natsserver"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
)

// connect starts the embedded NATS server if there is no other, and connects to it. An external server that is down is
// no error: the connection comes up when it does. The embedded server runs even when nothing is projected, so that
// producers can go on publishing.
func (s *service) connect(ctx context.Context) error {
	url := s.e.cfg.NATS.URL
	connection := s.e.connectConfig("kith serve")
	if url == "" {
		var err error
		if s.nats, err = startNATS(s.e, s.e.cfg.NATS.Listen); err != nil {
			return err
		}
		connection.InProcess = s.nats
	}
	var err error
	if s.conn, err = feed.Connect(ctx, url, connection); err != nil {
		return &usageError{err}
	}
	if s.js, err = jetstream.New(s.conn); err != nil {
		return fmt.Errorf("open JetStream: %w", err)
	}
	return nil
}

// connectConfig says how to reach a NATS server.
func (e *env) connectConfig(name string) feed.ConnectConfig {
	n := e.cfg.NATS
	return feed.ConnectConfig{Name: name, CredsFile: n.Creds, CAFile: n.CA, CertFile: n.Cert, KeyFile: n.Key, Logger: e.log}
}

func startNATS(e *env, listen string) (*natsserver.Server, error) {
	srv, err := natsserver.Start(natsserver.Config{
		Dir: natsDir(e.cfg), Listen: listen, SyncAlways: e.cfg.NATS.SyncAlways, Logger: e.log,
	})
	if err != nil {
		return nil, fmt.Errorf("start embedded NATS server (KITH_NATS_LISTEN): %w", err)
	}
	return srv, nil
}

func (e *env) streamsConfig() feed.StreamsConfig {
	return feed.StreamsConfig{MaxAge: e.cfg.NATS.MaxAge, MaxBytes: e.cfg.NATS.MaxBytes}
}

func (e *env) feedConfig() feed.Config {
	return feed.Config{
		Streams:      e.streamsConfig(),
		BatchSize:    e.cfg.NATS.BatchEvents,
		BatchWait:    e.cfg.NATS.BatchTick,
		DrainTimeout: e.cfg.Serve.DrainTimeout,
		Logger:       e.log,
	}
}

// projector returns the projector with the operator's overrides.
func (e *env) projector() (*projector.Projector, error) {
	var cfg projector.Config
	override(&cfg.MaxCoOccurs, e.cfg.Project.CoOccursMaxBatch)
	override(&cfg.EdgeMinScore, e.cfg.Project.EdgeMinScore)
	cfg.TemporalSpine = e.cfg.Project.TemporalSpine
	return projector.New(cfg)
}

func (s *service) disconnect() error {
	if s.conn != nil {
		s.conn.Close()
	}
	if s.nats != nil {
		return s.nats.Shutdown()
	}
	return nil
}
