package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
)

type deadCmd struct {
	List   deadListCmd   `cmd:"" help:"List dead letters: events and facts that could not be projected."`
	Show   deadShowCmd   `cmd:"" help:"Show a dead letter: why, since when, and the payload as it came."`
	Replay deadReplayCmd `cmd:"" help:"Publish what dead letters are about again, as it was or corrected, and drop them."`
	Drop   deadDropCmd   `cmd:"" help:"Erase dead letters. What the event stream has of them stays there."`
}

// deadFilter says which dead letters are meant.
type deadFilter struct {
	User   scope  `help:"Only of this user."`
	Reason scope  `help:"Only with this reason: bad_event, bad_fact, plan, commit, poison, exhausted, terminated, lost; or foreign: what is no dead letter of kith's."`
	Type   scope  `help:"Only of this event type; unknown: it could not be read."`
	Since  string `placeholder:"TIME" help:"Only what was stored then (RFC 3339) or later, or at most this long ago (like 2h)."`
	Until  string `placeholder:"TIME" help:"Only what was stored before then, or longer ago."`
}

// ask returns the filter as the API takes it.
func (f deadFilter) ask(now time.Time) (server.DeadFilter, error) {
	out := server.DeadFilter{UserID: string(f.User), Reason: string(f.Reason), Type: string(f.Type)}
	var err error
	if out.From, err = timeOrAgo("--since", f.Since, now); err != nil {
		return out, err
	}
	out.To, err = timeOrAgo("--until", f.Until, now)
	return out, err
}

// timeOrAgo reads a time, or how long ago it was.
func timeOrAgo(flag, text string, now time.Time) (string, error) {
	if text == "" {
		return "", nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago).UTC().Format(time.RFC3339Nano), nil
	}
	var at graphstore.Instant
	if err := at.UnmarshalText([]byte(text)); err != nil {
		return "", &usageError{fmt.Errorf("%s %s: want a time like 2026-11-30T12:00:00Z, or how long ago like 2h", flag, graphstore.Shorten(text))}
	}
	return text, nil
}

// newDeadClient asks the running service, or, when none runs, the NATS server alone: no graph is opened for dead letters.
func (e *env) newDeadClient() (*client, error) {
	if _, ok, err := e.running(); err != nil || ok {
		if err != nil {
			return nil, err
		}
		return e.newClient()
	}
	via := "NATS at " + config.MaskURLs(e.cfg.NATS.URL) + ", since no service runs"
	if e.cfg.NATS.URL == "" {
		if _, err := os.Stat(natsDir(e.cfg)); err != nil {
			return nil, &usageError{fmt.Errorf("no service runs on the data directory %s, NATS_URL is not set, and there is no stream in %s", e.cfg.DataDir, natsDir(e.cfg))}
		}
		via = "the stream in " + natsDir(e.cfg) + ", since no service runs"
	}
	js, _, done, err := e.openStream()
	if err != nil {
		return nil, err
	}
	api := server.New(nil, nil, server.Config{Version: buildVersion(), Dead: &deadLetters{func() jetstream.JetStream { return js }}, Logger: e.log})
	return &client{base: "http://localhost", http: &http.Client{Transport: handlerTransport{api.Handler()}}, via: via, close: done}, nil
}

type deadListCmd struct {
	deadFilter
	Oldest bool   `help:"The oldest first."`
	Limit  int    `default:"50" help:"Most dead letters; 0: all."`
	After  uint64 `placeholder:"NUMBER" help:"Only what comes after this one in the order."`
	JSON   bool   `help:"Print JSON."`
}

// Run prints the newest dead letters.
func (c deadListCmd) Run(e *env) (err error) {
	if c.Limit < 0 {
		return &usageError{fmt.Errorf("--limit %d: want 0 or more", c.Limit)}
	}
	filter, err := c.ask(time.Now())
	if err != nil {
		return err
	}
	cl, err := e.newDeadClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	page, err := c.pages(e, cl, filter)
	if err != nil {
		return err
	}
	if c.JSON {
		return e.printJSON(page)
	}
	e.printf("asked %s\n", cl.via)
	return e.printDead(page)
}

// maxDeadPage is the most the API gives at once.
const maxDeadPage = 1000

// pages asks for as many pages as it takes.
func (c deadListCmd) pages(e *env, cl *client, filter server.DeadFilter) (server.DeadPage, error) {
	all := server.DeadPage{Letters: []server.DeadLetter{}, Next: c.After}
	for {
		limit := maxDeadPage
		if c.Limit > 0 {
			limit = min(limit, c.Limit-len(all.Letters))
		}
		var page server.DeadPage
		if err := cl.call(e.ctx, http.MethodGet, "/v1/dead?"+deadQuery(filter, c.Oldest, all.Next, limit), nil, &page); err != nil {
			return all, err
		}
		all.Letters, all.Next, all.Stored = append(all.Letters, page.Letters...), page.Next, page.Stored
		if page.Next == 0 || len(all.Letters) == c.Limit {
			return all, nil
		}
	}
}

func deadQuery(f server.DeadFilter, oldest bool, after uint64, limit int) string {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, value := range map[string]string{"user_id": f.UserID, "reason": f.Reason, "type": f.Type, "from": f.From, "to": f.To} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if oldest {
		q.Set("order", "oldest")
	}
	if after > 0 {
		q.Set("after", strconv.FormatUint(after, 10))
	}
	return q.Encode()
}

type deadShowCmd struct {
	Number  uint64 `arg:"" help:"Number of the dead letter, as listed."`
	Payload bool   `help:"Print the payload alone, byte for byte: to be corrected and given to replay --file."`
	JSON    bool   `help:"Print JSON."`
}

// Run prints one dead letter.
func (c deadShowCmd) Run(e *env) (err error) {
	if c.Payload && c.JSON {
		return &usageError{errors.New("want either --payload or --json")}
	}
	cl, err := e.newDeadClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	var l server.DeadLetter
	if err := cl.call(e.ctx, http.MethodGet, fmt.Sprintf("/v1/dead/%d", c.Number), nil, &l); err != nil {
		return err
	}
	switch {
	case c.JSON:
		return e.printJSON(l)
	case c.Payload:
		return e.writePayload(l)
	default:
		e.printf("asked %s\n", cl.via)
		return e.printLetter(l)
	}
}
