package projector

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
)

// The generator draws names and tags from tables that give the normal form by hand, so that the model needs no
// normalisation of its own.
var (
	tableTags = map[string]string{"Work": "work", "work": "work", " WORK ": "work", "home": "home", "Home!": "home", "ｈome": "home", "💥": "💥", "  ": "", "???": "???"}

	tableNames = map[string]string{"Asha Rao": "asha rao", "asha-RAO": "asha rao", "Acme, Inc.": "acme inc", "ACME": "acme",
		"Ｆｏｏ": "foo", "foo": "foo", "!!": "!!", "\t": "", "Straße": "strasse", "STRASSE": "strasse"}
	tableTypes = map[string]string{"person": "person", "Organization": "organization", "": "thing", "starship": "thing"}
)

// tableEntity returns the type and normal form of a generated entity.
func tableEntity(ref EntityRef) (typ, norm string) {
	typ, norm = tableTypes[ref.Type], tableNames[ref.Name]
	if typ == "organization" {
		norm = strings.TrimSuffix(norm, " inc")
	}
	return typ, norm
}

var (
	genFactID  = rapid.SampledFrom([]string{"a", "b", "c", "d"})
	genLinkTo  = rapid.SampledFrom([]string{"a", "b", "c", "d", "x", "y"}) // x and y are never written
	genVersion = rapid.Int64Range(0, 5)
	genID      = rapid.SampledFrom([]string{"", "p", "q"}) // "" states none
	genTag     = rapid.SampledFrom(sortedKeys(tableTags))
	genInstant = rapid.Custom(func(t *rapid.T) graphstore.Instant {
		if n := rapid.Int64Range(-2, 3).Draw(t, "us"); n != 0 {
			return graphstore.InstantOfMicros(n)
		}
		return 0
	})
	genEntity = rapid.Custom(func(t *rapid.T) EntityRef {
		ref := EntityRef{
			Name:    rapid.SampledFrom(sortedKeys(tableNames)).Draw(t, "name"),
			Type:    rapid.SampledFrom(sortedKeys(tableTypes)).Draw(t, "type"),
			Aliases: rapid.SliceOfN(rapid.SampledFrom([]string{"Ash", "foo", "Zed", " "}), 0, 2).Draw(t, "aliases"),
		}
		if rapid.Bool().Draw(t, "has id") {
			ref.IDs = []graphstore.HardID{{Kind: "email", Value: rapid.SampledFrom([]string{"e1", "e2"}).Draw(t, "email")}}
		}
		return ref
	})
	genRelation = rapid.Custom(func(t *rapid.T) RelationRef {
		return RelationRef{
			To:     genLinkTo.Draw(t, "to"),
			Type:   rapid.SampledFrom([]string{"causes", "elaborates", "contrasts", "same_series", "related", "likes", "hates", "", "co_occurs", "mentions"}).Draw(t, "type"),
			Weight: genOptional(rapid.SampledFrom([]float64{-1, 0, .3, .9, 1, 7})).Draw(t, "weight"),
		}
	})
	genNeighbor = rapid.Custom(func(t *rapid.T) NeighborRef {
		return NeighborRef{ID: genLinkTo.Draw(t, "id"), Score: rapid.SampledFrom([]float64{-.5, 0, .74, .75, .8, .9, 1.5}).Draw(t, "score")}
	})
)

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func genOptional[T any](of *rapid.Generator[T]) *rapid.Generator[Optional[T]] {
	return rapid.Custom(func(t *rapid.T) Optional[T] {
		if rapid.IntRange(0, 2).Draw(t, "stated") == 0 {
			return Optional[T]{}
		}
		return Some(of.Draw(t, "value"))
	})
}

func genList[T any](of *rapid.Generator[T], most int) *rapid.Generator[Optional[[]T]] {
	return genOptional(rapid.SliceOfN(of, 0, most))
}

func genWrite(id string) *rapid.Generator[FactWrite] {
	return rapid.Custom(func(t *rapid.T) FactWrite {
		return FactWrite{
			ID: id, Op: rapid.SampledFrom([]Op{OpAdd, OpUpdate}).Draw(t, "op"), Version: genOptional(genVersion).Draw(t, "version"),
			AgentID: genOptional(genID).Draw(t, "agent"), SourceID: genOptional(genID).Draw(t, "source"), EpisodeID: genOptional(genID).Draw(t, "episode"),
			MemoryAt: genOptional(genInstant).Draw(t, "memory_at"), ValidFrom: genOptional(genInstant).Draw(t, "valid_from"),
			ValidTo: genOptional(genInstant).Draw(t, "valid_to"), RecordedAt: genOptional(genInstant).Draw(t, "recorded_at"),
			Tags:      genList(genTag, 3).Draw(t, "tags"),
			Entities:  genList(genEntity, 3).Draw(t, "entities"),
			Relations: genList(genRelation, 3).Draw(t, "relations"),
			Neighbors: genList(genNeighbor, 4).Draw(t, "neighbors"),
		}
	})
}

// genHistory draws events on a few facts with few versions, so that equal versions, equal operations and ties down to
// the event id all occur. Event ids are drawn apart from the order in which events were made.
func genHistory(space graphstore.Space, most int) *rapid.Generator[[]Event] {
	return rapid.Custom(func(t *rapid.T) []Event {
		n := rapid.IntRange(1, most).Draw(t, "events")
		ids := rapid.Permutation(numbered(n)).Draw(t, "ids")
		events := make([]Event, n)
		for i := range events {
			events[i] = Event{ID: ids[i], Space: space, Time: graphstore.InstantOfMicros(genVersion.Draw(t, "time")), Data: genData(t)}
		}
		return events
	})
}

func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("e%02d", i)
	}
	return ids
}

func genData(t *rapid.T) Data {
	version := genOptional(genVersion).Draw(t, "version")
	id := genFactID.Draw(t, "fact")
	switch rapid.SampledFrom([]string{"write", "write", "write", "write", "supersede", "shadow", "restore", "delete"}).Draw(t, "kind") {
	case "write":
		w := FactsWritten{BatchID: rapid.SampledFrom([]string{"", "b1", "b2"}).Draw(t, "batch")}
		for _, fact := range rapid.SliceOfNDistinct(genFactID, 1, 4, rapid.ID).Draw(t, "facts") {
			w.Facts = append(w.Facts, genWrite(fact).Draw(t, fact))
		}
		return w
	case "supersede":
		by := rapid.SampledFrom([]string{"", "b", "c", "x"}).Draw(t, "by")
		if by == id {
			by = ""
		}
		return FactSuperseded{FactID: id, By: by, Version: version}
	case "shadow":
		return FactShadowed{FactID: id, Version: version}
	case "restore":
		return FactRestored{FactID: id, Version: version}
	default:
		return FactDeleted{FactID: id, Version: version}
	}
}
