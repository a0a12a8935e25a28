package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/kithgraph/kith/internal/server"
)

type statsCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run prints what the graph, the vector store and the feed hold.
func (c statsCmd) Run(e *env) (err error) {
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	st, err := cl.stats(e.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(st)
	}
	h, err := cl.health(e.ctx)
	if err != nil {
		return err
	}
	e.printf("asked %s\n\n", cl.via)
	printStats(e, st, h)
	return nil
}

func printStats(e *env, st server.Stats, h server.Health) {
	g := st.Graph
	e.printf("graph    %d users, %d facts (%d present), %d entities, %d topics, %d edges, %s on disk\n", g.Users, g.Facts, g.Present, g.Entities, g.Topics, g.Edges, bytesText(g.Bytes))
	e.printf("         %d schemas, %d refs, %d merges, %d tombstones\n", g.Schemas, g.Refs, g.Merges, g.Tombstones)
	e.printf("         %d of %d users in memory, %s of %s; %d put out, %d read again, %d too large\n", g.Resident, g.Users, bytesText(g.MemoryBytes), limitText(g.MemoryLimit),
		g.Evictions, g.Reloads, g.TooLarge)
	switch {
	case g.StoreError != "":
		e.printf("store    cannot be asked: %s\n", g.StoreError)
	case g.AccountError != "":
		e.printf("store    process %d, memory not known: %s; %d restarts, %d crashes, %d graphs moved aside\n", g.StorePID, g.AccountError, g.StoreRestarts,
			g.StoreCrashes, g.Quarantines)
	default:
		e.printf("store    process %d, %s resident, %s lost by its engine; %d restarts, %d crashes, %d graphs moved aside\n", g.StorePID, bytesText(g.StoreBytes),
			bytesText(g.Leaked), g.StoreRestarts, g.StoreCrashes, g.Quarantines)
	}
	v := st.Vector
	if v.Error != "" {
		e.printf("vectors  %s: %s\n", v.Driver, v.Error)
	} else {
		e.printf("vectors  %s, %d points of dimension %d\n", v.Driver, v.Points, v.Dimension)
	}
	if h.Projecting {
		f := st.Feed
		e.printf("events   up to stream sequence %d; since start %d applied in %d commits (%d without effect, %d of forgotten users), %d redelivered, %d returned\n",
			h.AppliedSeq, f.Applied, f.Commits, f.Unchanged, f.Forgotten, f.Redelivered, f.Returned)
		e.printf("         %d events and %d facts dead-lettered, %d pending\n", f.Dead, f.DeadFacts, f.Pending)
		printNet(e, f)
	}
	printProjection(e, h, st.Feed.Takeovers)
	for _, d := range h.Degraded {
		e.printf("degraded %s\n", d)
	}
}

// printProjection prints how projection is doing: whether events are taken, when something last succeeded, what fails.
func printProjection(e *env, h server.Health, takeovers uint64) {
	if h.Role != "" {
		e.printf("standby  this service is %s; %d events are unsettled in its group; it took over %d times\n", roleText(h.Role), h.Unsettled, takeovers)
	}
	if !h.Projecting {
		e.printf("events   not projected: %s; %d wait\n", h.Projection, h.Pending)
		return
	}
	success := "never"
	if !h.LastSuccess.IsZero() {
		success = h.LastSuccess.UTC().Format(time.RFC3339)
	}
	e.printf("         lag %d, last success %s, %.1f %% of %d events handled lately failed\n", h.Pending, success, 100*h.ErrorShare, h.Handled)
}

func roleText(role string) string {
	if role == server.RoleActive {
		return "the active one"
	}
	return "on standby"
}

func limitText(n int64) string {
	if n == 0 {
		return "any number"
	}
	return bytesText(n)
}

func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, exp := float64(n)/unit, 0
	for ; v >= unit; v /= unit {
		exp++
	}
	return fmt.Sprintf("%.1f %ciB", v, "KMGTP"[exp])
}

// firstError returns the first error that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
