package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// deadLetters answers the endpoints under /v1/dead.
type deadLetters struct {
	js func() jetstream.JetStream // nil before the service has started
}

var _ server.DeadLetters = (*deadLetters)(nil)

// ListDead implements [server.DeadLetters].
func (d *deadLetters) ListDead(ctx context.Context, q server.DeadQuery) (server.DeadPage, error) {
	feedDead, filter, err := d.ask(q.DeadFilter)
	if err != nil {
		return server.DeadPage{}, err
	}
	page, err := feedDead.List(ctx, feed.DeadQuery{Filter: filter, Oldest: q.Order == "oldest", After: q.After, Limit: q.Limit})
	if err != nil {
		return server.DeadPage{}, deadError(err)
	}
	out := server.DeadPage{Letters: make([]server.DeadLetter, len(page.Letters)), Next: page.Next, Stored: page.Stored}
	for i, l := range page.Letters {
		out.Letters[i] = letterJSON(l)
	}
	return out, nil
}

// ShowDead implements [server.DeadLetters].
func (d *deadLetters) ShowDead(ctx context.Context, number uint64) (server.DeadLetter, error) {
	feedDead, _, err := d.ask(server.DeadFilter{})
	if err != nil {
		return server.DeadLetter{}, err
	}
	l, err := feedDead.Get(ctx, number)
	if err != nil {
		return server.DeadLetter{}, deadError(err)
	}
	out := letterJSON(l)
	out.Headers, out.Size = l.Header, len(l.Payload)
	payload := string(l.Payload)
	if out.Base64 = !utf8.Valid(l.Payload); out.Base64 {
		payload = base64.StdEncoding.EncodeToString(l.Payload)
	}
	if l.Omitted == 0 && l.Reason != feed.ReasonLost {
		out.Payload = &payload
	}
	return out, nil
}

// ReplayDead implements [server.DeadLetters].
func (d *deadLetters) ReplayDead(ctx context.Context, w server.DeadWork) (server.DeadReport, error) {
	feedDead, filter, err := d.ask(w.Filter)
	if err != nil {
		return server.DeadReport{}, err
	}
	if w.All {
		r, err := feedDead.ReplayMatching(ctx, filter, w.DryRun)
		return finished(reportJSON(r, w.DryRun), err)
	}
	return each(w, func(r *server.DeadReport, number uint64) error {
		if w.DryRun {
			return feedDead.CheckReplay(ctx, number, w.Event)
		}
		x, err := feedDead.Replay(ctx, number, w.Event)
		if err == nil {
			r.Replayed, r.Last = append(r.Replayed, replayJSON(x)), max(r.Last, x.Sequence)
		}
		return err
	})
}

// DropDead implements [server.DeadLetters].
func (d *deadLetters) DropDead(ctx context.Context, w server.DeadWork) (server.DeadReport, error) {
	feedDead, filter, err := d.ask(w.Filter)
	if err != nil {
		return server.DeadReport{}, err
	}
	if w.All {
		r, err := feedDead.DropMatching(ctx, filter, w.DryRun)
		return finished(reportJSON(r, w.DryRun), err)
	}
	return each(w, func(_ *server.DeadReport, number uint64) error {
		if w.DryRun {
			_, err := feedDead.Get(ctx, number)
			return err
		}
		return feedDead.Drop(ctx, number)
	})
}

// each does the work on numbers one by one. A single one that is refused is an error, one of many stands in the account.
func each(w server.DeadWork, do func(r *server.DeadReport, number uint64) error) (server.DeadReport, error) {
	r := server.DeadReport{DryRun: w.DryRun}
	for _, number := range w.Numbers {
		r.Matched++
		err := do(&r, number)
		switch refused := errors.Is(err, feed.ErrNoDeadLetter) || errors.Is(err, feed.ErrNotReplayable); {
		case err == nil && !w.DryRun:
			r.Done++
		case refused && len(w.Numbers) > 1:
			r.Refused++
			r.Errors = append(r.Errors, server.DeadError{Number: number, Error: err.Error()})
		case err != nil:
			return finished(r, err)
		}
	}
	return r, nil
}

