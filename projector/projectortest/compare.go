package projectortest

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/graphstore"
)

// Diff says how a snapshot differs from what the model derives for its user; empty if it does not.
func (m *Model) Diff(view *graphstore.Snapshot) string {
	return DiffRecords(m.Records(view.Space()), slices.Collect(view.Records()))
}

// Digest returns the digest of all users' graphs.
func (m *Model) Digest() graphstore.Digest {
	var d graphstore.Digest
	for _, space := range m.Spaces() {
		for _, c := range m.Records(space) {
			d.Add(c)
		}
	}
	return d
}

// DiffRecords says how two sets of records differ, whatever their order, in every stored part; empty if they do not.
func DiffRecords(want, got []graphstore.Change) string {
	return cmp.Diff(Lines(want), Lines(got))
}

// Lines returns records as sorted lines of text.
func Lines(records []graphstore.Change) []string {
	lines := make([]string, len(records))
	for i, c := range records {
		lines[i] = c.Space.UserID() + " " + line(c)
	}
	slices.Sort(lines)
	return lines
}

func line(c graphstore.Change) string {
	switch {
	case c.Fact != nil:
		return fmt.Sprintf("fact %+v", *c.Fact)
	case c.Entity != nil:
		return fmt.Sprintf("entity %+v", *c.Entity)
	case c.Topic != nil:
		return fmt.Sprintf("topic %+v", *c.Topic)
	case c.Schema != nil:
		return fmt.Sprintf("schema %+v", *c.Schema)
	case c.Ref != nil:
		return fmt.Sprintf("ref %+v", *c.Ref)
	case c.Merge != nil:
		return fmt.Sprintf("merge %+v", *c.Merge)
	case c.Tombstone != nil:
		return fmt.Sprintf("tombstone %+v", *c.Tombstone)
	default:
		return fmt.Sprintf("edge %+v", *c.Edge)
	}
}
