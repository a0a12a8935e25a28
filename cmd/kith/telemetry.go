package main

import (
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// feedHooks has the metrics count what the feed does.
func feedHooks(m *server.Metrics) feed.Hooks {
	for _, reason := range feed.Reasons() {
		m.ExpectDead(string(reason))
	}
	return feed.Hooks{
		Batch: func(b feed.BatchStats) { m.CountBatch(b.Events, b.Took, b.Err == nil) },
		Message: func(s feed.MessageStats) {
			if s.Outcome != feed.Left { // the active service counts it
				m.CountEvent(s.Type, eventOutcome(s.Outcome), s.Lag)
			}
		},
		Dead:    func(d feed.DeadLetter) { m.CountDead(string(d.Reason)) },
		Rebuilt: func(string) { m.CountRetake(server.RetakeRebuilt) },
		Rewound: func(feed.Rewind) { m.CountRetake(server.RetakeRewound) },
	}
}

func eventOutcome(o feed.Outcome) string {
	switch o {
	case feed.Applied:
		return server.EventApplied
	case feed.Buried:
		return server.EventDead
	default:
		return server.EventReturned
	}
}