// finished adds to an error how far the work was.
func finished(r server.DeadReport, err error) (server.DeadReport, error) {
	if err != nil && r.Done > 0 {
		err = fmt.Errorf("%w (after %d were done)", err, r.Done)
	}
	return r, deadError(err)
}

// ask translates a filter.
func (d *deadLetters) ask(f server.DeadFilter) (*feed.DeadLetters, feed.DeadFilter, error) {
	out := feed.DeadFilter{UserID: f.UserID, Reason: feed.Reason(f.Reason), Type: f.Type}
	for _, t := range []struct {
		name, text string
		into       *time.Time
	}{{"from", f.From, &out.From}, {"to", f.To, &out.To}} {
		if t.text == "" {
			continue
		}
		var at graphstore.Instant
		if err := at.UnmarshalText([]byte(t.text)); err != nil {
			return nil, out, fmt.Errorf("%w: %s: %w", server.ErrBadRequest, t.name, err)
		}
		*t.into = at.Time()
	}
	js := d.js()
	if js == nil {
		return nil, out, fmt.Errorf("%w: there is no connection to NATS", server.ErrNoDeadLetters)
	}
	letters, err := feed.NewDeadLetters(js, feed.DeadLettersConfig{})
	return letters, out, err
}

// deadError gives an error of the feed's the mark by which the API chooses its status.
func deadError(err error) error {
	mark := func(as error) error { return markedError{err, as} }
	switch {
	case err == nil:
		return nil
	case errors.Is(err, feed.ErrNoDeadLetter):
		return mark(server.ErrNoDeadLetter)
	case errors.Is(err, feed.ErrBadFilter), errors.Is(err, feed.ErrNotReplayable):
		return mark(server.ErrBadRequest)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		err = fmt.Errorf("%w: the NATS server has no stream of dead letters yet, or is the wrong one", err)
		return mark(server.ErrNoDeadLetters)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrNoResponders), errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrTimeout):
		err = fmt.Errorf("NATS does not answer: %w", err)
		return mark(server.ErrNoDeadLetters)
	default:
		return err
	}
}

// markedError is an error that is one of the API's too; its text stays.
type markedError struct{ err, as error }

func (e markedError) Error() string   { return e.err.Error() }
func (e markedError) Unwrap() []error { return []error{e.err, e.as} }

func letterJSON(l feed.Letter) server.DeadLetter {
	out := server.DeadLetter{
		Number: l.Number, Stored: l.Stored, UserID: l.UserID, Type: l.Type, Reason: string(l.Reason),
		EventID: l.EventID, FactID: l.FactID, Deliveries: l.Deliveries,
		FirstError: l.FirstError, FirstErrorAt: l.FirstTime, LastError: l.LastError, LastErrorAt: l.LastTime,
		Stream: l.Stream, Sequence: l.Sequence, Subject: l.Subject, Received: l.Received, Size: l.Size, Omitted: l.Omitted,
	}
	if l.FactIndex >= 0 {
		out.FactIndex = &l.FactIndex
	}
	if l.Foreign != nil {
		out.Foreign, out.Reason = l.Foreign.Error(), string(feed.ReasonForeign)
	}
	return out
}

func reportJSON(r feed.DeadReport, dryRun bool) server.DeadReport {
	out := server.DeadReport{DryRun: dryRun, Matched: r.Matched, Done: r.Done, Refused: r.Refused, Last: r.Last}
	for _, x := range r.Errors {
		out.Errors = append(out.Errors, server.DeadError{Number: x.Number, Error: x.Err.Error()})
	}
	for _, x := range r.Replayed {
		out.Replayed = append(out.Replayed, replayJSON(x))
	}
	return out
}

func replayJSON(x feed.DeadReplay) server.DeadReplay {
	return server.DeadReplay{Number: x.Number, Sequence: x.Sequence, Subject: x.Subject, Duplicate: x.Duplicate, Alone: x.Alone}
}
