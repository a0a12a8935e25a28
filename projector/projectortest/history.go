package projectortest

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// History is events in the order they came.
type History []projector.Event

// GoString returns the events as they are on the wire, one a line, for reports of failures.
func (h History) GoString() string {
	var b strings.Builder
	for _, ev := range h {
		data, err := projector.Marshal(ev, projector.Limits{})
		if err != nil {
			fmt.Fprintf(&b, "\n%s: %v", ev.ID, err)
			continue
		}
		b.WriteString("\n" + string(data))
	}
	return b.String()
}

// GenOrder draws the events of a history in any order, with some of them repeated.
func GenOrder(h History) *rapid.Generator[History] {
	return rapid.Custom(func(t *rapid.T) History {
		all := slices.Concat(h, rapid.SliceOfN(rapid.SampledFrom(h), 0, 4).Draw(t, "repeats"))
		return rapid.Permutation(all).Draw(t, "order")
	})
}

// GenHistory draws 1 to most valid events of the given users, who share all ids but those of events. There are few ids,
// times and versions, so that equal ones, and ties down to the event's id, are frequent. Ids of events are drawn apart
// from the order in which the events were made.
//
// Users are forgotten only in histories in which, as the contract says, the versions of a record grow with the times
// of its events; in the others versions and times have nothing to do with each other.
func GenHistory(most int, spaces ...graphstore.Space) *rapid.Generator[History] {
	return rapid.Custom(func(t *rapid.T) History {
		return genHistory(newClock(t, 0, most), most, spaces...).Draw(t, "history")
	})
}

// GenHistoryAfter is GenHistory for events that are all later, and of greater versions, than a time, with ids of their own.
func GenHistoryAfter(at graphstore.Instant, most int, spaces ...graphstore.Space) *rapid.Generator[History] {
	return rapid.Custom(func(t *rapid.T) History {
		h := genHistory(newClock(t, at.Micros()+2, most), most, spaces...).Draw(t, "history")
		for i := range h {
			h[i].ID = "after " + h[i].ID
		}
		return h
	})
}

func genHistory(c clock, most int, spaces ...graphstore.Space) *rapid.Generator[History] {
	return rapid.Custom(func(t *rapid.T) History {
		n := rapid.IntRange(1, most).Draw(t, "events")
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprintf("e%02d", i)
		}
		ids = rapid.Permutation(ids).Draw(t, "ids")
		events := make(History, n)
		for i := range events {
			events[i] = genEvent(c, ids[i], spaces).Draw(t, ids[i])
		}
		return events
	})
}

// clock says how times and versions go together in one history.
type clock struct {
	pace pace
	from int64 // the time and version that the history begins at
	span int64 // how many microseconds it lasts, where versions go with times
}

// newClock returns a clock for a history of so many events: few of them happen at one time, some do.
func newClock(t *rapid.T, from int64, events int) clock {
	return clock{genPace.Draw(t, "pace"), from, int64(max(6, events/3))}
}

type pace int

const (
	anyPace     pace = iota // not at all
	timePace                // a version is the time, stated or not
	counterPace             // every version is stated, and a counter that grows with time
)

var genPace = rapid.SampledFrom([]pace{anyPace, timePace, counterPace})

// moment is the time of an event, and what versions it may state.
type moment struct {
	at      graphstore.Instant
	version *rapid.Generator[projector.Optional[int64]]
}

func (c clock) moment(t *rapid.T) moment {
	stated := func(from, to int64) *rapid.Generator[projector.Optional[int64]] {
		return rapid.Map(rapid.Int64Range(from+c.from, to+c.from), projector.Some[int64])
	}
	us := rapid.Int64Range(-1, c.span).Draw(t, "time")
	at := graphstore.InstantOfMicros(us + c.from)
	unknown := at
	if c.from == 0 { // a history that begins later has no time left that is not later
		unknown = 0
	}
	switch {
	case c.pace == anyPace && us < 0: // perhaps too early to be a version
		return moment{at, stated(0, 5)}
	case c.pace == anyPace && rapid.IntRange(0, 9).Draw(t, "no time") == 0:
		return moment{unknown, stated(0, 5)}
	case c.pace == anyPace:
		return moment{at, rapid.OneOf(stated(0, 5), rapid.Just(projector.Optional[int64]{}))}
	case us < 1 && c.from > 0: // no pace is slower
		return moment{at, stated(us, us)}
	case us < 1 && c.pace == timePace:
		return moment{unknown, stated(0, 0)}
	case us < 1:
		return moment{unknown, stated(0, 2)}
	case c.pace == timePace:
		return moment{at, rapid.OneOf(stated(us, us), rapid.Just(projector.Optional[int64]{}))}
	default:
		return moment{at, stated(3*us, 3*us+2)}
	}
}

