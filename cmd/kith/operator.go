package main

import (
	"context"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
)

var _ server.Operator = (*service)(nil)

// stalledAfter is how long events may wait without a single cycle of the feed succeeding before that is trouble.
const stalledAfter = time.Minute

// Instance names this run of the service.
func (s *service) Instance() string { return s.instance }

// Health tells what works and what does not. A service that is stopping is not ready; any other is, because it answers,
// if only to say what it lacks.
func (s *service) Health() server.Health {
	h := server.Health{Ready: !s.stopping.Load()}
	if text := s.probe.trouble.Load(); text != nil {
		h.Degraded = append(h.Degraded, "vector store, without which no search has an answer: "+*text)
	}
	h.Degraded = append(h.Degraded, s.graphTrouble(&h)...)
	if text := s.reader.Trouble(); text != "" {
		h.Degraded = append(h.Degraded, "searches without the graph lately: "+text)
	}
	h.Degraded = append(h.Degraded, s.feedTrouble(&h)...)
	return h
}

// feedTrouble says what holds projection up.
func (s *service) feedTrouble(h *server.Health) []string {
	if !s.sw.Write || s.conn == nil {
		return nil
	}
	var texts []string
	h.Projecting = true
	if err := s.ended.Load(); err != nil {
		h.Projecting = false
		texts = append(texts, fmt.Sprintf("projection ended: %v", *err))
	}
	if !s.conn.IsConnected() {
		texts = append(texts, "NATS is not connected")
	}
	f := s.feed.Load()
	if f == nil {
		return texts
	}
	st := f.Status()
	h.Pending, h.AppliedSeq, h.LastSuccess, h.LastErrorAt = st.Pending+uint64(st.AckPending), st.LastApplied, st.LastSuccess, st.LastErrorAt
	h.Dead, h.DeadFacts = st.Dead, st.DeadFacts
	if st.LastError != nil {
		h.LastError = st.LastError.Error()
	}
	if st.Failures > 0 {
		texts = append(texts, fmt.Sprintf("projection fails, %d times in a row: %s", st.Failures, h.LastError))
	}
	if st.Undelivered > 0 {
		texts = append(texts, fmt.Sprintf("%d bad events wait because their dead letters cannot be stored", st.Undelivered))
	}
	if h.Pending > 0 && !st.LastSuccess.IsZero() && time.Since(st.LastSuccess) > stalledAfter {
		texts = append(texts, fmt.Sprintf("projection stands still: %d events wait, last success %s", h.Pending, st.LastSuccess.UTC().Format(time.RFC3339)))
	}
	return texts
}

// graphTrouble says why searches have no graph.
func (s *service) graphTrouble(h *server.Health) []string {
	if s.graph == nil {
		return nil
	}
	select {
	case <-s.graph.Loaded():
		h.GraphLoaded = true
		return nil
	default:
	}
	probe, err := graphstore.NewSpace("probe")
	if err == nil {
		_, err = s.graph.View(probe)
	}
	return []string{fmt.Sprintf("graph: %v", err)}
}

// AppliedSeq is the stream sequence up to which every event is projected; 0 while none are taken.
func (s *service) AppliedSeq() uint64 {
	if f := s.feed.Load(); f != nil {
		return f.Status().LastApplied
	}
	return 0
}

// Stats counts the live graph, the vector store and the feed.
func (s *service) Stats(ctx context.Context) (server.Stats, error) {
	var out server.Stats
	if s.graph != nil {
		c := s.graph.Counts()
		out.Graph = server.GraphStats{Users: c.Spaces, Facts: c.Facts, Present: c.Present, Entities: c.Entities, Topics: c.Topics, Edges: c.Edges}
		if st, err := s.store.Stats(ctx); err == nil {
			out.Graph.Bytes, out.Graph.Leaked = st.Bytes, s.store.leaked()
		} else {
			return out, fmt.Errorf("count graph: %w", err)
		}
	}
	info, err := s.vectors.Info(ctx)
	out.Vector = server.VectorStats{Driver: info.Driver, Collection: info.Collection, Dimension: info.Dimension, Points: info.Points}
	if err != nil {
		out.Vector.Driver, out.Vector.Error = s.e.vectorsName(), err.Error()
	}
	if f := s.feed.Load(); f != nil {
		st := f.Status()
		out.Feed = server.FeedStats{
			Applied: st.Applied, Unchanged: st.Unchanged, Deferred: st.Deferred, Dead: st.Dead, DeadFacts: st.DeadFacts,
			Redelivered: st.Redelivered, Returned: st.Returned, Commits: st.Commits, Pending: st.Pending + uint64(st.AckPending),
		}
	}
	return out, nil
}

// Digest returns the digest of one user's graph, or of the whole graph.
func (s *service) Digest(_ context.Context, user string) (string, error) {
	if s.graph == nil {
		return "", fmt.Errorf("%w: %s", server.ErrNoGraph, s.sw.RerankRule)
	}
	select {
	case <-s.graph.Loaded():
	default:
		return "", fmt.Errorf("%w: it is not loaded yet", server.ErrNoGraph)
	}
	if user == "" {
		return s.graph.Digest().String(), nil
	}
	space, err := graphstore.NewSpace(user)
	if err != nil {
		return "", err
	}
	snap, err := s.graph.View(space)
	if err != nil {
		return "", err
	}
	return snap.Digest().String(), nil
}
