package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
	"github.com/kithgraph/kith/vdb"
)

// Making a graph again from the stream and the vector store, or one of the two, whole or one user's, by a running service or on the
// files:
//
//   - Whole: the points are read into files, a replay of the stream makes the users' graphs in memory, as many at a time as
//     fit, each user's points are planned over the user's graph, and the records go by a bulk load in a process of its own
//     into a file beside the graph's, which then changes places with it. What is killed or cancelled before that leaves the
//     graph as it was; what is killed after it has the new one, whole.
//   - One user's: the same makes it in memory, and what is different is changed in one transaction.
//
// A running service goes on projecting meanwhile. Only for the last step it stops for a moment (see turns); the new graph
// says how far it is, and events since are projected again.

// rebuild is one of them at work.
type rebuild struct {
	e      *env
	req    server.RebuildRequest
	replay *feed.Replay
	gather *backfill.Gather // nil: the vector store is not read
	state  *rebuildState
	start  time.Time
	log    string // of the stream that the graph was made of that was there; empty: unknown

	noted   feed.Extent // the stream before the first point was read
	none    bool        // there is no stream
	account *feed.Replayed
	origins origins
	lacks   lacks
	users   int64 // who have points
	out     server.Rebuild
}

// newRebuild returns a rebuild that has done nothing yet; the caller closes it. Store may be nil for one of the stream alone.
func (e *env) newRebuild(js jetstream.JetStream, store vdb.Store, req server.RebuildRequest, state *rebuildState) (*rebuild, error) {
	plan, err := e.projector()
	if err != nil {
		return nil, err
	}
	r := &rebuild{
		e: e, req: req, state: state, start: time.Now(), origins: origins{}, lacks: lacks{},
		out: server.Rebuild{
			UserID: req.UserID, From: req.From, Events: map[string]int{}, Records: map[string]int{}, Problems: []server.RebuildProblem{},
			PerUser: []server.RebuildUser{}, Missing: []string{},
		},
	}
	if err := r.newReplay(js, plan); err != nil {
		return nil, err
	}
	if req.From == server.RebuildFromLog {
		return r, nil
	}
	return r, r.newGather(store, plan)
}

// before notes what was there, and of what it was made.
func (r *rebuild) before(head graphstore.Head, counts graphstore.Stats) {
	r.out.GraphID, r.log = head.ID, head.Mark.Log
	r.out.Before = countsOf(head.Digest, counts)
}

func countsOf(digest graphstore.Digest, n graphstore.Stats) server.RebuildCounts {
	return server.RebuildCounts{
		Digest: digest.String(), Users: n.Spaces, Facts: n.Facts, Schemas: n.Schemas, Merges: n.Merges, Tombstones: n.Tombstones, Records: digest.Records(),
	}
}

// build makes the whole graph in a file beside that of the graph, when the points have been read.
func (r *rebuild) build(ctx context.Context, file *graphFile) (built, error) {
	r.state.phase("reading the stream")
	ext, err := r.extent(ctx)
	if err != nil {
		return built{}, err
	}
	if r.out.GraphID == "" {
		r.out.GraphID = uuid.NewString()
	}
	var reading time.Duration
	all := func(yield func(graphstore.Change) error) (err error) {
		if reading, err = r.replayAll(ctx, ext, yield); err == nil && r.gather != nil {
			r.state.phase("planning the points of users without events")
			err = r.gather.Rest(ctx, func(p *backfill.Gathered) error { return r.yieldPoints(p, yield) })
		}
		r.state.phase("writing the file")
		return err
	}
	start := time.Now()
	b, err := withBallast(func() (built, error) { return file.build(ctx, r.out.GraphID, r.firstMark(ext), all) })
	if err != nil {
		return b, errors.Join(fmt.Errorf("write graph: %w", err), removeGraph(b.path))
	}
	r.out.ReadMS, r.out.WriteMS = reading.Milliseconds(), (time.Since(start) - reading).Milliseconds()
	r.out.After = countsOf(b.head.Digest, b.stats)
	r.out.FileBytes = b.stats.Bytes
	r.report()
	return b, nil
}

