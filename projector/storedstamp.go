package projector

import "github.com/kithgraph/kith/graphstore"

// FromStore reports whether a stamp is that of a stored fact, not of an event.
func FromStore(s graphstore.Stamp) bool { return s.EventID == storedEventID }
