package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// Making a graph again from the stream, whole or one user's, by a running service or on the files:
//
//   - Whole: a replay makes the users' graphs in memory, as many at a time as fit, and hands their records to a bulk load in
//     a process of its own, into a file beside the graph's, which then changes places with it. What is killed or
//     cancelled before that leaves the graph as it was; what is killed after it has the new one, whole.
//   - One user's: a replay makes it in memory, and what is different is changed in one transaction.
//
// A running service goes on projecting meanwhile. Only for the last step it stops for a moment (see turns); the new graph
// says how far it is, and events since are projected again.

// rebuild is one of them at work.
type rebuild struct {
	e      *env
	req    server.RebuildRequest
	replay *feed.Replay
	state  *rebuildState
	start  time.Time
	log    string // of the stream that the graph was made of that was there; empty: unknown

	account *feed.Replayed
	out     server.Rebuild
}

// streamAnswerTime is how long the stream may take to say what it has.
const streamAnswerTime = 10 * time.Second

func (e *env) newRebuild(js jetstream.JetStream, req server.RebuildRequest, state *rebuildState) (*rebuild, error) {
	plan, err := e.projector()
	if err != nil {
		return nil, err
	}
	replay, err := feed.NewReplay(js, plan, feed.ReplayConfig{
		Limits: e.feedConfig().Limits, MaxBytes: e.cfg.Graph.MemoryBytes, Progress: state.replaying, Logger: e.log,
	})
	if err != nil {
		return nil, err
	}
	return &rebuild{
		e: e, req: req, replay: replay, state: state, start: time.Now(),
		out: server.Rebuild{UserID: req.UserID, Events: map[string]int{}, Records: map[string]int{}, Problems: []server.RebuildProblem{}, PerUser: []server.RebuildUser{}},
	}, nil
}

// extent asks the stream what it has.
func (r *rebuild) extent(ctx context.Context) (feed.Extent, error) {
	ctx, cancel := context.WithTimeout(ctx, streamAnswerTime)
	defer cancel()
	ext, err := r.replay.Extent(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = fmt.Errorf("%w: there is no stream to rebuild from: %w", server.ErrBadRequest, err)
	}
	return ext, err
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

// build makes the whole graph in a file beside that of the graph.
func (r *rebuild) build(ctx context.Context, file *graphFile) (built, error) {
	r.state.phase("reading the stream")
	ext, err := r.extent(ctx)
	if err != nil {
		return built{}, err
	}
	if r.out.GraphID == "" {
		r.out.GraphID = uuid.NewString()
	}
	// What is among the dead letters for certain; raised when it is known what is bad (see settle).
	mark := graphstore.Mark{Log: ext.Log, Seq: min(ext.Settled, ext.Last)}
	var replayed time.Duration
	all := func(yield func(graphstore.Change) error) (err error) {
		start, yielding := time.Now(), time.Duration(0)
		r.account, err = r.replay.All(ctx, ext, func(u *feed.ReplayedUser) error {
			began := time.Now()
			defer func() { yielding += time.Since(began) }()
			return r.yieldUser(u, yield)
		})
		replayed = time.Since(start) - yielding
		r.state.phase("writing the file")
		return err
	}
	start := time.Now()
	b, err := file.build(ctx, r.out.GraphID, mark, all)
	if err != nil {
		return b, errors.Join(fmt.Errorf("write graph from the stream: %w", err), removeGraph(b.path))
	}
	r.out.ReadMS, r.out.WriteMS = replayed.Milliseconds(), (time.Since(start) - replayed).Milliseconds()
	r.out.After = countsOf(b.head.Digest, b.stats)
	r.out.FileBytes = b.stats.Bytes
	r.report()
	return b, nil
}

// yieldUser yields the records of a user and counts them.
func (r *rebuild) yieldUser(u *feed.ReplayedUser, yield func(graphstore.Change) error) error {
	var digest graphstore.Digest
	for c := range u.Snapshot.Records() {
		if err := yield(c); err != nil {
			return err
		}
		digest.Add(c)
		r.out.Records[kindOf(c)]++
	}
	r.state.wrote(digest.Records())
	r.user(u, digest)
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
func (r *rebuild) user(u *feed.ReplayedUser, digest graphstore.Digest) {
	r.out.Users++
	r.out.Unseen += u.Snapshot.Unseen()
	r.out.PerUser = append(r.out.PerUser, server.RebuildUser{
		UserID: u.Space.UserID(), Events: u.Events, Bad: u.Bad, BadFacts: u.BadFacts, Facts: u.Snapshot.Facts(),
		Records: digest.Records(), Digest: digest.String(),
	})
	if len(r.out.PerUser) >= 2*maxListed {
		r.shorten()
	}
}

// shorten keeps the users with the most events.
func (r *rebuild) shorten() {
	slices.SortStableFunc(r.out.PerUser, func(a, b server.RebuildUser) int { return b.Events - a.Events })
	r.out.PerUser = r.out.PerUser[:min(len(r.out.PerUser), maxListed)]
}

// report takes in the account of the replay.
func (r *rebuild) report() {
	a, ext := r.account, r.account.Extent
	r.out.Stream = server.RebuildStream{
		First: ext.First, Last: ext.Last, Oldest: ext.FirstTime, Newest: ext.LastTime, Events: ext.Events,
		Dropped: ext.Dropped, Deleted: max(a.Gapped, uint64(ext.Deleted)), Complete: ext.Whole() && a.Gapped == 0,
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
	r.shorten()
}

// loses says what would be lost by taking the new graph, "" for nothing. A stream that lacks events may lack what tombstones and
// decisions came from, of which a graph is not whole however many facts it has.
func (r *rebuild) loses() string {
	b, a := r.out.Before, r.out.After
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
	whole := r.out.Stream.Complete && !r.out.Stream.Other
	var less []string
	for _, c := range counts {
		if c.after < c.before && (c.whole || !whole) {
			less = append(less, fmt.Sprintf("%d %s instead of %d", c.after, c.of, c.before))
		}
	}
	if len(less) == 0 {
		return ""
	}
	return "what the stream holds makes " + strings.Join(less, ", ")
}

// settle raises the mark of a graph that was built and is in its place, now that it is known what is bad. settled is up to where
// the dead letters are stored. A graph that claims less is right as well: some events are then projected again, without
// effect.
func (r *rebuild) settle(ctx context.Context, file *graphFile, b built, settled uint64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamAnswerTime)
	defer cancel()
	mark := r.account.Mark(max(settled, r.account.Extent.Settled))
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
