package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
)

// report takes in what was read.
func (r *rebuild) report() {
	a, ext := r.account, r.account.Extent
	r.out.Stream = server.RebuildStream{
		None: r.none, Unread: !r.none && r.req.From == server.RebuildFromStore, Noted: r.noted.Last,
		First: ext.First, Last: ext.Last, Oldest: ext.FirstTime, Newest: ext.LastTime, Events: ext.Events,
		Dropped: ext.Dropped, Deleted: max(a.Gapped, uint64(ext.Deleted)), Complete: !r.none && ext.Whole() && a.Gapped == 0,
		Other: r.log != "" && r.log != ext.Log,
	}
	for _, g := range a.Gaps {
		r.out.Stream.Gaps = append(r.out.Stream.Gaps, server.SeqGap{From: g.From, To: g.To})
	}
	clear(r.out.Events)
	for _, typ := range slices.Sorted(maps.Keys(a.Events)) {
		r.out.Events[string(typ)] = a.Events[typ]
	}
	r.out.Problems = r.out.Problems[:0]
	for _, p := range a.Problems {
		r.out.Problems = append(r.out.Problems, server.RebuildProblem{
			Seq: p.Seq, Reason: string(p.Reason), EventID: p.EventID, UserID: p.User, Error: p.Err.Error(), Unburied: p.Unburied,
		})
	}
	r.out.Bad, r.out.BadFacts, r.out.Unburied, r.out.Passes = a.Bad, a.BadFacts, a.Unburied, a.Passes
	r.out.Deferred = a.Report.DeferredTriples
	r.out.Log, r.out.UpToSeq = ext.Log, a.Mark(ext.Settled).Seq
	r.out.Origins, r.out.OriginsAll = r.origins, server.RebuildOrigins{}
	for _, o := range r.origins {
		r.out.OriginsAll.Add(o)
	}
	r.reportPoints()
	r.out.Missing = r.missing()
	r.shorten()
}

// reportPoints takes in the account of the points.
func (r *rebuild) reportPoints() {
	if r.gather == nil {
		return
	}
	a := r.gather.Account()
	r.out.Points = &server.RebuildPoints{
		Total: a.Total, Scanned: a.Scanned, Facts: a.Changed + a.Unchanged + a.Forgotten, Users: r.users, Skipped: a.Skipped, Duplicates: a.Duplicates,
		BadFacts: a.BadFacts, BadVectors: a.BadVectors, Forgotten: a.Forgotten, Settled: a.Changed, Searches: a.Searches, Problems: a.Problems,
	}
}

// whole reports whether the stream was read and has every event that the graph was made of.
func (r *rebuild) whole() bool {
	s := r.out.Stream
	return s.Complete && !s.Other && !s.Unread
}

// loses says what would be lost by taking the new graph instead of one with these counts, "" for nothing. A stream that lacks events may lack what tombstones and
// decisions came from, of which a graph is not whole however many facts it has.
func (r *rebuild) loses(b server.RebuildCounts) string {
	a := r.out.After
	counts := []struct {
		of            string
		before, after int
		whole         bool // counts although the stream has every event
	}{
		{"users", b.Users, a.Users, true},
		{"facts", b.Facts, a.Facts, true},
		{"schemas", b.Schemas, a.Schemas, true},
		{"rows of the merge log", b.Merges, a.Merges, true},
		{"tombstones", b.Tombstones, a.Tombstones, true},
		{"records in all", b.Records, a.Records, false},
	}
	whole := r.whole()
	var less []string
	for _, c := range counts {
		if c.after < c.before && (c.whole || !whole) {
			less = append(less, fmt.Sprintf("%d %s instead of %d", c.after, c.of, c.before))
		}
	}
	if len(less) == 0 {
		return ""
	}
	return r.source() + " makes " + strings.Join(less, ", ")
}

// source names what the graph is made of.
func (r *rebuild) source() string {
	switch {
	case r.gather == nil:
		return "what the stream holds"
	case r.none || r.req.From == server.RebuildFromStore:
		return "what the vector store holds"
	default:
		return "what stream and vector store hold"
	}
}

// settle raises the mark of a graph that was built and is in its place, now that it is known what is bad. settled is up to where
// the dead letters are stored. A graph that claims less is right as well: some events are then projected again, without
// effect.
func (r *rebuild) settle(ctx context.Context, file *graphFile, b built, settled uint64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamAnswerTime)
	defer cancel()
	mark := r.account.Mark(max(settled, r.account.Extent.Settled)) // zero without a stream, which keeps the one that is there
	err := file.trust(ctx, func(_ context.Context, head graphstore.Head) error {
		if head.Digest != b.head.Digest {
			return fmt.Errorf("%w: digest %s after it was taken up, %s when it was written", graphstore.ErrDamaged, head.Digest, b.head.Digest)
		}
		return nil
	})
	if err == nil {
		err = file.ApplyMarked(ctx, nil, mark)
	}
	if err != nil {
		r.e.log.Warn("rebuilt graph could not record how far it is: some events are projected again", "mark", mark.Seq, "err", err)
		return
	}
	r.out.UpToSeq = mark.Seq
}
