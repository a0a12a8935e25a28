package main

import (
	"sync"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// rebuildState is how far a rebuild is, for whoever asks meanwhile.
type rebuildState struct {
	mu     sync.Mutex
	now    server.RebuildState
	points *backfill.Gather // that reads them; nil: none does
}

func (s *rebuildState) set(change func(*server.RebuildState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.now)
}

func (s *rebuildState) get() server.RebuildState {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now
	if s.points != nil {
		a := s.points.Account()
		now.Points, now.OfPoints = a.Scanned, a.Total
	}
	return now
}

func (s *rebuildState) begin(req server.RebuildRequest) {
	s.set(func(now *server.RebuildState) {
		*now = server.RebuildState{Running: true, UserID: req.UserID, From: req.From, Since: time.Now().UTC(), Phase: "beginning"}
	})
}

// scanning begins the reading of points.
func (s *rebuildState) scanning(points *backfill.Gather) {
	s.set(func(now *server.RebuildState) { now.Phase, s.points = "reading the points", points })
}

func (s *rebuildState) end(out server.Rebuild, err error) {
	s.set(func(now *server.RebuildState) {
		s.points = nil
		*now = server.RebuildState{Last: &out}
		if err != nil {
			now.Last, now.LastError = nil, err.Error()
		}
	})
}

func (s *rebuildState) phase(name string) {
	s.set(func(now *server.RebuildState) { now.Phase = name })
}

// swapping begins the last phase, in which nothing is cancelled.
func (s *rebuildState) swapping(name string) {
	s.set(func(now *server.RebuildState) { now.Phase, now.Swapping = name, true })
}

func (s *rebuildState) replaying(p feed.ReplayProgress) {
	s.set(func(now *server.RebuildState) {
		now.Pass, now.Seq, now.ToSeq, now.Events, now.Users, now.Bytes = p.Pass, p.Seq, p.To, p.Events, p.Users, p.Bytes
	})
}

func (s *rebuildState) wrote(records int) {
	s.set(func(now *server.RebuildState) { now.Written += records })
}
