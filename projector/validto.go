package projector

import "github.com/kithgraph/kith/graphstore"

// EffectiveValidTo returns the end of a fact's validity, exclusive; absent means for ever. It is the earlier of what
// the producer stated and, while the fact is superseded, the start of the one that retired it: that one's valid_from,
// else its memory_at, else the time of the supersession. It is derived on every read and stored nowhere, so a newer
// fact that comes late, or changes its own dates, changes the answer and no record.
//
// The end may lie before the start, where an older fact retired a newer one: such a window is empty, nothing is valid
// in it.
func EffectiveValidTo(view *graphstore.Snapshot, f graphstore.Fact) graphstore.Instant {
	retired := retiredAt(view, f)
	if !retired.Present() || (f.ValidTo.Present() && f.ValidTo < retired) {
		return f.ValidTo
	}
	return retired
}

func retiredAt(view *graphstore.Snapshot, f graphstore.Fact) graphstore.Instant {
	if f.State != graphstore.StateSuperseded {
		return 0
	}
	if by, ok := view.Fact(f.SupersededBy); ok && by.Present() {
		if by.ValidFrom.Present() {
			return by.ValidFrom
		}
		if by.MemoryAt.Present() {
			return by.MemoryAt
		}
	}
	return f.SupersededAt
}
