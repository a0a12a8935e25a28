package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/server"
)

type backfillCmd struct {
	User        scope `placeholder:"USER" help:"Only the points of this user. Without it: the whole collection."`
	Agent       scope `placeholder:"AGENT" help:"Only points of this agent."`
	Since       scope `placeholder:"TIME" help:"Only points written at this time or later, as RFC 3339; those without a time are taken too."`
	Clear       bool  `help:"Remove what the graph has of the user's facts first; schemas, merges and tombstones stay. Wants --user."`
	DryRun      bool  `help:"Read and plan, and write nothing."`
	Resume      bool  `help:"Go on where the last run of the same range was interrupted."`
	Rate        int   `placeholder:"N" help:"Points a second at the most."`
	Memory      int64 `placeholder:"BYTES" help:"What the points in hand may take in memory (default 32 MiB)."`
	NoNeighbors bool  `help:"No semantic_neighbor edges, and no searches for them."`
	Probe       bool  `help:"Only read a few points of the Qdrant collection, and print which fields are where, what is missing, and the flags to give."`
	JSON        bool  `help:"Print JSON."`
}

// request returns what the service is asked for, if that can be done.
func (c backfillCmd) request() (backfill.Request, error) {
	req := backfill.Request{
		UserID: string(c.User), AgentID: string(c.Agent),
		Clear: c.Clear, DryRun: c.DryRun, Resume: c.Resume, Rate: c.Rate, Memory: c.Memory, NoNeighbors: c.NoNeighbors,
	}
	if c.Since != "" {
		at, err := time.Parse(time.RFC3339Nano, string(c.Since))
		if err != nil {
			return req, &usageError{fmt.Errorf("--since %q: want a time like 2026-01-31T12:00:00Z", c.Since)}
		}
		req.Since = at.UTC()
	}
	if err := req.Check(); err != nil {
		return req, &usageError{fmt.Errorf("backfill: %w", err)}
	}
	return req, nil
}

// Run has the running service do it, or does it on the files.
func (c backfillCmd) Run(e *env) (err error) {
	if c.Probe {
		if alone := (backfillCmd{Probe: true, JSON: c.JSON}); c != alone {
			return &usageError{errors.New("backfill: --probe reads a few points of all users and writes nothing: " +
				"of the command's other flags only --json goes with it")}
		}
		return e.probeCollection(c.JSON)
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	if err := e.someVectors(); err != nil {
		return err
	}
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	if !c.JSON {
		e.printf("asked %s\n", cl.via)
	}
	out, err := e.backfill(cl, req)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := e.printJSON(out); err != nil {
			return err
		}
	} else {
		e.printBackfill(out)
	}
	if out.Error != "" {
		return fmt.Errorf("backfill stopped: %s", out.Error)
	}
	return nil
}

// askEvery is how often it is asked how far a backfill is.
const askEvery = 200 * time.Millisecond

// backfill begins a backfill and shows how far it is until it has ended. An interrupted command cancels it.
func (e *env) backfill(cl *client, req backfill.Request) (server.Backfill, error) {
	var now server.Backfill
	if err := cl.call(e.ctx, http.MethodPost, "/v1/backfills", req, &now); err != nil {
		return now, err
	}
	path := "/v1/backfills/" + now.Report.ID
	show := e.newBackfillProgress()
	defer func() { show.end() }()
	for now.Running {
		show.at(now)
		select {
		case <-time.After(askEvery):
		case <-e.ctx.Done():
			return e.cancelBackfill(cl, path)
		}
		next := server.Backfill{}
		if err := cl.call(e.ctx, http.MethodGet, path, nil, &next); err != nil {
			if e.ctx.Err() != nil {
				return e.cancelBackfill(cl, path)
			}
			return now, fmt.Errorf("ask how far the backfill is: %w; if its service is gone, kith backfill --resume, "+
				"with the same options, goes on from its checkpoint", err)
		}
		now = next
	}
	show.at(now)
	return now, nil
}

// cancelBackfill ends the backfill of a command that was interrupted.
func (e *env) cancelBackfill(cl *client, path string) (server.Backfill, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), streamAnswerTime)
	defer cancel()
	var out server.Backfill
	if err := cl.call(ctx, http.MethodDelete, path, nil, &out); err != nil {
		return out, fmt.Errorf("interrupted, and the backfill could not be cancelled: %w", err)
	}
	return out, nil
}
