package main

import (
	"fmt"
	"time"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// leastHandled is how many events must have been handled for their share of failures to mean something.
const leastHandled = 20

// feedTrouble says what holds projection up.
func (s *service) feedTrouble(h *server.Health) []string {
	h.Projection = s.sw.WriteRule
	if s.sw.Paused {
		return s.pausedTrouble(h)
	}
	if !s.sw.Write || s.conn == nil || s.host == nil {
		return nil
	}
	var texts []string
	h.Projecting = true
	if err := s.host.ended.Load(); err != nil {
		h.Projecting, h.Projection = false, fmt.Sprintf("ended: %v", *err)
		texts = append(texts, fmt.Sprintf("projection ended: %v", *err))
	}
	if !s.conn.IsConnected() {
		texts = append(texts, "NATS is not connected")
	}
	f := s.host.feed.Load()
	if f == nil {
		return texts
	}
	return append(texts, s.statusTrouble(h, f.Status())...)
}

// statusTrouble copies the state of the feed and says what is wrong with it.
func (s *service) statusTrouble(h *server.Health, st feed.Status) []string {
	var texts []string
	h.Pending, h.AppliedSeq, h.LastSuccess, h.LastErrorAt = st.Pending+uint64(st.AckPending), st.LastApplied, st.LastSuccess, st.LastErrorAt
	h.Dead, h.DeadFacts = st.Dead, st.DeadFacts
	h.Role, h.Unsettled = string(st.Role), st.Unsettled
	if st.LastError != nil {
		h.LastError = st.LastError.Error()
	}
	if st.Failures > 0 {
		texts = append(texts, fmt.Sprintf("projection fails, %d times in a row: %s", st.Failures, h.LastError))
	}
	if m := st.Missing; m != (feed.Missing{}) {
		texts = append(texts, fmt.Sprintf("events %d to %d are no longer in the stream and are missing from the graph until a backfill", m.From, m.To))
	}
	if st.Undelivered > 0 {
		texts = append(texts, fmt.Sprintf("%d bad events wait because their dead letters cannot be stored", st.Undelivered))
	}
	if st.Skipped > 0 {
		texts = append(texts, fmt.Sprintf("%d events could not be projected while standing by, and are settled by the active service: the graphs may differ", st.Skipped))
	}
	if st.EarlierLog != "" {
		texts = append(texts, fmt.Sprintf("the event stream was replaced: the graph was made from %s, and a rebuild from the present one would lose what that had", st.EarlierLog))
	}
	if st.AdvisoryTrouble != nil {
		texts = append(texts, fmt.Sprintf("it is not heard on which events the NATS server gives up, and such ones would be missing without a dead letter: %v", st.AdvisoryTrouble))
	}
	since := st.LastSuccess
	if since.IsZero() {
		since = s.started
	}
	h.ErrorShare, h.Handled = s.metrics.ErrorShare()
	for _, text := range []string{stands(s.e.cfg.Ready, h.Pending, since, time.Now()), failing(s.e.cfg.Ready, h.ErrorShare, h.Handled)} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// stands says that too many events have been waiting for too long without a success; empty if they have not.
func stands(r config.Ready, pending uint64, since, now time.Time) string {
	if pending <= uint64(r.Lag) || now.Sub(since) <= r.Silence {
		return ""
	}
	return fmt.Sprintf("projection stands still: %d events wait (KITH_READY_LAG %d), and nothing has succeeded since %s (KITH_READY_SILENCE %s)",
		pending, r.Lag, since.UTC().Format(time.RFC3339), r.Silence)
}

// failing says that too large a share of the events is not applied; empty if it is not.
func failing(r config.Ready, share float64, handled int) string {
	if handled < leastHandled || share <= r.ErrorShare {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the %d events handled within %s were dead-lettered or given back (KITH_READY_ERROR_SHARE %v)",
		100*share, handled, r.ErrorWindow, r.ErrorShare)
}

// pausedTrouble says that events wait because somebody wants it so.
func (s *service) pausedTrouble(h *server.Health) []string {
	h.Pending = s.paused.waiting.Load()
	if trouble := s.paused.trouble.Load(); trouble != nil {
		return []string{fmt.Sprintf("projection is off (%s), and it is not known how many events wait: %s", s.sw.WriteRule, *trouble)}
	}
	return []string{fmt.Sprintf("projection is off (%s): the graph stays as it is, %d events wait in the stream", s.sw.WriteRule, h.Pending)}
}
