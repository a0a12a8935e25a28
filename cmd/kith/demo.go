package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/sample"
	"github.com/kithgraph/kith/vdb"
)

// demoProjectTimeout bounds the wait for the sample's events, seconds' work on a slow machine.
const demoProjectTimeout = 2 * time.Minute

// demoBudgetMS is the graph stage's budget in the demo, which compares orders and must not leave a question out because the
// machine is busy.
const demoBudgetMS = 5000

type demoCmd struct {
	Serve bool `help:"Keep serving afterwards, on the data in the demo folder of the data directory."`
}

// Run plays the memory system with the sample: it stores the points, publishes the events, waits until they are
// projected and compares both orders over the sample's questions.
func (c demoCmd) Run(e *env) (err error) {
	cleanup, err := c.place(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	s, err := open(e, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(e.cfg.Serve.Listen); err != nil {
		return err
	}
	if err := s.loadSample(e); err != nil {
		return err
	}
	if err := s.compareSample(e); err != nil {
		return err
	}
	if c.Serve {
		e.printf("\n")
		s.banner()
		e.printf("  try:     %s --data-dir %s search --queries internal/sample/questions.jsonl --only q-d17\nStop with Ctrl-C.\n", os.Args[0], e.cfg.DataDir)
		return s.wait()
	}
	return nil
}

// place makes the demo use embedded stores of its own, so that the sample never lands in somebody's real memory.
func (c demoCmd) place(e *env) (cleanup func() error, err error) {
	if sw := e.cfg.Memory.Resolve(); !sw.Write || !sw.Rerank {
		return nil, &usageError{fmt.Errorf("demo: needs the graph, but projected: %v (%s), reranked: %v (%s)", sw.Write, sw.WriteRule, sw.Rerank, sw.RerankRule)}
	}
	if e.cfg.Rerank.BudgetMS == nil {
		budget := demoBudgetMS
		e.cfg.Rerank.BudgetMS = &budget
	}
	if e.cfg.NATS.URL != "" || e.cfg.Qdrant.URL != "" {
		e.log.Warn("demo uses embedded stores; NATS_URL and QDRANT_URL are left alone")
		e.cfg.NATS.URL, e.cfg.Qdrant.URL = "", ""
	}
	e.cfg.Embed = config.Embed{} // the sample's vectors are of no model that an endpoint has
	if c.Serve {
		e.cfg.DataDir = demoDir(e.cfg)
		return func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "kith-demo-")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	e.cfg.DataDir, e.cfg.Serve.Listen, e.cfg.NATS.Listen = dir, "127.0.0.1:0", ""
	return func() error { return os.RemoveAll(dir) }, nil
}

// loadSample stores the sample's points, publishes its events and waits until they are in the graph.
func (s *service) loadSample(e *env) error {
	points, err := samplePoints()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := s.vectors.Upsert(e.ctx, points); err != nil {
		return fmt.Errorf("store sample points: %w", err)
	}
	e.printf("stored %d points of the sample as the memory system would (%s)\n", len(points), since(start))

	start = time.Now()
	events := sample.Events()
	p, err := s.e.newPublisher(e.ctx, s.js)
	if err != nil {
		return err
	}
	report, err := publishAll(e.ctx, p, events)
	if err != nil {
		return fmt.Errorf("publish sample: %w", err)
	}
	e.printf("published %d write events through JetStream: %s (%s)\n", len(events), report, since(start))

	start = time.Now()
	ctx, cancel := context.WithTimeout(e.ctx, demoProjectTimeout)
	defer cancel()
	select {
	case <-s.host.fed:
	case <-ctx.Done():
		return fmt.Errorf("wait for projection: %w", ctx.Err())
	}
	if err := s.host.feed.Load().WaitCaughtUp(ctx); err != nil {
		return fmt.Errorf("wait for projection: %w", err)
	}
	g := s.host.live.Load().Counts()
	e.printf("projected into the graph: %d facts of %d users, %d edges, %d entities, %d topics (%s)\n\n",
		g.Facts, g.Spaces, g.Edges, g.Entities, g.Topics, since(start))
	return nil
}

func (s *service) compareSample(e *env) (err error) {
	questions, err := sample.Questions()
	if err != nil {
		return fmt.Errorf("read sample questions: %w", err)
	}
	queries := make([]knownQuery, len(questions))
	for i, q := range questions {
		queries[i] = knownQuery{ID: q.ID, UserID: q.UserID, Question: q.Text, Vector: q.Vector, Answers: q.Answers, Kind: q.Kind}
	}
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	e.printf("%d questions, plain order and graph order side by side; * marks an answer.\n\n", len(queries))
	return compare(e, cl, queries, false)
}

// demoDir is where a demo that serves keeps its data.
func demoDir(c config.Config) string { return filepath.Join(c.DataDir, "demo") }

func samplePoints() ([]vdb.Point, error) {
	raw, err := sample.Points()
	if err != nil {
		return nil, fmt.Errorf("read sample points: %w", err)
	}
	points := make([]vdb.Point, len(raw))
	for i, r := range raw {
		if points[i], err = toPoint(r.UserID, r.ID, r.Vector, r.Payload); err != nil {
			return nil, fmt.Errorf("read sample point %s: %w", r.ID, err)
		}
	}
	return points, nil
}

func since(start time.Time) time.Duration { return time.Since(start).Round(time.Millisecond) }
