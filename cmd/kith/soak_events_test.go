package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// soakBytes is the size that events of facts are filled up to with content.
const soakBytes = 910

// soakTypes are the event types with their shares in a thousand events; what is left writes facts.
var soakTypes = []struct {
	typ   projector.Type
	share int
}{
	{projector.TypeFactSuperseded, 30}, {projector.TypeFactShadowed, 12}, {projector.TypeFactRestored, 8}, {projector.TypeFactDeleted, 15},
	{projector.TypeSourceRetracted, 4}, {projector.TypeEntityAliased, 6}, {projector.TypeEntityMerged, 6}, {projector.TypeEntityUnmerged, 3},
	{projector.TypeEntityRetyped, 3}, {projector.TypeSchemaUpserted, 10}, {projector.TypeSchemaDeleted, 3},
}

// soakEvents makes the events of some memory systems: of users of very different size, each with people, places and
// subjects that come up again, facts that are updated, retired and withdrawn. The same seed makes the same events.
type soakEvents struct {
	rng   *rand.Rand
	users []*soakUser
	next  int
	all   int
	ids   [16]byte
}

// soakUser is what later events of a user refer to.
type soakUser struct {
	id       string
	versions bool // its producer counts versions; the others leave them to the time
	facts    []soakFact
	schemas  int
	batch    int
}

type soakFact struct{ id, source string }

// newSoakEvents returns the maker of so many events.
func newSoakEvents(seed uint64, events int) *soakEvents {
	g := &soakEvents{rng: rand.New(rand.NewPCG(seed, 1)), all: events}
	for i := range min(40, max(5, events/500)) {
		g.users = append(g.users, &soakUser{id: fmt.Sprintf("user-%d", i), versions: i%4 == 3})
	}
	return g
}

// user draws one: the first writes half as much as all the others together, the last next to nothing.
func (g *soakEvents) user() *soakUser {
	x := g.rng.Float64()
	return g.users[int(x*x*x*float64(len(g.users)))]
}

func (g *soakEvents) uuid() string {
	for i := range g.ids {
		g.ids[i] = byte(g.rng.Uint32())
	}
	id, err := uuid.FromBytes(g.ids[:])
	if err != nil {
		panic(err) // 16 bytes
	}
	return id.String()
}

// event returns the next event. Its time is after that of all before it.
func (g *soakEvents) event() (projector.Event, error) {
	i := g.next
	g.next++
	u := g.user()
	at := time.UnixMicro(1_700_000_000_000_000 + int64(i)*7_300_000 + g.rng.Int64N(7_000_000))
	version := projector.Optional[int64]{}
	if u.versions {
		version = projector.Some(int64(i + 1))
	}
	data := g.data(u, version, at)
	ev, err := projector.NewEvent(g.uuid(), "memory-writer", at, u.id, data)
	if facts, ok := data.(projector.FactsWritten); err == nil && ok {
		err = g.fill(&ev, facts)
	}
	return ev, err
}

// data draws what an event says. A user is forgotten once in 50,000 events, and writes on.
func (g *soakEvents) data(u *soakUser, version projector.Optional[int64], at time.Time) projector.Data {
	if every := min(50_000, g.all); g.next%every == every*3/5 {
		return projector.UserForgotten{}
	}
	if len(u.facts) < 20 {
		return g.facts(u, version, at)
	}
	n := g.rng.IntN(1000)
	for _, s := range soakTypes {
		if n -= s.share; n < 0 {
			return g.other(s.typ, u, version)
		}
	}
	return g.facts(u, version, at)
}

// old draws a fact of the user, recent ones more often.
func (g *soakEvents) old(u *soakUser) soakFact {
	x := g.rng.Float64()
	return u.facts[len(u.facts)-1-int(x*x*float64(len(u.facts)))]
}

