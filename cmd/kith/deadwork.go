package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/kithgraph/kith/internal/server"
)

// deadChoice says which dead letters a command works on.
type deadChoice struct {
	Numbers []uint64 `arg:"" optional:"" name:"number" help:"Numbers of dead letters, as listed."`
	All     bool     `help:"All that the other flags mean; at least one of them must be given. Try it with --dry-run first."`
	deadFilter
	DryRun bool `help:"Count them, and do nothing."`
	JSON   bool `help:"Print JSON."`
}

// work returns what the API is asked for.
func (c deadChoice) work() (server.DeadWork, error) {
	filter, err := c.ask(time.Now())
	if err != nil {
		return server.DeadWork{}, err
	}
	switch filtered := filter != (server.DeadFilter{}); {
	case len(c.Numbers) == 0 && !c.All:
		return server.DeadWork{}, &usageError{errors.New("want numbers of dead letters, or --all and at least one of --user, --reason, --type, --since, --until")}
	case len(c.Numbers) > 0 && (c.All || filtered):
		return server.DeadWork{}, &usageError{errors.New("want either numbers of dead letters or --all with a filter")}
	case c.All && !filtered:
		return server.DeadWork{}, &usageError{errors.New("--all: want at least one of --user, --reason, --type, --since, --until with it")}
	}
	return server.DeadWork{Numbers: c.Numbers, All: c.All, Filter: filter, DryRun: c.DryRun}, nil
}

type deadReplayCmd struct {
	deadChoice
	File string `placeholder:"FILE" help:"Publish this corrected event in the place of the one dead letter's payload; - reads standard input."`
}

// Run replays dead letters.
func (c deadReplayCmd) Run(e *env) error {
	work, err := c.work()
	if err != nil {
		return err
	}
	if c.File != "" {
		if len(c.Numbers) != 1 {
			return &usageError{fmt.Errorf("--file %s: want the number of the one dead letter that it corrects", c.File)}
		}
		if work.Event, err = readEvent(c.File); err != nil {
			return err
		}
	}
	return c.do(e, "/v1/dead/replay", "replay", work)
}

type deadDropCmd struct{ deadChoice }

// Run drops dead letters.
func (c deadDropCmd) Run(e *env) error {
	work, err := c.work()
	if err != nil {
		return err
	}
	return c.do(e, "/v1/dead/drop", "drop", work)
}

// readEvent reads a corrected event.
func readEvent(path string) (json.RawMessage, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(os.Stdin)
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, &usageError{fmt.Errorf("read corrected event: %w", err)}
	}
	data = bytes.TrimSpace(data)
	var syntax error
	if !json.Valid(data) {
		syntax = json.Unmarshal(data, &struct{}{})
		return nil, &usageError{fmt.Errorf("corrected event %s: no JSON: %w", path, syntax)}
	}
	return data, nil
}

// do asks for the work and prints the account, also of work that ended early. What was refused makes the command fail.
func (c deadChoice) do(e *env, path, verb string, work server.DeadWork) (err error) {
	cl, err := e.newDeadClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	var r server.DeadReport
	err = cl.call(e.ctx, http.MethodPost, path, work, &r)
	switch {
	case err != nil && r.Matched == 0:
		return err
	case c.JSON:
		err = firstError(err, e.printJSON(r))
	default:
		e.printf("asked %s\n", cl.via)
		e.printReport(verb, r)
	}
	if r.Refused > 0 {
		err = firstError(err, fmt.Errorf("%d of %d dead letters were left as they are", r.Refused, r.Matched))
	}
	return err
}