// firstMark is how far the new graph is for certain: up to what is among the dead letters. It is raised when it is known what is
// bad (see settle). A graph of the points alone is as far as the stream was before them: what an event up to there said and
// the points do not is meant to be left out.
func (r *rebuild) firstMark(ext feed.Extent) graphstore.Mark {
	if r.req.From == server.RebuildFromStore {
		return graphstore.Mark{Log: r.noted.Log, Seq: r.noted.Last}
	}
	return graphstore.Mark{Log: ext.Log, Seq: min(ext.Settled, ext.Last)}
}

// replayAll yields the users of the stream, each with what the points make of the user, and returns how long the reading took.
func (r *rebuild) replayAll(ctx context.Context, ext feed.Extent, yield func(graphstore.Change) error) (reading time.Duration, err error) {
	if r.none || r.req.From == server.RebuildFromStore {
		r.account = &feed.Replayed{Extent: r.noted}
		return 0, nil
	}
	start, yielding := time.Now(), time.Duration(0)
	r.account, err = r.replay.All(ctx, ext, func(u *feed.ReplayedUser) error {
		began := time.Now()
		defer func() { yielding += time.Since(began) }()
		return r.yieldUser(u, yield)
	})
	return time.Since(start) - yielding, err
}

// yieldUser yields the records of a user of the stream.
func (r *rebuild) yieldUser(u *feed.ReplayedUser, yield func(graphstore.Change) error) error {
	var points *backfill.Gathered
	if r.gather != nil {
		var err error
		if points, err = r.gather.User(u.Space); err != nil {
			return err
		}
	}
	m, err := merge(u.Snapshot, points)
	if err != nil {
		return err
	}
	return r.yield(u, m, yield)
}

// yieldPoints yields the records of a user of whom there are only points.
func (r *rebuild) yieldPoints(p *backfill.Gathered, yield func(graphstore.Change) error) error {
	u := &feed.ReplayedUser{Space: p.Space(), Snapshot: graphstore.NewSnapshot(p.Space())}
	m, err := merge(u.Snapshot, p)
	if err != nil {
		return err
	}
	return r.yield(u, m, yield)
}

// yield yields the records of a user and counts them.
func (r *rebuild) yield(u *feed.ReplayedUser, m remade, yield func(graphstore.Change) error) error {
	var digest graphstore.Digest
	for c := range m.graph.Records() {
		if err := yield(c); err != nil {
			return err
		}
		digest.Add(c)
		r.out.Records[kindOf(c)]++
	}
	r.state.wrote(digest.Records())
	r.user(u, m, digest)
	return nil
}

func kindOf(c graphstore.Change) string {
	if c.Edge != nil {
		return "edge"
	}
	return c.Key().Kind.String()
}

// maxListed bounds the users that are listed.
const maxListed = 1000

// user takes in what became of a user.
func (r *rebuild) user(u *feed.ReplayedUser, m remade, digest graphstore.Digest) {
	r.out.Users++
	r.out.Unseen += m.graph.Unseen()
	r.lacks.merge(m.lacks)
	if m.points > 0 {
		r.users++
	}
	r.out.PerUser = append(r.out.PerUser, server.RebuildUser{
		UserID: u.Space.UserID(), Events: u.Events, Points: m.points, Bad: u.Bad, BadFacts: u.BadFacts, Facts: m.graph.Facts(),
		Records: digest.Records(), Digest: digest.String(), Origins: r.origins.add(m.origins),
	})
	if len(r.out.PerUser) >= 2*maxListed {
		r.shorten()
	}
}

// shorten keeps the users with the most events and points.
func (r *rebuild) shorten() {
	slices.SortStableFunc(r.out.PerUser, func(a, b server.RebuildUser) int { return b.Events + b.Points - a.Events - a.Points })
	r.out.PerUser = r.out.PerUser[:min(len(r.out.PerUser), maxListed)]
}
