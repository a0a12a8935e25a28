package main

import (
	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
)

// remade is a user's graph, made again, and where it is from.
type remade struct {
	graph   *graphstore.Snapshot
	points  int // facts that points are of
	origins origins
	lacks   lacks
}

// origins counts records by kind.
type origins map[string]server.RebuildOrigins

// unseenKind is the kind of facts that are only named: whoever brings such a fact has not made it, and so they are counted apart.
const unseenKind = "unseen"

// originKind is the kind under which a record is counted.
func originKind(c graphstore.Change) string {
	switch {
	case c.Edge != nil:
		return c.Edge.Type.String()
	case c.Fact != nil && c.Fact.State == graphstore.StateUnseen:
		return unseenKind
	default:
		return c.Key().Kind.String()
	}
}

// merge plans a user's points over the graph that the stream gives. Without points, nil, that is the graph.
func merge(log *graphstore.Snapshot, points *backfill.Gathered) (remade, error) {
	if points == nil {
		return remade{graph: log, origins: originsOfOne(log, server.RebuildOrigins{Log: 1})}, nil
	}
	made, err := points.Over(log)
	if err != nil {
		return remade{}, err
	}
	m := remade{graph: made, points: points.Facts(), lacks: lacks{}}
	if isEmpty(log) {
		m.origins = originsOfOne(made, server.RebuildOrigins{Store: 1})
		m.lacks.add(made, nil)
		return m, nil
	}
	store, err := points.Alone()
	if err != nil {
		return remade{}, err
	}
	m.origins = originsOf(made, log, store)
	m.lacks.add(made, log)
	return m, nil
}

func isEmpty(s *graphstore.Snapshot) bool {
	for range s.Records() {
		return false
	}
	return true
}

// originsOfOne counts the records of a graph that has one origin.
func originsOfOne(s *graphstore.Snapshot, one server.RebuildOrigins) origins {
	out := origins{}
	for c := range s.Records() {
		o := out[originKind(c)]
		o.Add(one)
		out[originKind(c)] = o
	}
	return out
}

// originsOf compares the graph that both make with the ones that each makes alone, record by record.
func originsOf(made, log, store *graphstore.Snapshot) origins {
	out := origins{}
	for c := range made.Records() {
		kind := originKind(c)
		o := out[kind]
		byLog, inLog := recordIn(log, c, kind)
		_, inStore := recordIn(store, c, kind)
		switch {
		case inLog && inStore:
			o.Both++
		case inLog:
			o.Log++
		case inStore:
			o.Store++
		default:
			o.Together++
		}
		if inLog && !equalRecords(byLog, c) {
			o.Changed++
		}
		out[kind] = o
	}
	for c := range log.Records() {
		if _, stays := made.Record(c.Key()); !stays {
			kind := originKind(c)
			o := out[kind]
			o.Gone++
			out[kind] = o
		}
	}
	return out
}

// recordIn returns the record of the same kind.
func recordIn(s *graphstore.Snapshot, c graphstore.Change, kind string) (graphstore.Change, bool) {
	r, ok := s.Record(c.Key())
	return r, ok && originKind(r) == kind
}

// add adds the counts of a user to those of all, and returns the user's sum.
func (all origins) add(user origins) (sum server.RebuildOrigins) {
	for kind, o := range user {
		sum.Add(o)
		total := all[kind]
		total.Add(o)
		all[kind] = total
	}
	return sum
}

// lacks counts, of the facts that only points bring, those of which nothing says something, by what; under "" all of these facts.
type lacks map[graphstore.Field]int

// add counts the facts of a graph that are not in that of the stream, nil for none.
func (l lacks) add(made, log *graphstore.Snapshot) {
	for c := range made.Records() {
		if c.Edge != nil {
			break // all others come before
		}
		if c.Fact == nil || !c.Fact.Present() {
			continue
		}
		if log != nil {
			if was, ok := log.Fact(c.Fact.ID); ok && was.State != graphstore.StateUnseen {
				continue
			}
		}
		l[""]++
		for _, of := range lackable {
			if c.Fact.Registers.Of(of.field).IsZero() {
				l[of.field]++
			}
		}
	}
}

func (l lacks) merge(o lacks) {
	for field, n := range o {
		l[field] += n
	}
}
