package main

import (
	"fmt"

	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/rerank"
)

// refusalText says why a fact that the graph put forward was not added.
func refusalText(r server.Refused) string {
	switch rerank.Reason(r.Reason) {
	case rerank.ReasonGate:
		return fmt.Sprintf("too far from the question: base score %.4f, %.4f below the gate", deref(r.Base), -deref(r.GateMargin))
	case rerank.ReasonFloor:
		return fmt.Sprintf("too far from the question: base score %.4f is below the floor for added facts", deref(r.Base))
	case rerank.ReasonBeyond:
		return "tied too weakly to ask the vector store about it"
	case rerank.ReasonNotReturned:
		return "the vector store did not return it: the filter keeps it out, or it is gone"
	case rerank.ReasonUnreached:
		return "every path to it leads over a fact that may not appear"
	case rerank.ReasonMaxExpand:
		return "enough facts were added already"
	case rerank.ReasonQuota:
		return "enough facts were added over " + r.Via + " already"
	case rerank.ReasonPerSeed:
		return "enough facts were added to " + r.ExpandedFrom + " already"
	case rerank.ReasonShare:
		return "enough of the results are added facts already"
	case rerank.ReasonSeedOutside:
		return r.ExpandedFrom + ", to which it would be added, is not among the results"
	default:
		return removalText(r.Reason)
	}
}

// removalText says why a fact may not appear.
func removalText(reason string) string {
	switch rerank.Reason(reason) {
	case rerank.ReasonState:
		return "it is not active"
	case rerank.ReasonNotYet:
		return "it is not valid yet at that time"
	case rerank.ReasonNoLonger:
		return "it is no longer valid at that time"
	case rerank.ReasonOtherAgent:
		return "it is another agent's"
	case rerank.ReasonOtherSpace:
		return "it is another user's"
	case rerank.ReasonDuplicate:
		return "it is a candidate already"
	default:
		return reason
	}
}

func deref(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}
