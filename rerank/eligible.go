package rerank

import "github.com/kithgraph/kith/graphstore"

// Reason says why something was left out.
type Reason string

// The reasons a pool member is removed before ranking.
const (
	ReasonDuplicate  Reason = "duplicate"   // the id occurred before in the pool
	ReasonOtherSpace Reason = "other_space" // of another user, or of none
	ReasonOtherAgent Reason = "other_agent" // of another agent than the one asked for
	ReasonState      Reason = "state"       // not active; for valid_at: shadowed, deleted or unknown
	ReasonNotYet     Reason = "not_yet_valid"
	ReasonNoLonger   Reason = "no_longer_valid"
)

// eligibility is the test every fact must pass, whether it is in the pool, nominated, or only passed through.
type eligibility struct {
	space   graphstore.Space
	agent   string
	at      graphstore.Instant
	history bool // valid_at was asked: superseded facts count while their window holds it
}

func (q *Request) eligibility() eligibility {
	e := eligibility{space: q.Space, agent: q.AgentID, at: q.Now}
	if q.ValidAt.Present() {
		e.at, e.history = q.ValidAt, true
	}
	return e
}

// refuses returns why c may not appear, or "".
func (e *eligibility) refuses(c *Candidate) Reason {
	switch {
	case c.Space != e.space:
		return ReasonOtherSpace
	case e.agent != "" && c.AgentID != e.agent:
		return ReasonOtherAgent
	case !e.stateAllowed(c.State):
		return ReasonState
	}
	return e.refusesWindow(c.ValidFrom, c.ValidTo)
}

func (e *eligibility) stateAllowed(state string) bool {
	switch state {
	case "", "active":
		return true
	case "superseded":
		return e.history
	default:
		return false
	}
}

// refusesWindow applies the half-open window [from, to).
func (e *eligibility) refusesWindow(from, to graphstore.Instant) Reason {
	switch {
	case from.Present() && from > e.at:
		return ReasonNotYet
	case to.Present() && e.at >= to:
		return ReasonNoLonger
	default:
		return ""
	}
}
