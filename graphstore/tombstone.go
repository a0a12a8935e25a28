package graphstore

// Tombstone is what stays of a source that was retracted or of a user that was forgotten: writes with a time up to At are
// withdrawn, whenever they arrive.
type Tombstone struct {
	Source string  // the source; empty: the user, everything
	At     Instant // always present
}

// userTombstone is the key of the tombstone of a user; those of sources have a prefix.
const (
	userTombstone    = "user"
	sourceTombstones = "source "
)

// Key returns the tombstone's identity in its space: one for each source, one for the user.
func (t Tombstone) Key() Key {
	if t.Source == "" {
		return Key{Kind: KindTombstone, Node: userTombstone}
	}
	return Key{Kind: KindTombstone, Node: sourceTombstones + t.Source}
}

// tombstoneOf returns the tombstone with this key, without its time.
func tombstoneOf(k Key) Tombstone {
	if k.Node == userTombstone {
		return Tombstone{}
	}
	return Tombstone{Source: k.Node[min(len(sourceTombstones), len(k.Node)):]}
}

// Covers reports whether a write at this time is withdrawn. A write of unknown time is older than any.
func (t Tombstone) Covers(at Instant) bool { return !at.Present() || at <= t.At }
