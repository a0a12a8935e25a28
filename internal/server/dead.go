package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Errors of the dead letters.
var (
	// ErrNoDeadLetter reports that there is no dead letter of the number.
	ErrNoDeadLetter = errors.New("no such dead letter")
	// ErrNoDeadLetters reports that the dead letters cannot be reached, or that there is no stream of them.
	ErrNoDeadLetters = errors.New("dead letters cannot be reached")
)

// DeadLetters is what the endpoints under /v1/dead ask. Errors: ErrNoDeadLetter, ErrNoDeadLetters, ErrBadRequest, or what
// went wrong; none comes as an empty answer.
type DeadLetters interface {
	// ListDead returns one page.
	ListDead(ctx context.Context, q DeadQuery) (DeadPage, error)
	// ShowDead returns one dead letter with its payload.
	ShowDead(ctx context.Context, number uint64) (DeadLetter, error)
	// ReplayDead publishes what dead letters are about again and drops them. With an error the report says how far it was.
	ReplayDead(ctx context.Context, work DeadWork) (DeadReport, error)
	// DropDead drops dead letters. With an error the report says how far it was.
	DropDead(ctx context.Context, work DeadWork) (DeadReport, error)
}

// DeadFilter says which dead letters are meant; an absent field means any.
type DeadFilter struct {
	UserID string `json:"user_id,omitempty" query:"user_id" minLength:"1" maxLength:"512" doc:"Whose they are."`
	Reason string `json:"reason,omitempty" query:"reason" minLength:"1" doc:"bad_event, bad_fact, plan, commit, poison, exhausted, terminated or lost; foreign: what is no dead letter of kith's."`
	Type   string `json:"type,omitempty" query:"type" minLength:"1" maxLength:"512" doc:"Event type with its major version; unknown: it could not be read."`
	From   string `json:"from,omitempty" query:"from" doc:"Stored at this time (RFC 3339 with a zone) or later."`
	To     string `json:"to,omitempty" query:"to" doc:"Stored before this time."`
}

// DeadQuery asks for a page of dead letters.
type DeadQuery struct {
	DeadFilter
	Order string `query:"order" enum:"newest,oldest" default:"newest"`
	After uint64 `query:"after" doc:"Only what comes after this number in the order: next of the page before."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

// DeadPage is a part of a listing.
type DeadPage struct {
	Letters []DeadLetter `json:"letters"`        // without headers and payloads
	Next    uint64       `json:"next,omitempty"` // what after must be for the part that follows; absent at the end
	Stored  uint64       `json:"stored"`         // how many there are in all
}

// DeadLetter is a message that could not be projected.
type DeadLetter struct {
	Number  uint64    `json:"number"` // by which it is named
	Stored  time.Time `json:"stored"`
	UserID  string    `json:"user_id,omitempty"` // absent if nobody could read it
	Type    string    `json:"type,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Foreign string    `json:"foreign,omitempty"` // why it is no dead letter of kith's

	EventID   string `json:"event_id,omitempty"`
	FactIndex *int   `json:"fact_index,omitempty"` // place of a bad fact in its event, which was applied otherwise
	FactID    string `json:"fact_id,omitempty"`

	Deliveries   int       `json:"deliveries"`
	FirstError   string    `json:"first_error,omitempty"`
	FirstErrorAt time.Time `json:"first_error_at,omitzero"`
	LastError    string    `json:"last_error,omitempty"`
	LastErrorAt  time.Time `json:"last_error_at,omitzero"`

	Stream   string    `json:"stream,omitempty"` // where the original was,
	Sequence uint64    `json:"sequence,omitempty"`
	Subject  string    `json:"subject,omitempty"`
	Received time.Time `json:"received,omitzero"` // and when the server received it

	Size    int                 `json:"size"`              // bytes of the payload
	Omitted int                 `json:"omitted,omitempty"` // bytes of a payload that was too large to be kept and is nowhere any more
	Headers map[string][]string `json:"headers,omitempty"` // the producer's own
	Payload *string             `json:"payload,omitempty"` // as it came
	Base64  bool                `json:"base64,omitempty"`  // the payload is no text and stands in base64
}

// DeadWork says which dead letters are to be replayed or dropped: those with the numbers, or all that the filter means.
type DeadWork struct {
	Numbers []uint64        `json:"numbers,omitempty" maxItems:"1000"`
	All     bool            `json:"all,omitempty" doc:"All that the filter means, which must name something."`
	Filter  DeadFilter      `json:"filter,omitzero"`
	DryRun  bool            `json:"dry_run,omitempty" doc:"Count them and do nothing."`
	Event   json.RawMessage `json:"event,omitempty" doc:"Replay of one number: the corrected event, published in the place of its payload."`
}

// DeadReport is the account of work on dead letters.
type DeadReport struct {
	DryRun   bool         `json:"dry_run"`
	Matched  int          `json:"matched"`
	Done     int          `json:"done"`
	Refused  int          `json:"refused"` // those that cannot be replayed, and numbers that there are none of
	Errors   []DeadError  `json:"errors"`  // the first of the refusals
	Replayed []DeadReplay `json:"replayed,omitempty"`
	Last     uint64       `json:"last,omitempty"` // the last event published again, as its sequence in the event stream
}

// DeadError is a dead letter that was left as it is.
type DeadError struct {
	Number uint64 `json:"number"`
	Error  string `json:"error"`
}

// DeadReplay is an event that was published again.
type DeadReplay struct {
	Number    uint64 `json:"number"`
	Sequence  uint64 `json:"sequence"` // in the event stream
	Subject   string `json:"subject"`
	Duplicate bool   `json:"duplicate,omitempty"` // an earlier replay had published it
	Alone     bool   `json:"alone,omitempty"`     // a bad fact whose event the stream does not have any more: published without the others
}

// check returns what is wrong with the choice.
func (w DeadWork) check(replay bool) error {
	switch filtered := w.Filter != (DeadFilter{}); {
	case w.All && len(w.Numbers) > 0:
		return fmt.Errorf("numbers, all: want one of both")
	case w.All && !filtered:
		return fmt.Errorf("filter: empty: want at least one of user_id, reason, type, from and to with all")
	case !w.All && filtered:
		return fmt.Errorf("filter: want all: true with it")
	case !w.All && len(w.Numbers) == 0:
		return fmt.Errorf("numbers: missing: want the numbers of dead letters, or all with a filter")
	case len(w.Event) > 0 && !replay:
		return fmt.Errorf("event: nothing is published when dead letters are dropped")
	case len(w.Event) > 0 && len(w.Numbers) != 1:
		return fmt.Errorf("event: want the one number that it is the correction of")
	default:
		return nil
	}
}
