package projectortest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// Backfilled is a history of one user and what the user's facts looked like in a store at some times.
type Backfilled struct {
	Events History
	Stored []projector.StoredFact
}

// GenBackfilled draws a history of 1 to most events of a user, and 0 to 4 stored facts of the same ids and of versions
// that go with times as the history's do. Of one version of a fact there is one form. Where the user is forgotten batches have places: the
// versions of those without do not go with times.
func GenBackfilled(most int, space graphstore.Space) *rapid.Generator[Backfilled] {
	key := func(f projector.StoredFact) string { return fmt.Sprint(factID(f.ID), f.Version.Value) }
	return rapid.Custom(func(t *rapid.T) Backfilled {
		c := newClock(t, 0, most)
		b := Backfilled{
			Events: genHistory(c, most, space).Draw(t, "history"),
			Stored: rapid.SliceOfNDistinct(genStored(c), 0, 4, key).Draw(t, "stored"),
		}
		if slices.ContainsFunc(b.Events, func(ev projector.Event) bool { _, is := ev.Data.(projector.UserForgotten); return is }) {
			for i := range b.Stored {
				b.Stored[i].BatchSeq.Set = b.Stored[i].BatchID.Set
			}
		}
		return b
	})
}

// GenUnversioned draws one stored fact each of some facts, of version 0 and unknown time.
func GenUnversioned() *rapid.Generator[[]projector.StoredFact] {
	one := rapid.Map(genStored(clock{span: 6}), func(f projector.StoredFact) projector.StoredFact {
		f.Version, f.UpdatedAt = projector.Optional[int64]{}, 0
		return f
	})
	return rapid.SliceOfNDistinct(one, 0, 4, func(f projector.StoredFact) string { return factID(f.ID) })
}

func genStored(c clock) *rapid.Generator[projector.StoredFact] {
	return rapid.Custom(func(t *rapid.T) projector.StoredFact {
		m := c.moment(t)
		f := projector.StoredFact{FactWrite: m.fact(t, genFact.Draw(t, "fact")), UpdatedAt: m.at}
		if rapid.IntRange(0, 5).Draw(t, "says nothing") == 0 {
			f.FactWrite = projector.FactWrite{ID: f.ID, Version: f.Version, Neighbors: f.Neighbors}
		}
		f.Op = ""
		if !f.Version.Set { // what a backfill does
			f.Version = projector.Some(m.at.Micros())
		}
		if f.BatchID = genOptional(rapid.SampledFrom([]string{"b1", "b2"})).Draw(t, "batch"); f.BatchID.Set { // also of one that says nothing else
			f.BatchSeq = genOptional(rapid.Int32Range(0, 2)).Draw(t, "place")
		}
		f.State = rapid.SampledFrom([]graphstore.State{graphstore.StateUnseen, graphstore.StateActive, graphstore.StateActive, graphstore.StateSuperseded,
			graphstore.StateShadowed, graphstore.StateDeleted}).Draw(t, "state")
		if by := genNewer.Draw(t, "by"); f.State == graphstore.StateSuperseded && (by == "" || factID(by) != factID(f.ID)) {
			f.SupersededBy = by
		}
		return f
	})
}
