package backfill

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// comparing holds a user's graph against what it should be.
type comparing struct {
	is       *graphstore.Snapshot
	should   *graphstore.Snapshot
	by       *graphstore.Snapshot // what the graph should be by itself, without a word of the store
	gone     map[string]bool      // facts without a point
	replaced map[string]bool      // facts that come or go as a whole, with all that they say
	changes  []graphstore.Change
	settled  map[string]bool // facts that say what they should, settled by other writes; in changes only if one of their edges is
	drift    []Drift
}

// compare returns in what a graph differs from what it should be, and the changes that make it so. Of what is derived only that
// is drift which does not follow from the graph either: the count of a topic that is right for the tags in the graph is
// none, though it changes when a tag that is missing comes.
func (v *verifier) compare(is, should *graphstore.Snapshot, gone map[string]bool) ([]Drift, []graphstore.Change, error) {
	c := comparing{is: is, should: should, gone: gone, replaced: map[string]bool{}, settled: map[string]bool{}}
	c.difference()
	if len(c.changes) == 0 {
		return nil, nil, nil
	}
	var err error
	if c.by, err = v.b.proj.Reconcile(is, nil, func(string) bool { return false }); err != nil {
		return nil, nil, err
	}
	for _, ch := range c.changes {
		if ch.Fact != nil && !c.settled[ch.Fact.ID] {
			c.fact(ch.Fact.ID)
		}
	}
	for _, ch := range c.changes {
		switch {
		case ch.Fact != nil:
		case ch.Edge != nil && ch.Edge.Asserter.Kind == graphstore.ByFact:
			c.contribution(ch.Key())
		default:
			c.derived(ch.Key())
		}
	}
	slices.SortFunc(c.drift, func(a, b Drift) int {
		return strings.Compare(a.Kind+"\x00"+a.ID+"\x00"+a.What, b.Kind+"\x00"+b.ID+"\x00"+b.What)
	})
	return c.drift, c.changes, nil
}

// difference finds the changes that make the one graph the other.
func (c *comparing) difference() {
	for r := range c.should.Records() {
		had, ok := c.is.Record(r.Key())
		if ok && sameRecord(had, r) {
			continue
		}
		if ok && r.Fact != nil && c.saysTheSame(had.Fact, r.Fact) {
			c.settled[r.Fact.ID] = true
		}
		c.changes = append(c.changes, r)
	}
	for r := range c.is.Records() {
		if _, ok := c.should.Record(r.Key()); !ok {
			c.changes = append(c.changes, graphstore.DeleteKey(c.is.Space(), r.Key()))
		}
	}
	asserts := map[string]bool{}
	for _, ch := range c.changes {
		if k := ch.Key(); k.IsEdge() && k.Asserter.Kind == graphstore.ByFact {
			asserts[k.Asserter.ID] = true
		}
	}
	c.changes = slices.DeleteFunc(c.changes, func(ch graphstore.Change) bool {
		return ch.Fact != nil && c.settled[ch.Fact.ID] && !asserts[ch.Fact.ID]
	})
}

// saysTheSame reports whether two records of a fact differ at most in which write settled what, which a memory system's own writes
// bring about: an update that leaves fields out moves the point's version and not that of their registers. The end of a
// superseded fact is compared as readers see it, since a store writes down what the graph derives; when it was superseded is
// the time of the event, and in a store that of the last change.
func (c *comparing) saysTheSame(is, should *graphstore.Fact) bool {
	a, b := *is, *should
	if unsettled(is.Registers, should.Registers) { // an old event would show
		return false
	}
	a.Registers = b.Registers
	if a.State == graphstore.StateSuperseded && b.State == a.State && a.SupersededBy == b.SupersededBy {
		by := graphstore.FieldValidTo
		if is.Registers.Of(by) != should.Registers.Of(by) && c.is.ValidTo(is) == c.should.ValidTo(should) {
			a.ValidTo = b.ValidTo
		}
		a.SupersededAt = b.SupersededAt
	}
	return a.Equal(b)
}

// sameRecord compares records of one key. Schemas, merges, refs and tombstones are never made anew.
func sameRecord(a, b graphstore.Change) bool {
	switch {
	case a.Fact != nil:
		return a.Fact.Equal(*b.Fact)
	case a.Entity != nil:
		return a.Entity.Equal(*b.Entity)
	case a.Topic != nil:
		return *a.Topic == *b.Topic
	case a.Edge != nil:
		return *a.Edge == *b.Edge
	default:
		return true
	}
}

// unsettled reports whether a register is empty that should not be.
func unsettled(is, should graphstore.Registers) bool {
	if is.State.IsZero() && !should.State.IsZero() || is.Base.IsZero() && !should.Base.IsZero() {
		return true
	}
	return slices.ContainsFunc(should.Fields, func(fs graphstore.FieldStamp) bool { return is.Of(fs.Field).IsZero() })
}

func (c *comparing) add(kind, id, format string, args ...any) {
	c.drift = append(c.drift, Drift{Kind: kind, UserID: c.is.Space().UserID(), ID: id, What: fmt.Sprintf(format, args...)})
}

