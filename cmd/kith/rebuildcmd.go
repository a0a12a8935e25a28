package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kithgraph/kith/internal/server"
)

type rebuildCmd struct {
	FromLog     bool  `help:"From what the event stream retains, alone. Without this and --from-store: from both."`
	FromStore   bool  `help:"From what the vector store has, alone: what only events said goes."`
	User        scope `placeholder:"USER" help:"Only the graph of this user."`
	NoNeighbors bool  `help:"No semantic_neighbor edges of points, and no searches for them."`
	Force       bool  `help:"Also when something would go that is not brought back."`
	JSON        bool  `help:"Print JSON."`
}

// from says from what.
func (c rebuildCmd) from() (string, error) {
	switch {
	case c.FromLog && c.FromStore:
		return "", &usageError{errors.New("rebuild: --from-log and --from-store each leave the other source out: give neither to rebuild from both")}
	case c.FromLog && c.NoNeighbors:
		return "", &usageError{errors.New("rebuild: --no-neighbors is about points, which --from-log does not read")}
	case c.FromLog:
		return server.RebuildFromLog, nil
	case c.FromStore:
		return server.RebuildFromStore, nil
	default:
		return server.RebuildFromBoth, nil
	}
}

// Run makes the graph again, by the running service or on the files.
func (c rebuildCmd) Run(e *env) error {
	out, via, err := c.rebuild(e)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(out); err != nil {
			return fmt.Errorf("print account: %w", err)
		}
	} else {
		e.printf("asked %s\n", via)
		e.printRebuild(out)
	}
	if out.Refused != "" {
		return fmt.Errorf("not rebuilt, the graph is as it was: %s", out.Refused)
	}
	return nil
}

// rebuild has it done and prints how far it is meanwhile.
func (c rebuildCmd) rebuild(e *env) (out server.Rebuild, via string, err error) {
	req := server.RebuildRequest{UserID: string(c.User), Force: c.Force, NoNeighbors: c.NoNeighbors}
	if req.From, err = c.from(); err != nil {
		return out, "", err
	}
	if _, err := rebuildSpace(req); err != nil {
		return out, "", &usageError{fmt.Errorf("rebuild: %w", err)}
	}
	_, running, err := e.running()
	if err != nil {
		return out, "", err
	}
	if !running {
		state := &rebuildState{}
		stop := e.watchRebuild(func(context.Context) (server.RebuildState, error) { return state.get(), nil })
		out, stream, err := e.rebuildFiles(e.ctx, req, state)
		stop()
		if err != nil && e.ctx.Err() != nil {
			err = fmt.Errorf("interrupted: the graph is as it was: %w", err)
		}
		return out, fmt.Sprintf("the files in %s, since no service runs, and %s", e.cfg.DataDir, stream), err
	}
	cl, err := e.newClient()
	if err != nil {
		return out, "", err
	}
	defer func() { err = firstError(err, cl.close()) }()
	stop := e.watchRebuild(cl.rebuildState)
	err = cl.call(e.ctx, http.MethodPost, "/v1/admin/rebuild", req, &out)
	stop()
	if err != nil && e.ctx.Err() != nil {
		err = cl.cancelled(err)
	}
	return out, cl.via, err
}

func (c *client) rebuildState(ctx context.Context) (server.RebuildState, error) {
	var s server.RebuildState
	return s, c.call(ctx, http.MethodGet, "/v1/admin/rebuild", nil, &s)
}

// cancelAnswerTime is how long a service is asked what became of a rebuild that was cancelled.
const cancelAnswerTime = 3 * time.Second

// cancelled says what becomes of a rebuild whose command was interrupted.
func (c *client) cancelled(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), cancelAnswerTime)
	defer cancel()
	switch s, asked := c.rebuildState(ctx); {
	case asked != nil:
		return fmt.Errorf("interrupted, and the service does not say what became of it: %w", err)
	case s.Running && s.Swapping, !s.Running && s.Last != nil && s.Last.Done && s.LastError == "":
		return errors.New("interrupted too late: the service is taking up the new graph")
	default:
		return errors.New("interrupted: the graph is as it was")
	}
}

// When it is said for the first time how far a rebuild is, and how often from then on.
const (
	firstWord = 2 * time.Second
	nextWord  = 5 * time.Second
)

// watchRebuild prints how far a rebuild is, to the standard error output, until it is stopped.
func (e *env) watchRebuild(ask func(context.Context) (server.RebuildState, error)) (stop func()) {
	ctx, cancel := context.WithCancel(e.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(firstWord)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
			if s, err := ask(ctx); err == nil && s.Running {
				fmt.Fprintln(e.stderr, rebuildLine(s))
			}
			timer.Reset(nextWord)
		}
	}()
	return func() { cancel(); <-done }
}

// rebuildLine is one line of progress.
func rebuildLine(s server.RebuildState) string {
	line := fmt.Sprintf("%6s  %s", time.Since(s.Since).Round(time.Second), s.Phase)
	switch {
	case s.ToSeq == 0 && s.OfPoints > 0:
		line += fmt.Sprintf(": point %d of %d", s.Points, s.OfPoints)
	case s.ToSeq > 0:
		line += fmt.Sprintf(": event %d of %d", s.Seq, s.ToSeq)
		if s.Pass > 1 {
			line += fmt.Sprintf(" in pass %d", s.Pass)
		}
		line += fmt.Sprintf(", %d users with %s in memory", s.Users, bytesText(s.Bytes))
	}
	if s.Written > 0 {
		line += fmt.Sprintf(", %d records written", s.Written)
	}
	return line
}
