package projector

import (
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Event is one decoded memory event: a CloudEvents 1.0 envelope and what it says. An Event out of [Decode] or
// [NewEvent] is valid; one put together by hand is checked by [Marshal] and [Projector.Plan].
type Event struct {
	ID     string             // unique over all producers; 1 to graphstore.MaxIDBytes bytes
	Source string             // the producer; may be empty
	Time   graphstore.Instant // when it happened; absent only if everything in Data states its version
	Space  graphstore.Space   // the user, data.user_id on the wire
	Data   Data
}

// Data is what an event says: one of [FactsWritten], [FactSuperseded], [FactShadowed], [FactRestored], [FactDeleted],
// [SourceRetracted], [UserForgotten], [EntityAliased], [EntityMerged], [EntityUnmerged], [EntityRetyped],
// [SchemaUpserted] and [SchemaDeleted].
type Data interface {
	// Type returns the event type.
	Type() Type
	// validate returns the first rule the data breaks, with a path relative to data.
	validate(ev Event) error
	// wire returns what stands under "data" in JSON.
	wire(userID string) any
	// plan adds to the draft what the event means.
	plan(d *draft, ev Event)
}

// NewEvent returns a valid event or says what is wrong with its parts. The time is truncated to the microsecond; the
// zero time means none.
func NewEvent(id, source string, at time.Time, userID string, data Data) (Event, error) {
	space, err := graphstore.NewSpace(userID)
	if err != nil {
		return Event{}, under("data", badField("user_id", "%s", problemOfUser(userID)))
	}
	ev := Event{ID: id, Source: source, Time: graphstore.InstantOf(at), Space: space, Data: data}
	if err := ev.Validate(); err != nil {
		return Event{}, err
	}
	return ev, nil
}

// Type returns the event's type, empty without data.
func (e Event) Type() Type {
	if e.Data == nil {
		return ""
	}
	return e.Data.Type()
}

// Validate returns, as a *[FieldError], the first rule of the wire contract that the event breaks, or nil.
func (e Event) Validate() error {
	if err := e.validateEnvelope(e.Type()); err != nil {
		return err
	}
	if e.Data == nil {
		return badField("data", "is missing: want an object")
	}
	return under("data", e.Data.validate(e))
}

func (e Event) validateEnvelope(typ Type) error {
	if err := graphstore.CheckID(e.ID); err != nil {
		return badField("id", "%s", err)
	}
	if e.Source != "" {
		if err := graphstore.CheckID(e.Source); err != nil {
			return badField("source", "%s", err)
		}
	}
	if err := checkInstant(e.Time); err != nil {
		return under("time", err)
	}
	if typ.needsTime() && !e.Time.Present() {
		return badField("time", "is missing: what is not later than a %s event goes, so want %s", typ, wantTime)
	}
	if e.Space.IsZero() {
		return badField("data.user_id", "%s", problemOfUser(""))
	}
	return nil
}

func problemOfUser(userID string) string {
	if err := graphstore.CheckID(userID); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s is no user id", graphstore.Shorten(userID))
}

// version returns the version of a write: the stated one, else the event's time in microseconds.
func (e Event) version(stated Optional[int64]) int64 {
	if stated.Set {
		return stated.Value
	}
	return e.Time.Micros()
}

// checkVersion returns what is wrong with the version of a write. The path is relative to the holder of the version.
func (e Event) checkVersion(stated Optional[int64]) error {
	switch {
	case stated.Set && stated.Value < 0:
		return badField("version", "%d: want 0 or more", stated.Value)
	case !stated.Set && !e.Time.Present():
		return badField("version", "is missing and so is the event's time: want one of them")
	case !stated.Set && e.Time.Micros() < 0:
		return badField("version", "is missing and the event's time %s is before 1970: want a version", e.Time)
	}
	return nil
}

// checkInstant refuses the years that RFC 3339 cannot write.
func checkInstant(i graphstore.Instant) error {
	if y := i.Time().Year(); y < 0 || y > 9999 {
		return badField("", "%d us: want a year from 0 to 9999", i.Micros())
	}
	return nil
}
