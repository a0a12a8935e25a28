package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// checkCorrected returns the event that a corrected payload is, or why it cannot stand in a letter's place: it would fail
// again, or it says something of somebody else.
func (d *DeadLetters) checkCorrected(l Letter, corrected []byte) (projector.Event, error) {
	ev, rejected, err := projector.Decode(corrected, d.cfg.Limits)
	if err != nil {
		return ev, fmt.Errorf("%w: corrected payload: %w", ErrNotReplayable, err)
	}
	if len(rejected) > 0 {
		errs := make([]error, len(rejected))
		for i, r := range rejected {
			errs[i] = r.Err
		}
		return ev, fmt.Errorf("%w: corrected payload: %w", ErrNotReplayable, errors.Join(errs...))
	}
	if l.UserID != "" && ev.Space.UserID() != l.UserID {
		return ev, fmt.Errorf("%w: corrected payload: data.user_id %s, the dead letter is of %s: want the same; publish what is another user's as an event of its own",
			ErrNotReplayable, graphstore.Shorten(ev.Space.UserID()), graphstore.Shorten(l.UserID))
	}
	if l.FactIndex < 0 {
		return ev, nil
	}
	return ev, checkOneFact(l.Payload, corrected)
}

// checkOneFact returns how the event of one corrected fact differs from that of the bad one in anything but the fact.
func checkOneFact(bad, corrected []byte) error {
	was, is := readLoosely(bad), readLoosely(corrected)
	if facts, err := is.facts(); err != nil || len(facts) != 1 {
		return fmt.Errorf("%w: corrected payload: data.facts: want the one fact that the dead letter is of", ErrNotReplayable)
	}
	for _, f := range []struct {
		name    string
		was, is json.RawMessage
	}{
		{"id", was.attributes["id"], is.attributes["id"]},
		{"type", was.attributes["type"], is.attributes["type"]},
		{"time", was.attributes["time"], is.attributes["time"]},
		{"data.batch_id", was.data["batch_id"], is.data["batch_id"]},
	} {
		if !sameJSON(f.was, f.is) {
			return fmt.Errorf("%w: corrected payload: %s %s, it was %s: want no other change than in the fact", ErrNotReplayable, f.name,
				graphstore.Shorten(string(f.is)), graphstore.Shorten(string(f.was)))
		}
	}
	return nil
}

func sameJSON(a, b json.RawMessage) bool {
	var left, right bytes.Buffer
	_, _ = json.Compact(&left, a), json.Compact(&right, b) // what is missing is empty; what is there has been decoded
	return bytes.Equal(left.Bytes(), right.Bytes())
}

// putFact returns the whole event that a bad fact came in, with the fact of the corrected event in its place.
func (d *DeadLetters) putFact(whole []byte, l Letter, corrected []byte) ([]byte, error) {
	one, err := readLoosely(corrected).facts()
	if err != nil {
		return nil, fmt.Errorf("%w: corrected payload: %w", ErrNotReplayable, err)
	}
	event := readLoosely(whole)
	facts, err := event.facts()
	if err != nil || l.FactIndex >= len(facts) {
		return nil, fmt.Errorf("%w: event %d of the stream has no fact %d", ErrNotReplayable, l.Sequence, l.FactIndex)
	}
	facts[l.FactIndex] = one[0]
	payload, err := event.withFacts(facts)
	if err != nil {
		return nil, err
	}
	_, rejected, err := projector.Decode(payload, d.cfg.Limits)
	for _, r := range rejected {
		if r.Index == l.FactIndex {
			err = errors.Join(err, r.Err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: with the corrected fact: %w", ErrNotReplayable, err)
	}
	return payload, nil
}
