package graphstore

// ValidTo returns the end of a fact's validity, exclusive; absent means for ever. It is the earlier of what
// the producer stated and, while the fact is superseded, the start of the one that retired it: that one's valid_from,
// else its memory_at, else the time of the supersession. It is derived on every read and stored nowhere, so a newer
// fact that comes late, or changes its own dates, changes the answer and no record.
//
// The end may lie before the start, where an older fact retired a newer one: such a window is empty, nothing is valid
// in it.
func (s *Snapshot) ValidTo(f *Fact) Instant {
	if f.State != StateSuperseded {
		return f.ValidTo
	}
	return s.earlierEnd(f.ValidTo, f.SupersededBy, f.SupersededAt)
}

// Validity returns the window [from, to) in which a node's fact is valid; to is [Snapshot.ValidTo].
func (s *Snapshot) Validity(n Node) (from, to Instant) {
	node := s.node(n)
	r := node.rare
	switch {
	case r == nil:
		return node.validFrom(), 0
	case node.state != StateSuperseded:
		return node.validFrom(), r.validTo
	default:
		return node.validFrom(), s.earlierEnd(r.validTo, r.supersededBy, r.supersededAt)
	}
}

func (s *Snapshot) earlierEnd(stated Instant, by string, at Instant) Instant {
	retired := s.retiredAt(by, at)
	if !retired.Present() || (stated.Present() && stated < retired) {
		return stated
	}
	return retired
}

func (s *Snapshot) retiredAt(by string, at Instant) Instant {
	if n, ok := s.Node(by); ok && s.node(n).present() {
		by := s.node(n)
		if from := by.validFrom(); from.Present() {
			return from
		}
		if by.memoryAt.Present() {
			return by.memoryAt
		}
	}
	return at
}