func (g *soakEvents) other(typ projector.Type, u *soakUser, version projector.Optional[int64]) projector.Data {
	f := g.old(u)
	switch typ {
	case projector.TypeFactSuperseded:
		by := u.facts[len(u.facts)-1].id
		if by == f.id {
			by = ""
		}
		return projector.FactSuperseded{FactID: f.id, By: by, Version: version}
	case projector.TypeFactShadowed:
		return projector.FactShadowed{FactID: f.id, Version: version}
	case projector.TypeFactRestored:
		return projector.FactRestored{FactID: f.id, Version: version}
	case projector.TypeFactDeleted:
		return projector.FactDeleted{FactID: f.id, Version: version}
	case projector.TypeSourceRetracted:
		return projector.SourceRetracted{SourceID: f.source}
	case projector.TypeSchemaUpserted:
		return g.schema(u, version)
	case projector.TypeSchemaDeleted:
		return projector.SchemaDeleted{SchemaID: soakSchema(g.rng.IntN(u.schemas + 1)), Version: version}
	default:
		return g.decision(typ, u, version)
	}
}

func soakSchema(n int) string { return fmt.Sprintf("schema-%d", n) }

func (g *soakEvents) schema(u *soakUser, version projector.Optional[int64]) projector.Data {
	s := projector.SchemaUpserted{SchemaID: soakSchema(u.schemas), Level: "l6", Title: g.words(60), Version: version}
	if u.schemas > 0 && g.rng.IntN(2) == 0 {
		s.SchemaID = soakSchema(g.rng.IntN(u.schemas))
	} else {
		u.schemas++
	}
	for range 3 + g.rng.IntN(10) {
		s.Evidence = append(s.Evidence, g.old(u).id)
	}
	return s
}

func (g *soakEvents) decision(typ projector.Type, u *soakUser, version projector.Optional[int64]) projector.Data {
	a, b := g.rng.IntN(40), g.rng.IntN(40)
	if a == b {
		b++
	}
	kept, merged := projector.EntityName{Name: soakPerson(a), Type: "person"}, projector.EntityName{Name: soakPerson(b), Type: "person"}
	why := g.words(400)
	switch typ {
	case projector.TypeEntityAliased:
		return projector.EntityAliased{Entity: kept, Alias: merged.Name, Version: version, Evidence: why}
	case projector.TypeEntityMerged:
		return projector.EntityMerged{Kept: kept, Merged: merged, Version: version, Evidence: why}
	case projector.TypeEntityUnmerged:
		return projector.EntityUnmerged{Kept: kept, Merged: merged, Version: version, Evidence: why}
	default:
		return projector.EntityRetyped{Entity: kept, To: "organization", Version: version, Evidence: why}
	}
}

// soakPerson names one of many people.
func soakPerson(n int) string {
	first := []string{"Asha", "Bruno", "Chidi", "Dana", "Emil", "Farah", "Goran", "Hana"}
	last := []string{"Rao", "Okafor", "Lind", "Moreau", "Tanaka"}
	name := first[n%len(first)] + " " + last[n/len(first)%len(last)]
	if n < len(first)*len(last) {
		return name
	}
	return fmt.Sprintf("%s %d", name, n/(len(first)*len(last)))
}

// facts writes one fact or two, now and then a whole batch.
func (g *soakEvents) facts(u *soakUser, version projector.Optional[int64], at time.Time) projector.Data {
	n := 1 + g.rng.IntN(3)/2 // two of three write one
	if g.rng.IntN(80) == 0 {
		n = 4 + g.rng.IntN(12)
	}
	var w projector.FactsWritten
	if g.rng.IntN(3) == 0 {
		u.batch += g.rng.IntN(2)
		w.BatchID = fmt.Sprintf("turn-%d", u.batch)
	}
	source := fmt.Sprintf("msg-%d", len(u.facts)/6)
	seen := map[string]bool{}
	for range n {
		f := projector.FactWrite{Op: projector.OpAdd, Version: version, Tags: projector.Some(g.tags())}
		if len(u.facts) > 20 && g.rng.IntN(8) == 0 {
			f.ID, f.Op = g.old(u).id, projector.OpUpdate
			if g.rng.IntN(3) == 0 {
				f.Op = projector.OpAdd // the whole fact once more
			}
		}
		if f.ID == "" {
			f.ID = g.uuid()
			u.facts = append(u.facts, soakFact{f.ID, source})
		}
		if seen[f.ID] {
			continue
		}
		seen[f.ID] = true
		g.fact(u, &f, source, at)
		w.Facts = append(w.Facts, f)
	}
	return w
}

func (g *soakEvents) tags() []string {
	tags := []string{"work", "home", "Health", "travel", "money", "Family", "food", "projects", "books", "plans"}
	list := []string{tags[g.rng.IntN(len(tags))]}
	if g.rng.IntN(2) == 0 {
		list = append(list, fmt.Sprintf("topic %d", g.rng.IntN(60)))
	}
	return list
}

