package graphstore

// ValidTo returns the end of a fact's validity, exclusive; absent means for ever. It is the earlier of what
// the producer stated and, while the fact is superseded, the start of the one that retired it: that one's valid_from,
// else its memory_at, else the time of the supersession. It is derived on every read and stored nowhere, so a newer
// fact that comes late, or changes its own dates, changes the answer and no record.
//
// The end may lie before the start, where an older fact retired a newer one: such a window is empty, nothing is valid
// in it.
func (s *Snapshot) ValidTo(f *Fact) Instant {
	retired := s.retiredAt(f)
	if !retired.Present() || (f.ValidTo.Present() && f.ValidTo < retired) {
		return f.ValidTo
	}
	return retired
}

func (s *Snapshot) retiredAt(f *Fact) Instant {
	if f.State != StateSuperseded {
		return 0
	}
	if n, ok := s.Node(f.SupersededBy); ok && s.FactAt(n).Present() {
		by := s.FactAt(n)
		if by.ValidFrom.Present() {
			return by.ValidFrom
		}
		if by.MemoryAt.Present() {
			return by.MemoryAt
		}
	}
	return f.SupersededAt
}
