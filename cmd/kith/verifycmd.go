package main

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/kithgraph/kith/backfill"
)

type verifyCmd struct {
	User      scope  `placeholder:"USER" help:"Only this user. Without it: all that the vector store or the graph has."`
	Sample    int    `placeholder:"N" help:"Only N users, drawn at random."`
	Points    int    `placeholder:"N" help:"Of one user at most N points, and N facts that are looked up by their ids; users with more are looked at in part."`
	Seed      uint64 `placeholder:"N" help:"With --sample or --points: look at what was drawn by this seed, which an earlier verification printed."`
	Neighbors bool   `help:"Also semantic_neighbor edges, by a search for each point."`
	Repair    bool   `help:"Repair what is found, after saying what that changes."`
	DryRun    bool   `help:"With --repair: stop after saying what it would change."`
	Memory    int64  `placeholder:"BYTES" help:"What a page of points may take in memory (default 32 MiB)."`
	JSON      bool   `help:"Print JSON: one object, with --repair a second one of the repair."`
}

// errDrifted is why the exit code is not that of success.
var errDrifted = errors.New("the graph has drifted")

// Run has the running service verify, or does it on the files. The exit code says whether anything drifted and is not repaired.
func (c verifyCmd) Run(e *env) error {
	req, err := c.request()
	if err != nil {
		return err
	}
	err = c.verify(e, req)
	var usage *usageError
	switch {
	case err == nil, errors.As(err, &usage):
		return err
	case errors.Is(err, errDrifted):
		return &exitError{exitDrifted, err}
	default:
		return &exitError{exitUnverified, err}
	}
}

// request returns what the service is asked for, if that can be done. A repair begins with a dry run of the same users.
func (c verifyCmd) request() (backfill.VerifyRequest, error) {
	req := backfill.VerifyRequest{
		UserID: string(c.User), Sample: c.Sample, Points: c.Points, Seed: c.Seed, Neighbors: c.Neighbors, Repair: c.Repair, DryRun: c.Repair, Memory: c.Memory,
	}
	if c.DryRun && !c.Repair {
		return req, &usageError{errors.New("verify: --dry-run: only with --repair, since nothing else writes")}
	}
	if c.Seed > 0 && c.Sample == 0 && c.Points == 0 {
		return req, &usageError{fmt.Errorf("verify: --seed %d: only with --sample or --points, since nothing else is drawn", c.Seed)}
	}
	if err := req.Check(); err != nil {
		return req, &usageError{fmt.Errorf("verify: %w", err)}
	}
	return req, nil
}

func (c verifyCmd) verify(e *env, req backfill.VerifyRequest) (err error) {
	if e.cfg.Qdrant.URL == "" {
		if err := e.someVectors(); err != nil {
			return err
		}
	}
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	if !c.JSON {
		e.printf("asked %s\n", cl.via)
	}
	out, err := c.ask(e, cl, req)
	if err != nil {
		return err
	}
	if c.Repair && !c.DryRun && !out.Clean {
		req.DryRun, req.Seed = false, out.Request.Seed
		if out, err = c.ask(e, cl, req); err != nil {
			return err
		}
	}
	if !out.Clean {
		return errDrifted
	}
	return nil
}

// ask verifies once and prints what came out.
func (c verifyCmd) ask(e *env, cl *client, req backfill.VerifyRequest) (backfill.VerifyReport, error) {
	var out backfill.VerifyReport
	if err := cl.call(e.ctx, http.MethodPost, "/v1/verify", req, &out); err != nil {
		return out, err
	}
	if !c.JSON {
		e.printVerified(out)
		return out, nil
	}
	return out, e.printJSON(out)
}

// printVerified prints what a verification found and what a repair of it changes.
func (e *env) printVerified(v backfill.VerifyReport) {
	verb := "verified"
	switch {
	case v.Request.DryRun:
		verb = "dry run of a repair (nothing was written)"
	case v.Request.Repair:
		verb = "repaired"
	}
	e.printf("%s: %d of %d users, %d points, %.2f %% of them with a node, in %s\n", verb, v.Users, v.AllUsers, v.Points, 100*v.Coverage, millis(v.TookMS))
	if v.Request.UserID != "" && v.Points+v.Skipped == 0 && v.Drifted == 0 {
		e.printf("  the vector store has no points of this user, and the graph no facts that would need one: is the id spelled as in the points?\n")
	}
	if v.Skipped+v.BadFacts > 0 {
		e.printf("  points that are no facts: %d; that break the rules of events: %d\n", v.Skipped, v.BadFacts)
	}
	if v.Request.Sample > 0 && v.Users < v.AllUsers || v.Partial > 0 {
		e.printf("  drawn by seed %d (--seed draws the same)\n", v.Request.Seed)
	}
	agree := "graph and store agree"
	if v.Partial > 0 {
		e.printf("  looked at in part: %d users; points of theirs that were not looked at: %d\n", v.Partial, v.Unlooked)
		agree += ", in what was looked at"
	}
	if !v.Request.Neighbors {
		agree += "; semantic_neighbor edges were not compared (--neighbors)"
		if n := v.Drift[backfill.DriftMissingNode]; n > 0 && v.Request.Repair {
			e.printf("  without --neighbors the repair gives the %d missing nodes no semantic_neighbor edges\n", n)
		}
	}
	if v.Passed > 0 {
		e.printf("  found once and not again, so on their way: %d\n", v.Passed)
	}
	for _, text := range v.Problems {
		e.printf("  problem: %s\n", text)
	}
	if v.Drifted == 0 {
		e.printf("  %s\n", agree)
		return
	}
	e.printf("  drift of %d users:\n", v.Drifted)
	for _, kind := range backfill.DriftKinds() {
		if n := v.Drift[kind]; n > 0 {
			e.printf("    %s: %d\n", kind, n)
			e.printExamples(v.Examples, kind)
		}
	}
	if !v.Request.Repair {
		return
	}
	how := "repaired"
	if v.Request.DryRun {
		how = "a repair would change"
	}
	e.printf("  %s: written: %s; removed: %s", how, counts64Text(v.Written), counts64Text(v.Removed))
	if !v.Request.DryRun {
		e.printf("; users: %d of %d", v.Repaired, v.Drifted)
	}
	e.printf("\n")
}

func (e *env) printExamples(list []backfill.Drift, kind string) {
	for _, d := range list {
		if d.Kind == kind {
			e.printf("      user %s, %s: %s\n", d.UserID, d.ID, d.What)
		}
	}
}