// follows reports whether a record, or that there is none, follows from the graph as it is.
func (c *comparing) follows(k graphstore.Key) bool {
	is, ok := c.is.Record(k)
	by, want := c.by.Record(k)
	return ok == want && (!ok || sameRecord(is, by))
}

func (c *comparing) fact(id string) {
	is, there := c.is.Fact(id)
	should, want := c.should.Fact(id)
	switch {
	case c.gone[id]:
		c.replaced[id] = true
		c.add(DriftNoPoint, id, "%s in the graph, and the store has no point of it", is.State)
	case is.State == graphstore.StateUnseen && should.State != graphstore.StateUnseen:
		c.replaced[id] = true
		how := "the graph has no node of it"
		if there {
			how = "the graph only names it"
		}
		c.add(DriftMissingNode, id, "%s in the store, version %d: %s", should.State, should.Version(), how)
	case !there || !want: // an unseen one
		if !c.follows(graphstore.Fact{ID: id}.Key()) {
			c.add(DriftOrphan, id, "unseen fact that nothing names")
		}
	case is.State != should.State:
		c.replaced[id] = !should.Present() // what it said goes with it
		c.add(DriftState, id, "%s in the graph: should be %s", is.State, should.State)
	default:
		c.add(DriftField, id, "%s", strings.Join(fieldsThatDiffer(is, should), ", "))
	}
}

// fieldsThatDiffer says which parts of a fact are others than they should be.
func fieldsThatDiffer(is, should graphstore.Fact) []string {
	var texts []string
	for _, f := range []struct {
		name       string
		is, should string
	}{
		{"agent_id", is.AgentID, should.AgentID}, {"source_id", is.SourceID, should.SourceID}, {"episode_id", is.EpisodeID, should.EpisodeID},
		{"batch_id", is.BatchID, should.BatchID}, {"batch_seq", fmt.Sprint(is.BatchSeq), fmt.Sprint(should.BatchSeq)},
		{"memory_at", instantText(is.MemoryAt), instantText(should.MemoryAt)}, {"valid_from", instantText(is.ValidFrom), instantText(should.ValidFrom)},
		{"valid_to", instantText(is.ValidTo), instantText(should.ValidTo)}, {"recorded_at", instantText(is.RecordedAt), instantText(should.RecordedAt)},
		{"superseded_by", is.SupersededBy, should.SupersededBy}, {"superseded_at", instantText(is.SupersededAt), instantText(should.SupersededAt)},
	} {
		if f.is != f.should {
			texts = append(texts, fmt.Sprintf("%s %s: should be %s", f.name, graphstore.Shorten(f.is), graphstore.Shorten(f.should)))
		}
	}
	if len(texts) == 0 {
		texts = append(texts, "the values are right, and the graph does not know which write settled them")
	}
	return texts
}

func instantText(at graphstore.Instant) string {
	if !at.Present() {
		return ""
	}
	text, err := at.MarshalText()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// contribution looks at an edge that a fact says.
func (c *comparing) contribution(k graphstore.Key) {
	id := k.Asserter.ID
	if c.replaced[id] {
		return
	}
	is, there := c.is.Edge(k)
	should, want := c.should.Edge(k)
	edge := fmt.Sprintf("%s %s", k.Relation, graphstore.Shorten(otherEnd(k, id)))
	switch {
	case !there:
		c.add(DriftMissingContribution, id, "%s is missing", edge)
	case !want:
		c.add(DriftStaleContribution, id, "%s is one too many", edge)
	default:
		c.add(DriftStaleContribution, id, "%s says weight %v %s: should say %v %s", edge, is.Weight, graphstore.Shorten(is.Detail), should.Weight, graphstore.Shorten(should.Detail))
	}
}

func otherEnd(k graphstore.Key, id string) string {
	if k.Node == id {
		return k.Target
	}
	return k.Node
}

// derived looks at a record that follows from others.
func (c *comparing) derived(k graphstore.Key) {
	if c.follows(k) {
		return
	}
	is, there := c.is.Record(k)
	should, want := c.should.Record(k)
	switch {
	case k.IsEdge():
		how := "has another weight than it should"
		if !there {
			how = "is missing"
		} else if !want {
			how = "is one too many"
		}
		c.add(DriftDerivedEdge, k.Node, "%s %s by %s %s", k.Relation, graphstore.Shorten(k.Target), k.Asserter, how)
	case there && !want:
		c.add(DriftOrphan, k.Node, "%s that nothing leads to", k.Kind)
	case there && is.Entity != nil:
		c.add(DriftCount, k.Node, "entity with %d mentions, named %s: should be %d, %s", is.Entity.Mentions, graphstore.Shorten(is.Entity.Name), should.Entity.Mentions, graphstore.Shorten(should.Entity.Name))
	case there && is.Topic != nil:
		c.add(DriftCount, k.Node, "topic of %d facts, named %s: should be %d, %s", is.Topic.Facts, graphstore.Shorten(is.Topic.Name), should.Topic.Facts, graphstore.Shorten(should.Topic.Name))
	default:
		c.add(DriftDerivedEdge, k.Node, "%s is missing", k.Kind)
	}
}
