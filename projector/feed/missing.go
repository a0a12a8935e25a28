package feed

import "github.com/nats-io/nats.go/jetstream"

// Missing is a range of events that the stream no longer had when the graph needed them. The graph lacks them, those that
// are in it by accident aside, until it is filled from elsewhere. The zero Missing is none.
type Missing struct {
	From, To uint64 // stream sequences, both included
}

// Events returns how many events the range has.
func (m Missing) Events() uint64 {
	if m == (Missing{}) {
		return 0
	}
	return m.To - m.From + 1
}

// gone returns what the stream no longer has of the events after seq.
func gone(seq uint64, stream *jetstream.StreamInfo) Missing {
	m := Missing{max(seq+1, stream.Config.FirstSeq), max(stream.State.FirstSeq, 1) - 1}
	if m.From > m.To {
		return Missing{}
	}
	return m
}

// hull returns the range from the first to the last of two.
func (m Missing) hull(other Missing) Missing {
	switch {
	case m == Missing{}:
		return other
	case other == Missing{}:
		return m
	default:
		return Missing{min(m.From, other.From), max(m.To, other.To)}
	}
}

// missing notes that events are lost to the graph.
func (f *Feed) missing(m Missing) {
	if m != (Missing{}) && f.health.lost(m) {
		f.log.Warn("events are no longer in the stream and are missing from the graph until a backfill", "from", m.From, "to", m.To,
			"stream", EventStream)
	}
}

// lost widens the range that is known to be missing and reports whether that is news.
func (h *health) lost(m Missing) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.mu.missing
	h.mu.missing = was.hull(m)
	return h.mu.missing != was
}

// overtaken returns the events that the stream has dropped before they were delivered. gap is what skipped returned before
// the server was asked for the stream. The floor does not tell: the server raises its own over what is gone.
func (p *progress) overtaken(gap Missing, stream *jetstream.StreamInfo) (m Missing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.mu.stream.Equal(stream.Created) {
		return Missing{}
	}
	if gap != (Missing{}) {
		if m = gone(gap.From-1, stream); m != (Missing{}) {
			m.To = min(m.To, gap.To)
		}
		if p.mu.gap == gap { // else there is a later one
			p.mu.gap = Missing{}
		}
	}
	return m.hull(gone(p.mu.seen, stream))
}

// skipped returns the events that the server has passed over since the last answer: they were deleted one by one, or the
// stream has dropped them.
func (p *progress) skipped() Missing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.gap
}
