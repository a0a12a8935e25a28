package main

import (
	"fmt"

	"github.com/kithgraph/kith/internal/config"
)

type serveCmd struct{}

// Run serves until the context ends.
func (serveCmd) Run(e *env) error {
	s, err := open(e, true)
	if err != nil {
		return err
	}
	if err := s.start(e.cfg.Serve.Listen); err != nil {
		return stopAfter(s, err)
	}
	s.banner()
	if err := s.wait(); err != nil {
		return stopAfter(s, err)
	}
	e.log.Info("stopping", "deadline", e.cfg.Serve.DrainTimeout)
	return s.stop()
}

func stopAfter(s *service, err error) error {
	if stopErr := s.stop(); stopErr != nil {
		return fmt.Errorf("%w (and while stopping: %w)", err, stopErr)
	}
	return err
}

// banner prints where the service is reached and where its data lies.
func (s *service) banner() {
	e := s.e
	e.printf("kith serves on http://%s (POST /v1/search, GET /readyz)\n", s.listener.Addr())
	if s.nats != nil {
		e.printf("  events:  embedded NATS at %s, kept in %s\n", s.nats.ClientURL(), natsDir(e.cfg))
	} else {
		e.printf("  events:  NATS at %s\n", config.MaskURLs(e.cfg.NATS.URL))
	}
	if e.cfg.Qdrant.URL == "" {
		e.printf("  vectors: embedded store %s\n", vectorPath(e.cfg))
	} else {
		e.printf("  vectors: Qdrant at %s, collection %s\n", config.MaskURLs(e.cfg.Qdrant.URL), e.cfg.Qdrant.Collection)
	}
	if s.embedder != nil {
		e.printf("  texts:   embedded by %s, model %s\n", s.embedder.client.URL(), s.embedder.client.Model())
	}
	if s.host != nil {
		e.printf("  graph:   %s\n", graphPath(e.cfg))
	}
	e.printf("  events are projected: %v, searches are reranked: %v (%s)\n", s.sw.Write, s.sw.Rerank, s.sw.RerankRule)
}
