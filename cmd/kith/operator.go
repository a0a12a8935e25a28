package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/internal/server"
)

var _ server.Operator = (*service)(nil)

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
	h.Degraded = append(h.Degraded, s.embedder.trouble()...)
	h.Degraded = append(h.Degraded, s.feedTrouble(&h)...)
	return h
}

// graphTrouble says why searches have no graph, or why it is not written.
func (s *service) graphTrouble(h *server.Health) []string {
	if s.host == nil {
		return nil
	}
	var texts []string
	_, err := s.host.View(probeSpace())
	if h.GraphLoaded = err == nil; !h.GraphLoaded {
		texts = append(texts, fmt.Sprintf("graph: %v", err))
	}
	if c, started := s.host.file.health(); started {
		h.StorePID = c.PID
	}
	if text := s.host.storeTrouble(); text != "" {
		texts = append(texts, text)
	}
	return texts
}

// probeSpace is a space that nobody has: what it gives is what every other one would.
func probeSpace() graphstore.Space {
	space, err := graphstore.NewSpace("kith.probe")
	if err != nil {
		panic(err) // the name is a constant
	}
	return space
}

// storeTrouble says what ails the store's process; searches go on meanwhile, events wait.
func (h *graphHost) storeTrouble() string {
	c, started := h.file.health()
	if name, since := h.maintenance.now(); name == "rebuild" {
		return fmt.Sprintf("graph store: lost its graph, being written again from memory since %s; searches go on, events wait", since.UTC().Format(time.RFC3339))
	}
	switch why := h.lostWhy.Load(); {
	case why != nil:
		return fmt.Sprintf("graph store: lost its graph, which cannot be written again yet: %v; searches go on, events wait", *why)
	case !started:
		return ""
	case c.Phase == child.PhaseBreaker:
		return fmt.Sprintf("graph store: died %d times, paused until %s; searches go on, events wait; last: %s", c.Crashes, c.Until.UTC().Format(time.RFC3339), c.LastReason)
	case c.Phase == child.PhaseRestarting, c.Phase == child.PhaseRefused:
		return fmt.Sprintf("graph store: %s since %s; searches go on, events wait; last: %s", c.Phase, c.Since.UTC().Format(time.RFC3339), c.LastReason)
	default:
		return ""
	}
}

// AppliedSeq is the stream sequence up to which every event is projected; 0 while none are taken.
func (s *service) AppliedSeq() uint64 {
	if s.host == nil {
		return 0
	}
	if f := s.host.feed.Load(); f != nil {
		return max(f.Status().LastApplied, s.host.floor.Load())
	}
	return 0
}

// Stats counts the live graph, the vector store and the feed.
func (s *service) Stats(ctx context.Context) server.Stats {
	var out server.Stats
	if s.host != nil {
		out.Graph = s.host.stats(ctx)
	}
	info, err := s.vectors.Info(ctx)
	out.Vector = server.VectorStats{Driver: info.Driver, Collection: info.Collection, Dimension: info.Dimension, Points: info.Points}
	if err != nil {
		out.Vector.Driver, out.Vector.Error = s.e.vectorsName(), err.Error()
	}
	if s.host == nil {
		return out
	}
	out.Feed.Pending = s.paused.waiting.Load()
	if f := s.host.feed.Load(); f != nil {
		st := f.Status()
		out.Feed = server.FeedStats{
			Applied: st.Applied, Unchanged: st.Unchanged, Withdrawn: st.Withdrawn, Forgotten: st.Forgotten, Dead: st.Dead, DeadFacts: st.DeadFacts,
			Redelivered: st.Redelivered, Returned: st.Returned, Commits: st.Commits, Rewound: st.Rewound, BatchSize: st.BatchSize, Pending: st.Pending + uint64(st.AckPending),
			Caught: st.Caught, Stalls: st.Stalls, AdvisoryTrouble: errorText(st.AdvisoryTrouble),
			Undelivered: st.Undelivered, Missing: st.Missing.Events(), Takeovers: st.Takeovers,
		}
	}
	return out
}

// stats counts the live graph and its store.
func (h *graphHost) stats(ctx context.Context) server.GraphStats {
	g := h.live.Load()
	c, u := g.Counts(), g.Usage()
	out := server.GraphStats{
		Users: c.Spaces, Facts: c.Facts, Present: c.Present, Entities: c.Entities, Topics: c.Topics, Edges: c.Edges,
		Schemas: c.Schemas, Refs: c.Refs, Merges: c.Merges, Tombstones: c.Tombstones,
		Resident: u.Resident, MemoryBytes: u.Bytes, MemoryLimit: u.MaxBytes, Evictions: u.Evictions, Reloads: u.Reloads, TooLarge: u.TooLarge,
	}
	if store, started := h.file.health(); started {
		out.StorePID, out.StoreRestarts, out.StoreCrashes, out.Quarantines = store.PID, store.Restarts, store.Crashes, store.Quarantines
	}
	ctx, cancel := context.WithTimeout(ctx, storeAnswerTime)
	defer cancel()
	st, err := h.file.Stats(ctx)
	if err != nil {
		out.StoreError = err.Error()
		return out
	}
	out.Bytes = st.Bytes
	account, err := h.file.account(ctx)
	if err != nil {
		out.AccountError = err.Error()
		return out
	}
	out.Leaked, out.StoreBytes = account.Leaked, account.RSS
	return out
}

// storeAnswerTime is how long a count waits for the store's process, which may be on its way back.
const storeAnswerTime = 2 * time.Second

// Busy says what is in flight.
func (s *service) Busy() server.Busy {
	if s.host == nil {
		return server.Busy{}
	}
	var b server.Busy
	if b.Maintenance, b.Since = s.host.maintenance.now(); b.Maintenance == "" {
		b.Maintenance, b.Since = s.comparing()
	}
	_, err := s.host.View(probeSpace())
	b.Loading = errors.Is(err, live.ErrLoading) || errors.Is(err, errReplaying)
	f := s.host.feed.Load()
	if f == nil {
		b.Loading = b.Loading || s.sw.Write // what waits is not known yet
		return b
	}
	st := f.Status()
	b.Applying, b.Pending = max(st.AckPending, st.InHand), st.Pending
	b.Loading = b.Loading || (s.sw.Write && st.LastSuccess.IsZero())
	return b
}

// comparing says which of what reads the vector store beside the feed goes on.
func (s *service) comparing() (name string, since time.Time) {
	if r := s.backfills.oldest(); r != nil {
		return "backfill", r.began
	}
	if v := s.verifies.VerifyState().Running; v != nil {
		return verifyName, v.Started
	}
	return "", time.Time{}
}

// Digest returns the digest of one user's graph, or of the whole graph.
func (s *service) Digest(ctx context.Context, user string) (string, error) {
	if s.host == nil {
		return "", fmt.Errorf("%w: %s", server.ErrNoGraph, s.sw.RerankRule)
	}
	g := s.host.live.Load()
	if _, err := s.host.View(probeSpace()); err != nil {
		return "", fmt.Errorf("%w: %w", server.ErrNoGraph, err)
	}
	if user == "" {
		return g.Digest().String(), nil
	}
	space, err := graphstore.NewSpace(user)
	if err != nil {
		return "", err
	}
	snap, err := g.Snapshot(ctx, space)
	if err != nil {
		return "", err
	}
	return snap.Digest().String(), nil
}