// genEvent draws a valid event with this id.
func genEvent(c clock, id string, spaces []graphstore.Space) *rapid.Generator[projector.Event] {
	return rapid.Custom(func(t *rapid.T) projector.Event {
		m := c.moment(t)
		data := m.data(t, c)
		return projector.Event{ID: id, Space: rapid.SampledFrom(spaces).Draw(t, "user"), Time: m.at, Data: data}
	}).Filter(func(ev projector.Event) bool { return ev.Validate() == nil })
}

// kinds is what an event may say, as often as it stands there.
var kinds = []string{"write", "write", "write", "write", "write", "write", "supersede", "supersede", "shadow", "restore", "delete", "retract", "retract",
	"forget", "schema", "schema", "schema gone", "alias", "merge", "unmerge", "retype"}

func (m moment) data(t *rapid.T, c clock) projector.Data {
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	if (kind == "retract" || kind == "forget") && !m.at.Present() || kind == "forget" && c.pace == anyPace {
		kind = "write"
	}
	version := m.version.Draw
	switch kind {
	case "write":
		return m.written(t)
	case "supersede":
		return projector.FactSuperseded{FactID: genFact.Draw(t, "fact"), By: genNewer.Draw(t, "by"), Version: version(t, "version")}
	case "shadow":
		return projector.FactShadowed{FactID: genFact.Draw(t, "fact"), Version: version(t, "version")}
	case "restore":
		return projector.FactRestored{FactID: genFact.Draw(t, "fact"), Version: version(t, "version")}
	case "delete":
		return projector.FactDeleted{FactID: genFact.Draw(t, "fact"), Version: version(t, "version")}
	case "retract":
		return projector.SourceRetracted{SourceID: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "source")}
	case "forget":
		return projector.UserForgotten{}
	case "schema":
		return projector.SchemaUpserted{SchemaID: genSchema.Draw(t, "schema"), Level: graphstore.LevelSchema, Title: rapid.SampledFrom([]string{"T", "t"}).Draw(t, "title"),
			Evidence: rapid.SliceOfN(genLinkTo, 0, 3).Draw(t, "evidence"), Version: version(t, "version")}
	case "schema gone":
		return projector.SchemaDeleted{SchemaID: genSchema.Draw(t, "schema"), Version: version(t, "version")}
	default:
		return decide(t, kind, version(t, "version"))
	}
}

func decide(t *rapid.T, kind string, version projector.Optional[int64]) projector.Data {
	evidence := rapid.SampledFrom([]string{"", "she said so"}).Draw(t, "evidence")
	one := genEntityName.Draw(t, "entity")
	switch kind {
	case "alias":
		return projector.EntityAliased{Entity: one, Alias: genName.Draw(t, "alias"), Version: version, Evidence: evidence}
	case "merge":
		return projector.EntityMerged{Kept: one, Merged: genEntityName.Draw(t, "merged"), Version: version, Evidence: evidence}
	case "unmerge":
		return projector.EntityUnmerged{Kept: one, Merged: genEntityName.Draw(t, "merged"), Version: version, Evidence: evidence}
	default:
		return projector.EntityRetyped{Entity: one, To: rapid.SampledFrom([]string{"person", "Organization", "starship"}).Draw(t, "to"), Version: version, Evidence: evidence}
	}
}

func (m moment) written(t *rapid.T) projector.Data {
	w := projector.FactsWritten{BatchID: rapid.SampledFrom([]string{"", "", "b1", "b2"}).Draw(t, "batch")}
	canonical := func(id string) string { return factID(id) }
	for _, id := range rapid.SliceOfNDistinct(genFact, 1, 4, canonical).Draw(t, "facts") {
		w.Facts = append(w.Facts, m.fact(t, id))
	}
	return w
}

func (m moment) fact(t *rapid.T, id string) projector.FactWrite {
	w := projector.FactWrite{ID: id, Op: rapid.SampledFrom([]projector.Op{projector.OpAdd, projector.OpUpdate}).Draw(t, "op"), Version: m.version.Draw(t, "version")}
	if rapid.IntRange(0, 7).Draw(t, "bare") == 0 {
		return w
	}
	w.AgentID, w.SourceID, w.EpisodeID = genID.Draw(t, "agent"), genID.Draw(t, "source"), genID.Draw(t, "episode")
	w.MemoryAt, w.RecordedAt = genOptional(genMemoryAt).Draw(t, "memory_at"), genOptional(genInstant).Draw(t, "recorded_at")
	w.ValidFrom, w.ValidTo = genOptional(genInstant).Draw(t, "valid_from"), genOptional(genInstant).Draw(t, "valid_to")
	w.Tags = genList(rapid.SampledFrom(spellings(tagTable)), 2).Draw(t, "tags")
	w.Entities = genList(genEntity, 2).Draw(t, "entities")
	w.Relations = genList(genRelation, 2).Draw(t, "relations")
	w.Neighbors = genList(genNeighbor, 3).Draw(t, "neighbors")
	w.Triples = genList(genTriple, 1).Draw(t, "triples")
	return w
}
