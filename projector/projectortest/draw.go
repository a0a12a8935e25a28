package projectortest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

var (
	genFact   = rapid.SampledFrom(spellings(factTable))
	genLinkTo = rapid.SampledFrom(slices.Concat(spellings(factTable), spellings(neverTable)))
	genNewer  = rapid.SampledFrom(append(spellings(factTable), "", "x")) // "" names none
	genID     = genOptional(rapid.SampledFrom([]string{"", "p", "q"}))   // "" states none
	genSchema = rapid.SampledFrom(SchemaIDs())
	genName   = rapid.SampledFrom(visible(nameTable))

	// genInstant has times on both sides of 1970, none, and its neighbours.
	genInstant = rapid.Map(rapid.SampledFrom([]int64{-2, -1, 0, 1, 9}), func(us int64) graphstore.Instant {
		if us == 9 {
			return 0
		}
		return graphstore.InstantOfMicros(us)
	})

	// genMemoryAt has gaps below, at and above a day, of months and of years, across 1970 and not, and none.
	genMemoryAt = rapid.SampledFrom([]graphstore.Instant{0, inDays(-.5), inDays(.5), inDays(.5) + 1, inDays(2), inDays(32), inDays(122), inDays(1000)})

	genEntityName = rapid.Custom(func(t *rapid.T) projector.EntityName {
		return projector.EntityName{Name: genName.Draw(t, "name"), Type: rapid.SampledFrom(spellings(typeTable)).Draw(t, "type")}
	})
	genEntity = rapid.Custom(func(t *rapid.T) projector.EntityRef {
		ref := projector.EntityRef{
			Name:    rapid.SampledFrom(spellings(nameTable)).Draw(t, "name"),
			Type:    rapid.SampledFrom(spellings(typeTable)).Draw(t, "type"),
			Aliases: rapid.SliceOfN(rapid.SampledFrom([]string{"A", "Foo", "Asha Rao", " "}), 0, 2).Draw(t, "aliases"),
		}
		if rapid.Bool().Draw(t, "has id") {
			ref.IDs = []graphstore.HardID{{Kind: "email", Value: rapid.SampledFrom([]string{"e1", "e2"}).Draw(t, "email")}}
		}
		return ref
	})
	genRelation = rapid.Custom(func(t *rapid.T) projector.RelationRef {
		return projector.RelationRef{
			To:     genLinkTo.Draw(t, "to"),
			Type:   rapid.SampledFrom([]string{"causes", "elaborates", "contrasts", "same_series", "related", "likes", "hates", "", "co_occurs", "mentions"}).Draw(t, "type"),
			Weight: genOptional(rapid.SampledFrom([]float64{-1, 0, .3, .9, 1, 7})).Draw(t, "weight"),
		}
	})
	genNeighbor = rapid.Custom(func(t *rapid.T) projector.NeighborRef {
		return projector.NeighborRef{ID: genLinkTo.Draw(t, "id"), Score: rapid.SampledFrom([]float64{-.5, 0, .74, .75, .8, .9, 1.5}).Draw(t, "score")}
	})
	genTriple = rapid.Just(projector.TripleClaim{Subject: projector.EntityRef{Name: "foo"}, Predicate: "knows", Object: projector.EntityRef{Name: "ACME"}})
)

func inDays(d float64) graphstore.Instant { return graphstore.InstantOfMicros(int64(d * dayMicros)) }

func genOptional[T any](of *rapid.Generator[T]) *rapid.Generator[projector.Optional[T]] {
	return rapid.Custom(func(t *rapid.T) projector.Optional[T] {
		if rapid.IntRange(0, 2).Draw(t, "stated") == 0 {
			return projector.Optional[T]{}
		}
		return projector.Some(of.Draw(t, "value"))
	})
}

func genList[T any](of *rapid.Generator[T], most int) *rapid.Generator[projector.Optional[[]T]] {
	return genOptional(rapid.SliceOfN(of, 0, most))
}
