package eventcheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// seenEvent is an event that was there before.
type seenEvent struct {
	at   Place
	text [sha256.Size]byte
}

// repeated compares the event with one of the same id: streams drop the second one, whatever it says.
func (e *checking) repeated() {
	id := e.id()
	if id == "" {
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, e.data); err != nil {
		return
	}
	now := seenEvent{e.at, sha256.Sum256(compact.Bytes())}
	had, seen := e.events[id]
	switch {
	case !seen:
		e.events[id] = now
	case had.text == now.text:
		e.say(Warning, "id", fmt.Sprintf("is there already in %s: the same event again changes nothing", had.at), "")
	default:
		e.say(Error, "id", fmt.Sprintf("is the id of another event in %s: want an id for each event", had.at),
			"the stream drops the later one of the two; a UUID for each event never comes twice")
	}
}

// String returns the place as file:line.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// versioned is a thing whose events are put in order by versions.
type versioned struct {
	space graphstore.Space
	kind  string // fact or schema
	id    string
}

type seenVersion struct {
	at     Place
	stated bool
	warned bool
}

// mixedVersions warns of things of which some events state a version and others leave it to the time, which is a number
// far above any counter.
func (e *checking) mixedVersions(ev projector.Event) {
	inData := func() string { return "data" }
	fact := func(id string, version projector.Optional[int64]) {
		e.version(inData, versioned{ev.Space, "fact", graphstore.CanonicalFactID(id)}, version)
	}
	schema := func(id string, version projector.Optional[int64]) {
		e.version(inData, versioned{ev.Space, "schema", id}, version)
	}
	switch data := ev.Data.(type) {
	case projector.FactsWritten:
		for _, w := range data.Facts {
			e.version(func() string { return e.factPath(w.ID) }, versioned{ev.Space, "fact", graphstore.CanonicalFactID(w.ID)}, w.Version)
		}
	case projector.FactSuperseded:
		fact(data.FactID, data.Version)
	case projector.FactShadowed:
		fact(data.FactID, data.Version)
	case projector.FactRestored:
		fact(data.FactID, data.Version)
	case projector.FactDeleted:
		fact(data.FactID, data.Version)
	case projector.SchemaUpserted:
		schema(data.SchemaID, data.Version)
	case projector.SchemaDeleted:
		schema(data.SchemaID, data.Version)
	}
}

// factPath returns the path of the fact with this id: bad facts before it are not among those of the event.
func (e *checking) factPath(id string) string {
	data, _ := e.doc["data"].(map[string]any)
	facts, _ := data["facts"].([]any)
	for i, f := range facts {
		fact, _ := f.(map[string]any)
		if text := fmt.Sprint(fact["id"]); text == id {
			return fmt.Sprintf("data.facts[%d]", i)
		}
	}
	return "data.facts"
}

func (e *checking) version(path func() string, of versioned, version projector.Optional[int64]) {
	had, seen := e.versions[of]
	switch {
	case !seen:
		e.versions[of] = seenVersion{at: e.at, stated: version.Set}
	case had.stated != version.Set && !had.warned:
		had.warned = true
		e.versions[of] = had
		rule, there := "is not stated", "is stated"
		if version.Set {
			rule, there = there, "is not"
		}
		e.say(Warning, path()+".version", fmt.Sprintf("%s, and %s for the same %s in %s: the two scales mix", rule, there, of.kind, had.at),
			"without a version the event's time in microseconds counts: state it in all events of a "+of.kind+" or in none")
	}
}