// fact draws the rest of a fact. An update states half of it.
func (g *soakEvents) fact(u *soakUser, f *projector.FactWrite, source string, at time.Time) {
	parts := g.rng.Uint32()
	states := func(bit uint) bool { return f.Op == projector.OpAdd || parts>>bit&1 == 1 }
	if states(0) {
		f.AgentID = projector.Some(fmt.Sprintf("agent-%d", g.rng.IntN(3)))
		f.RecordedAt = projector.Some(graphstore.InstantOf(at))
	}
	if states(1) {
		f.SourceID = projector.Some(source)
		f.EpisodeID = projector.Some(fmt.Sprintf("episode-%d", len(u.facts)/15))
	}
	if states(2) {
		f.MemoryAt = projector.Some(graphstore.InstantOf(at.Add(-time.Duration(g.rng.Int64N(int64(60 * 24 * time.Hour))))))
	}
	if states(3) {
		f.Entities = projector.Some(g.entities(u))
	}
	if states(4) && len(u.facts) > 5 {
		g.links(u, f)
	}
	if f.Op == projector.OpAdd && g.rng.IntN(5) == 0 {
		f.Triples = projector.Some([]projector.TripleClaim{{
			Subject:   projector.EntityRef{Name: soakPerson(g.rng.IntN(40)), Type: "person"},
			Predicate: "works_at", Object: projector.EntityRef{Name: "Razorpay", Type: "organization"}, Confidence: projector.Some(.8),
		}})
	}
}

// entities draws one or two, and the owner, who is in a third of all facts.
func (g *soakEvents) entities(u *soakUser) []projector.EntityRef {
	var refs []projector.EntityRef
	if g.rng.IntN(3) == 0 {
		refs = append(refs, projector.EntityRef{Name: "Owner", Type: "person", Aliases: []string{"me"}})
	}
	known := 40 + len(u.facts)/10
	for range 1 + g.rng.IntN(2) {
		x := g.rng.Float64()
		n := int(x * x * float64(known))
		ref := projector.EntityRef{Name: soakPerson(n), Type: "person"}
		switch n % 5 {
		case 0:
			ref.IDs = []graphstore.HardID{{Kind: "email", Value: fmt.Sprintf("person%d@example.com", n)}}
		case 1:
			ref = projector.EntityRef{Name: fmt.Sprintf("Project %d", n), Type: "project"}
		case 2:
			ref.Name = strings.ToUpper(ref.Name)
		}
		refs = append(refs, ref)
	}
	return refs
}

func (g *soakEvents) links(u *soakUser, f *projector.FactWrite) {
	types := []string{"causes", "elaborates", "contrasts", "same_series", "related", "inspired_by"}
	f.Relations.Set, f.Neighbors.Set = true, true
	if g.rng.IntN(2) == 0 {
		if to := g.old(u).id; to != f.ID {
			f.Relations.Value = append(f.Relations.Value, projector.RelationRef{To: to, Type: types[g.rng.IntN(len(types))],
				Weight: projector.Some(float64(1+g.rng.IntN(10)) / 10)})
		}
	}
	for range 1 + g.rng.IntN(3) {
		if to := g.old(u).id; to != f.ID {
			f.Neighbors.Value = append(f.Neighbors.Value, projector.NeighborRef{ID: to, Score: float64(600+g.rng.IntN(390)) / 1000})
		}
	}
}

// fill gives the facts of an event content until it has its size.
func (g *soakEvents) fill(ev *projector.Event, w projector.FactsWritten) error {
	payload, err := projector.Marshal(*ev, projector.Limits{})
	if err != nil {
		return err
	}
	each := max(40, (soakBytes-len(payload))/len(w.Facts)-len(`,"content":""`))
	for i := range w.Facts {
		w.Facts[i].Content = projector.Some(g.words(each))
	}
	ev.Data = w
	return nil
}

// words returns text of about so many bytes.
func (g *soakEvents) words(bytes int) string {
	stock := strings.Fields("she moved to the office near the river and said that it would take until autumn before anything of the plan is decided by them")
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(stock[g.rng.IntN(len(stock))])
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}
