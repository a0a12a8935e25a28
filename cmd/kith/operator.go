package main

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
)

var _ server.Operator = (*service)(nil)

// Health tells what works and what does not.
func (s *service) Health() server.Health {
	h := server.Health{Ready: true, Projecting: s.feed != nil}
	h.Degraded = append(h.Degraded, s.graphTrouble(&h)...)
	if s.feed == nil {
		return h
	}
	if err := s.ended.Load(); err != nil {
		h.Projecting = false
		h.Degraded = append(h.Degraded, fmt.Sprintf("projection ended: %v", *err))
	}
	st := s.feed.Status()
	h.Pending, h.AppliedSeq, h.LastSuccess, h.Dead = st.Pending, st.LastApplied, st.LastSuccess, st.Dead+st.DeadFacts
	if st.LastError != nil {
		h.LastError = st.LastError.Error()
	}
	if st.Failures > 0 {
		h.Degraded = append(h.Degraded, fmt.Sprintf("projection fails, %d times in a row: %s", st.Failures, h.LastError))
	}
	if !st.Connected {
		h.Degraded = append(h.Degraded, "NATS is not connected")
	}
	return h
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
	if s.feed == nil {
		return 0
	}
	return s.feed.Status().LastApplied
}

// Stats counts the live graph, the vector store and the feed.
func (s *service) Stats(ctx context.Context) (server.Stats, error) {
	var out server.Stats
	if s.graph != nil {
		c := s.graph.Counts()
		out.Graph = server.GraphStats{Users: c.Spaces, Facts: c.Facts, Present: c.Present, Entities: c.Entities, Topics: c.Topics, Edges: c.Edges}
		if st, err := s.store.Stats(ctx); err == nil {
			out.Graph.Bytes = st.Bytes
		} else {
			return out, fmt.Errorf("count graph: %w", err)
		}
	}
	info, err := s.vectors.Info(ctx)
	out.Vector = server.VectorStats{Driver: info.Driver, Collection: info.Collection, Dimension: info.Dimension, Points: info.Points}
	if err != nil {
		out.Vector.Driver, out.Vector.Error = s.e.vectorsName(), err.Error()
	}
	if s.feed != nil {
		st := s.feed.Status()
		out.Feed = server.FeedStats{
			Applied: st.Applied, Unchanged: st.Unchanged, Deferred: st.Deferred, Dead: st.Dead, DeadFacts: st.DeadFacts,
			Redelivered: st.Redelivered, Returned: st.Returned, Commits: st.Commits, Pending: st.Pending,
		}
	}
	return out, nil
}

// Digest returns the digest of one user's graph, or of the whole graph.
func (s *service) Digest(ctx context.Context, user string) (string, error) {
	if s.graph == nil {
		return "", fmt.Errorf("digest: %s", s.sw.RerankRule)
	}
	select {
	case <-s.graph.Loaded():
	case <-ctx.Done():
		return "", fmt.Errorf("digest: wait for graph to load: %w", ctx.Err())
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
