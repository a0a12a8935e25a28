package graphstore

import (
	"cmp"
	"slices"
)

// identity is an id that the merge log names, whether or not there is an entity with it.
type identity struct {
	id   string
	rows []int32 // numbers of the minor records that name it, on either side
	in   int32   // number of its component
	at   int32   // its place among the members there
}

func findIdentity(idx *index, identities *vec[identity], id string) (int32, bool) {
	if idx.n == 0 {
		return 0, false
	}
	for p := idx.find(tagOf(id)); ; {
		i, ok := p.next()
		if !ok {
			return 0, false
		}
		if identities.ref(i).id == id {
			return i, true
		}
	}
}

// MergesOf returns the rows of the merge log that name an entity on either side, in order of key.
func (s *Snapshot) MergesOf(entity string) []Merge {
	i, ok := findIdentity(&s.identityIndex, &s.identities, entity)
	if !ok {
		return nil
	}
	var rows []Merge
	for _, row := range s.identities.ref(i).rows {
		rows = append(rows, *s.minors.at(row).change.Merge)
	}
	slices.SortFunc(rows, func(a, b Merge) int { return a.Key().Compare(b.Key()) })
	return rows
}

// Merges returns the merge log, in order of key.
func (s *Snapshot) Merges() []Merge {
	var rows []Merge
	for i := range s.minors.n {
		if m := s.minors.at(i); m != nil && m.change.Merge != nil {
			rows = append(rows, *m.change.Merge)
		}
	}
	slices.SortFunc(rows, func(a, b Merge) int { return a.Key().Compare(b.Key()) })
	return rows
}

// Resolve returns the id of the entity that readers see for this one: the end of the redirects of the merge log. Of
// several that hold for one entity the latest counts (by its stamp, then by the smaller id of the kept one). Redirects
// that lead in a circle make one entity, the one with the smallest id. An id that no row names is its own.
func (s *Snapshot) Resolve(entity string) string {
	i, ok := findIdentity(&s.identityIndex, &s.identities, entity)
	if !ok {
		return entity
	}
	x := s.identities.ref(i)
	c := s.components.at(x.in)
	return s.identities.ref(c.members[c.rootsIn(s).root[x.at]]).id
}

// redirect returns the id to which the rows that name an identity send it.
func (s *Snapshot) redirect(x *identity) (to string, ok bool) {
	var latest *Merge
	for _, row := range x.rows {
		m := s.minors.at(row).change.Merge
		if m.Undone || m.Merged != x.id {
			continue
		}
		if latest == nil || cmp.Or(m.Stamp.Compare(latest.Stamp), cmp.Compare(latest.Kept, m.Kept)) > 0 {
			latest = m
		}
	}
	if latest == nil {
		return "", false
	}
	return latest.Kept, true
}
