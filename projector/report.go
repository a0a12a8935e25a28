package projector

// Report counts what planning an event did. The zero Report is of nothing.
type Report struct {
	Added   int // adds that settled at least one part of a fact
	Updated int // updates that did
	Stale   int // writes and lifecycle changes that are repeats or came after a newer one had settled everything

	Superseded, Shadowed, Restored, Deleted int // lifecycle changes that settled something

	Withdrawn int // writes of a source that had been retracted for their time when they came
	Forgotten int // events of a user that had been forgotten for their time: nothing of them was projected
	Retracted int // facts of which a retraction withdrew something
	Erased    int // facts of which a forgetting left nothing
	Revived   int // superseded facts that came back because what retired them was withdrawn

	Schemas       int // schemas that were stated or deleted
	Decisions     int // rows of the merge log that were written
	NoopDecisions int // decisions on one entity and itself

	// Items of a fact that became no edge.
	BadWeights      int // relations and neighbours with a weight that is NaN, zero or negative
	SelfLinks       int // relations and neighbours of a fact to itself
	LowScores       int // neighbours below the minimal score
	ExcessNeighbors int // neighbours beyond the best few
	BlankNames      int // entities, aliases and tags without a visible character
	Folded          int // items that say what another item of the same fact says

	UnknownRelations   int // relations of an unknown type, kept as related
	UnknownEntityTypes int // mentions and decisions with an unknown or missing type, kept as thing

	// DeferredTriples are what this version does not project yet; a later one may, from the retained events.
	DeferredTriples int
}

// Add adds the counts of o.
func (r *Report) Add(o Report) {
	for _, c := range []struct {
		to *int
		n  int
	}{
		{&r.Added, o.Added}, {&r.Updated, o.Updated}, {&r.Stale, o.Stale},
		{&r.Superseded, o.Superseded}, {&r.Shadowed, o.Shadowed}, {&r.Restored, o.Restored}, {&r.Deleted, o.Deleted},
		{&r.BadWeights, o.BadWeights}, {&r.SelfLinks, o.SelfLinks}, {&r.LowScores, o.LowScores},
		{&r.ExcessNeighbors, o.ExcessNeighbors}, {&r.BlankNames, o.BlankNames}, {&r.Folded, o.Folded},
		{&r.UnknownRelations, o.UnknownRelations}, {&r.UnknownEntityTypes, o.UnknownEntityTypes},
		{&r.Withdrawn, o.Withdrawn}, {&r.Forgotten, o.Forgotten}, {&r.Retracted, o.Retracted}, {&r.Erased, o.Erased},
		{&r.Revived, o.Revived}, {&r.Schemas, o.Schemas}, {&r.Decisions, o.Decisions}, {&r.NoopDecisions, o.NoopDecisions},
		{&r.DeferredTriples, o.DeferredTriples},
	} {
		*c.to += c.n
	}
}
