package main

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// newUserReplay returns a replay of the user's events. A rebuild from the points alone passes over those up to the noted end: what
// they said and the points do not is meant to be left out.
func (r *rebuild) newUserReplay(space graphstore.Space) *feed.UserReplay {
	u := r.replay.User(space)
	if r.req.From == server.RebuildFromStore && !r.none {
		u.Skip(r.noted)
	}
	return u
}

// readUser reads the events of the user that were not read yet.
func (r *rebuild) readUser(ctx context.Context, u *feed.UserReplay) error {
	ext, err := r.extent(ctx)
	if err != nil || r.none {
		return err
	}
	return u.Read(ctx, ext)
}

// mergeUser plans the user's points over what the stream gives.
func (r *rebuild) mergeUser(made *feed.ReplayedUser) (remade, error) {
	if r.gather == nil {
		return merge(made.Snapshot, nil)
	}
	points, err := r.gather.User(made.Space)
	if err != nil {
		return remade{}, err
	}
	return merge(made.Snapshot, points)
}

// compareUser compares the graph of a user that was made with the one that is there, and returns the changes that make the second
// the first, none if it refuses to.
func (r *rebuild) compareUser(u *feed.UserReplay, old *graphstore.Snapshot, mark graphstore.Mark) ([]graphstore.Change, error) {
	user, account := u.Result()
	m, err := r.mergeUser(user)
	if err != nil {
		return nil, err
	}
	r.account, r.log = account, mark.Log
	r.out.Before = countsOfUser(old, old.Digest())
	var after graphstore.Digest
	for c := range m.graph.Records() {
		after.Add(c)
		r.out.Records[kindOf(c)]++
	}
	r.out.After = countsOfUser(m.graph, after)
	r.user(user, m, after)
	r.report()
	d := difference{out: &server.RebuildChanges{New: map[string]int{}, Changed: map[string]int{}, Gone: map[string]int{}, Keys: []string{}}}
	d.compare(old, m.graph)
	r.out.Replaced = d.out
	if r.out.Refused, err = r.refusesUser(d, old); err != nil || r.out.Refused != "" {
		return nil, err
	}
	return d.changes, nil
}

// refusesUser says why what is different is not changed, "" if it is.
func (r *rebuild) refusesUser(d difference, old *graphstore.Snapshot) (string, error) {
	if why, err := r.emptied(func() (bool, error) { return storedOf(old), nil }); err != nil || why != "" {
		return why, err
	}
	switch {
	case r.req.Force:
	case d.said > 0:
		// A stream that was deleted and made again is whole as well, and has nothing.
		return fmt.Sprintf("%d facts, schemas, decisions or tombstones of the user would go, which %s (force does it all the same)", d.said, r.lackText()), nil
	case d.lost > 0 && !r.whole():
		return fmt.Sprintf("%d records of the user would change or go, and %s: they may be what was said there (force does it all the same)", d.lost, r.partText()), nil
	}
	return "", nil
}

func (r *rebuild) lackText() string {
	switch {
	case r.gather == nil:
		return "no event of the stream is about"
	case r.none || r.req.From == server.RebuildFromStore:
		return "no point is about"
	default:
		return "no event of the stream and no point is about"
	}
}

func (r *rebuild) partText() string {
	switch {
	case r.none:
		return "there is no stream"
	case r.req.From == server.RebuildFromStore:
		return "the stream was not read"
	default:
		return "the stream no longer has every event"
	}
}

func countsOfUser(s *graphstore.Snapshot, digest graphstore.Digest) server.RebuildCounts {
	return countsOf(digest, graphstore.Stats{
		Spaces: min(digest.Records(), 1), Facts: s.Facts(), Schemas: s.Count(graphstore.KindSchema), Merges: s.Count(graphstore.KindMerge),
		Tombstones: s.Count(graphstore.KindTombstone),
	})
}

// maxKeys bounds the records that are named.
const maxKeys = 20

// difference is between the graph of a user that is there and the one that it should be.
type difference struct {
	changes []graphstore.Change
	lost    int // records that change or go
	said    int // of those that go, the ones that stand for events and not for what follows from them
	out     *server.RebuildChanges
}

func (d *difference) compare(is, want *graphstore.Snapshot) {
	for c := range want.Records() {
		old, had := is.Record(c.Key())
		switch {
		case !had:
			d.out.New[kindOf(c)]++
		case equalRecords(old, c):
			d.out.Equal++
			continue
		default:
			d.lose(d.out.Changed, c)
		}
		d.changes = append(d.changes, c)
	}
	for c := range is.Records() {
		if _, stays := want.Record(c.Key()); !stays {
			d.lose(d.out.Gone, c)
			if c.Fact != nil && c.Fact.State != graphstore.StateUnseen || c.Schema != nil || c.Merge != nil || c.Tombstone != nil {
				d.said++
			}
			d.changes = append(d.changes, graphstore.DeleteKey(c.Space, c.Key()))
		}
	}
}

func (d *difference) lose(counts map[string]int, c graphstore.Change) {
	d.lost++
	counts[kindOf(c)]++
	if len(d.out.Keys) < maxKeys {
		d.out.Keys = append(d.out.Keys, c.Key().String())
	}
}

// equalRecords compares two records by their canonical form.
func equalRecords(a, b graphstore.Change) bool {
	var d graphstore.Digest
	d.Add(a)
	d.Remove(b)
	return d == graphstore.Digest{}
}
