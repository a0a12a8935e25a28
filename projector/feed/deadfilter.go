package feed

import (
	"fmt"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// ReasonForeign stands in a [DeadFilter] for what is no dead letter of kith's, or cannot be read as one.
const ReasonForeign Reason = "foreign"

// reasons are all reasons of dead letters.
var reasons = []Reason{ReasonBadEvent, ReasonBadFact, ReasonPlan, ReasonCommit, ReasonPoison, ReasonExhausted, ReasonTerminated, ReasonLost}

// Reasons returns every reason that a dead letter of this version can have; the caller owns the list. [ReasonForeign] is none.
func Reasons() []Reason { return slices.Clone(reasons) }

func (r Reason) known() bool {
	return slices.Contains(reasons, r)
}

// DeadFilter says which dead letters are meant; a zero field means any.
type DeadFilter struct {
	UserID string    // whose they are, as the subject under which they are kept says
	Reason Reason    // one of the reasons, or [ReasonForeign]
	Type   string    // event type with its major version, also one that this version does not know; "unknown": it could not be read
	From   time.Time // stored then or later
	To     time.Time // stored before
}

// Empty reports whether the filter means all dead letters.
func (f DeadFilter) Empty() bool {
	return f.UserID == "" && f.Reason == "" && f.Type == "" && f.From.IsZero() && f.To.IsZero()
}

// Validate returns an [ErrBadFilter] that names the first field that breaks a rule.
func (f DeadFilter) Validate() error {
	if f.UserID != "" {
		if err := graphstore.CheckID(f.UserID); err != nil {
			return fmt.Errorf("%w: user %w", ErrBadFilter, err)
		}
	}
	if f.Reason != "" && f.Reason != ReasonForeign && !f.Reason.known() {
		return fmt.Errorf("%w: reason %s: want one of %v, or %s", ErrBadFilter, graphstore.Shorten(string(f.Reason)), reasons, ReasonForeign)
	}
	if !f.From.IsZero() && !f.To.IsZero() && !f.From.Before(f.To) {
		return fmt.Errorf("%w: from %s, to %s: want from before to", ErrBadFilter, f.From.UTC().Format(time.RFC3339), f.To.UTC().Format(time.RFC3339))
	}
	return checkTypeFilter(f.Type)
}

// subjects returns those that can hold what is meant.
func (f DeadFilter) subjects() string { return deadSubjectsOf(f.UserID, f.Type) }

// means reports whether a letter on one of the subjects is meant.
func (f DeadFilter) means(l Letter) bool {
	if f.Reason != "" && (l.Foreign != nil) != (f.Reason == ReasonForeign) {
		return false
	}
	if f.Reason != "" && l.Foreign == nil && l.Reason != f.Reason {
		return false
	}
	return !l.Stored.Before(f.From) && (f.To.IsZero() || l.Stored.Before(f.To))
}
