package main

import (
	"github.com/kithgraph/kith/graphstore"
)

// later finds what a user's graph has for a reason that is later than a forgetting.
type later struct {
	forgotten graphstore.Tombstone
	facts     map[string]graphstore.Registers // of the facts that have writes, none of which is forgotten
	reasons   map[graphstore.Key]bool         // of records that are no edges, whether they are there for a reason
}

// forgottenAmong returns the keys of those of a user's records that are not there for anything that is later than the
// forgetting: facts, schemas, decisions and tombstones with a stamp up to then, edges of whoever has nothing to say it with,
// and what no other edge leads to.
func forgottenAmong(records []graphstore.Change, at graphstore.Instant) []graphstore.Key {
	l := later{graphstore.Tombstone{At: at}, map[string]graphstore.Registers{}, map[graphstore.Key]bool{graphstore.Tombstone{}.Key(): true}}
	for _, c := range records {
		l.stamped(c)
	}
	var left []graphstore.Key
	for _, c := range records {
		if c.Edge != nil && !l.edge(*c.Edge) {
			left = append(left, c.Key())
		}
	}
	for _, c := range records {
		if c.Edge == nil && !l.reasons[c.Key()] {
			left = append(left, c.Key())
		}
	}
	return left
}

// stamped takes in what has a stamp of its own, and what decisions name.
func (l *later) stamped(c graphstore.Change) {
	switch {
	case c.Fact != nil:
		r := c.Fact.Registers
		if written, stays := l.writes(r); written { // else it is there as long as an edge leads to it
			if l.reasons[c.Key()] = stays; stays {
				l.facts[c.Fact.ID] = r
			}
		}
	case c.Schema != nil:
		l.reasons[c.Key()] = !l.forgotten.Covers(c.Schema.Stamp.At)
	case c.Merge != nil && !l.forgotten.Covers(c.Merge.Stamp.At):
		l.reasons[c.Key()] = true
		l.reasons[graphstore.Entity{ID: c.Merge.Merged}.Key()] = true
		l.reasons[graphstore.Entity{ID: c.Merge.Kept}.Key()] = true
	case c.Tombstone != nil && c.Tombstone.Source != "":
		l.reasons[c.Key()] = !l.forgotten.Covers(c.Tombstone.At)
	}
}

// writes reports whether a fact has writes, and none that is forgotten.
func (l *later) writes(r graphstore.Registers) (written, stays bool) {
	stamps := []graphstore.Stamp{r.State, r.Base}
	for _, f := range r.Fields {
		stamps = append(stamps, f.Stamp)
	}
	stays = true
	for _, s := range stamps {
		if !s.IsZero() {
			written, stays = true, stays && !l.forgotten.Covers(s.At)
		}
	}
	return written, stays
}

// edge reports whether an edge is there for a reason, which is then one of its ends' too.
func (l *later) edge(e graphstore.Edge) bool {
	said := false
	switch e.Asserter.Kind {
	case graphstore.ByFact:
		said = l.said(e.Asserter.ID, e.Type.Field())
	case graphstore.ByBatch:
		said = l.said(e.Source, graphstore.FieldBatch) && l.said(e.Target, graphstore.FieldBatch)
	case graphstore.BySpine:
		said = l.said(e.Source, graphstore.FieldMemoryAt) && l.said(e.Target, graphstore.FieldMemoryAt)
	case graphstore.BySchema:
		said = l.reasons[graphstore.Schema{ID: e.Asserter.ID}.Key()]
	}
	if said {
		source, target := e.Type.Ends()
		for _, end := range []graphstore.Key{{Kind: source, Node: e.Source}, {Kind: target, Node: e.Target}} {
			if _, judged := l.reasons[end]; !judged {
				l.reasons[end] = true
			}
		}
	}
	return said
}

// said reports whether a fact has a write of a field.
func (l *later) said(fact string, field graphstore.Field) bool {
	r, ok := l.facts[fact]
	return ok && !r.Of(field).IsZero()
}
