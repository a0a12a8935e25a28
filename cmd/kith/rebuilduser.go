package main

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// readUser reads the events of the user that were not read yet.
func (r *rebuild) readUser(ctx context.Context, u *feed.UserReplay) error {
	ext, err := r.extent(ctx)
	if err != nil {
		return err
	}
	return u.Read(ctx, ext)
}

// compareUser compares the graph of a user that the stream gives with the one that is there, and returns the changes that
// make the second the first, none if it refuses to.
func (r *rebuild) compareUser(u *feed.UserReplay, old *graphstore.Snapshot, mark graphstore.Mark) []graphstore.Change {
	made, account := u.Result()
	r.account, r.log = account, mark.Log
	r.out.Before = countsOfUser(old, old.Digest())
	var after graphstore.Digest
	for c := range made.Snapshot.Records() {
		after.Add(c)
		r.out.Records[kindOf(c)]++
	}
	r.out.After = countsOfUser(made.Snapshot, after)
	r.user(made, after)
	r.report()
	d := difference{out: &server.RebuildChanges{New: map[string]int{}, Changed: map[string]int{}, Gone: map[string]int{}, Keys: []string{}}}
	d.compare(old, made.Snapshot)
	r.out.Replaced = d.out
	switch whole := r.out.Stream.Complete && !r.out.Stream.Other; {
	case r.req.Force:
	case d.said > 0:
		// A stream that was deleted and made again is whole as well, and has nothing.
		r.out.Refused = fmt.Sprintf("%d facts, schemas, decisions or tombstones of the user would go, of which the stream has no event (force does it all the same)", d.said)
	case d.lost > 0 && !whole:
		r.out.Refused = fmt.Sprintf("%d records of the user would change or go, and the stream no longer has every event: they may be what those said (force does it all the same)", d.lost)
	}
	if r.out.Refused != "" {
		return nil
	}
	return d.changes
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
