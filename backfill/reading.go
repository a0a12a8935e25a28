package backfill

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// reading reads what a payload says of one fact. Values that are not what their field wants count as absent; the account counts and
// names them.
type reading struct {
	account *Account
	id      string // of the point
}

// Rules that values break.
var (
	errNoState     = errors.New("want active, superseded, shadowed, deleted or unseen; it counts as active")
	errNoVersion   = errors.New("want 0 or more")
	errNoPlace     = fmt.Errorf("want an integer from 0 to %d", math.MaxInt32)
	errNoText      = errors.New("want a text")
	errNoID        = errors.New("want a text or an integer")
	errNeverValid  = errors.New("is before valid_from: it is kept, and the fact is valid at no time")
	errNoNumber    = errors.New("want a number")
	errNoTexts     = errors.New("want a list of texts")
	errNoIDs       = errors.New("want an object of texts or integers")
	errNoName      = errors.New("no name: want a text that is not empty")
	errNoEntity    = errors.New("want a name or an object with one")
	errNoRelation  = errors.New("want an object with to, and maybe type and weight")
	errNoRelatedTo = errors.New("to: want an id, a text or an integer")
)

// bad counts and names a value that counts as absent.
func (in reading) bad(field string, v any, rule error) {
	in.account.BadValues++
	in.say(in.account.BadValues, "%s: %s: %v", field, exampleText(v), rule)
}

// say names what is wrong, the nth of its kind.
func (in reading) say(nth int64, format string, args ...any) {
	in.account.problem(nth, fmt.Sprintf("point %s: %s", graphstore.Shorten(in.id), fmt.Sprintf(format, args...)))
}

// time reads a time that vdb has no name for.
func (in reading) time(pay *vdb.Payload, field string) graphstore.Instant {
	at, err := extraTime(pay, field)
	if err != nil {
		in.bad(field, pay.Extra[field], err)
	}
	return at
}

func extraTime(pay *vdb.Payload, field string) (graphstore.Instant, error) {
	at, err := vdb.ParseTime(pay.Extra[field], vdb.TimeAuto)
	return graphstore.InstantOf(at), err
}

// version returns the version of a fact: the payload's, else the time of its last change.
func (in reading) version(stated int64, updated graphstore.Instant) int64 {
	if stated < 0 {
		in.bad(vdb.FieldVersion, stated, errNoVersion)
		stated = 0
	}
	if stated == 0 && updated.Present() {
		return max(updated.Micros(), 0)
	}
	return stated
}

// state reads the state, and the fact that retired this one. A state that is unknown counts as active, as in every search.
func (in reading) state(pay *vdb.Payload) (state graphstore.State, by string) {
	by, ok := idText(pay.Extra[FieldSupersededBy])
	if !ok {
		in.bad(FieldSupersededBy, pay.Extra[FieldSupersededBy], errNoID)
	}
	if pay.State == "" {
		return graphstore.StateActive, ""
	}
	state, err := graphstore.ParseState(pay.State)
	if err != nil {
		in.bad(vdb.FieldState, pay.State, errNoState)
		return graphstore.StateActive, ""
	}
	if state != graphstore.StateSuperseded {
		return state, ""
	}
	return state, by
}

// batchSeq reads a place in a batch, if there is one.
func (in reading) batchSeq(v any) projector.Optional[int32] {
	n, ok := number(v)
	switch {
	case v == nil:
		return projector.Optional[int32]{}
	case !ok || n != math.Trunc(n) || n < 0 || n > math.MaxInt32:
		in.bad(FieldBatchSeq, v, errNoPlace)
		return projector.Optional[int32]{}
	default:
		return projector.Some(int32(n))
	}
}

// validity names a fact that ends before it begins. Events may say that too.
func (in reading) validity(s *projector.StoredFact) {
	if from, to := s.ValidFrom.Value, s.ValidTo.Value; from.Present() && to.Present() && to < from {
		in.bad(vdb.FieldValidTo, to.Time(), errNeverValid)
	}
}

// number reads a number, also one that is a text.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return float64(n), err == nil
	default:
		return 0, false
	}
}

// idText reads an id, a text or an integer; nothing is none.
func idText(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10), true
		}
	}
	return "", false
}
