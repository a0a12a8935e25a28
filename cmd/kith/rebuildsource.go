package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
	"github.com/kithgraph/kith/vdb"
)

// What a rebuild reads, in an order that leaves no gap: the end of the stream is noted, the points are read, and then the stream is
// read up to its end at that time. What an event up to the noted end wrote is in the points, or in the stream as far as
// that retains it; what a later one writes is in the stream. An event that arrives after the stream was read the feed
// projects, from the mark of the new graph on.

// streamAnswerTime is how long the stream may take to say what it has.
const streamAnswerTime = 10 * time.Second

// storeAskTime is how long the vector store may take to say, before anything is done, how many points it has.
const storeAskTime = 30 * time.Second

// rebuildDir is where a rebuild keeps the facts of points while it is at work.
func rebuildDir(c config.Config) string { return filepath.Join(c.DataDir, "rebuild") }

// sweepRebuild removes what a rebuild that was killed has left.
func sweepRebuild(c config.Config) error {
	if err := os.RemoveAll(rebuildDir(c)); err != nil {
		return fmt.Errorf("remove facts of an earlier rebuild: %w", err)
	}
	return nil
}

// rebuildRequest returns the request with its defaults, or what is wrong with it.
func rebuildRequest(req server.RebuildRequest) (server.RebuildRequest, error) {
	req.From = cmp.Or(req.From, server.RebuildFromBoth)
	all := []string{server.RebuildFromBoth, server.RebuildFromLog, server.RebuildFromStore}
	switch {
	case !slices.Contains(all, req.From):
		return req, fmt.Errorf("%w: from %s: want one of %v", server.ErrBadRequest, graphstore.Shorten(req.From), all)
	case req.From == server.RebuildFromLog && req.NoNeighbors:
		return req, fmt.Errorf("%w: no_neighbors: from the event stream alone no neighbours are searched for anyway", server.ErrBadRequest)
	}
	return req, nil
}

// rebuildSpace returns the user, zero for the whole graph, or what is wrong with the name.
func rebuildSpace(req server.RebuildRequest) (graphstore.Space, error) {
	if req.UserID == "" {
		return graphstore.Space{}, nil
	}
	return graphstore.NewSpace(req.UserID)
}

// newReplay returns what reads the stream.
func (r *rebuild) newReplay(js jetstream.JetStream, plan *projector.Projector) (err error) {
	r.replay, err = feed.NewReplay(js, plan, feed.ReplayConfig{
		Limits: r.e.feedConfig().Limits, MaxBytes: r.e.cfg.Graph.MemoryBytes, Progress: r.state.replaying, Group: r.part, Logger: r.e.log,
	})
	return err
}

// part has users yielded together whose points are in memory together.
func (r *rebuild) part(user string) int {
	if r.gather == nil {
		return 0
	}
	return r.gather.Part(user)
}

// newGather returns what reads the points.
func (r *rebuild) newGather(store vdb.Store, plan *projector.Projector) error {
	points, err := r.e.mapped(store)
	if err != nil {
		return err
	}
	cfg := backfill.Config{Dir: rebuildDir(r.e.cfg), Logger: r.e.log}
	override(&cfg.MinScore, r.e.cfg.Project.EdgeMinScore)
	b, err := backfill.New(points, nil, plan, cfg)
	if err != nil {
		return err
	}
	r.gather, err = b.NewGather(backfill.GatherRequest{UserID: r.req.UserID, NoNeighbors: r.req.NoNeighbors})
	return err
}

// extent asks the stream what it has. That there is none is an error only where there is no other source.
func (r *rebuild) extent(ctx context.Context) (feed.Extent, error) {
	ctx, cancel := context.WithTimeout(ctx, streamAnswerTime)
	defer cancel()
	ext, err := r.replay.Extent(ctx)
	r.none = errors.Is(err, jetstream.ErrStreamNotFound)
	switch {
	case r.none && r.req.From == server.RebuildFromLog:
		return ext, fmt.Errorf("%w: there is no stream to rebuild from: %w", server.ErrBadRequest, err)
	case r.none:
		return feed.Extent{}, nil
	case err == nil && r.noted.Log != "" && r.noted.Log != ext.Log:
		return ext, fmt.Errorf("the stream was made again meanwhile: its events are of %s, those before of %s", ext.Log, r.noted.Log)
	}
	return ext, err
}

// ask asks the sources what they have, before anything is done.
func (r *rebuild) ask(ctx context.Context) (err error) {
	r.state.phase("asking stream and vector store")
	if r.noted, err = r.extent(ctx); err != nil || r.gather == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeAskTime)
	defer cancel()
	if _, err = r.gather.Total(ctx); err != nil {
		return fmt.Errorf("nothing was done (from the event stream alone it can be): %w", namingSetting(err))
	}
	return nil
}

// scan reads the points.
func (r *rebuild) scan(ctx context.Context) error {
	if r.gather == nil {
		return nil
	}
	r.state.scanning(r.gather)
	start := time.Now()
	if err := r.gather.Scan(ctx); err != nil {
		return fmt.Errorf("read the vector store: %w", err)
	}
	r.out.ScanMS = time.Since(start).Milliseconds()
	return nil
}

// close removes what the rebuild has kept in files.
func (r *rebuild) close() {
	if r.gather == nil {
		return
	}
	if err := r.gather.Close(); err != nil {
		r.e.log.Warn("facts that a rebuild had read stay in files", "dir", rebuildDir(r.e.cfg), "err", err)
	}
}

// emptied says why points that are none are not believed, "" if they are: where the graph has something from a store, the store, or the
// mapping of its fields, is more likely the wrong one than empty.
func (r *rebuild) emptied(hasStored func() (bool, error)) (string, error) {
	if r.gather == nil || r.req.Force {
		return "", nil
	}
	a := r.gather.Account()
	if a.Scanned > a.Skipped {
		return "", nil
	}
	stored, err := hasStored()
	if err != nil || !stored {
		return "", err
	}
	what := "the vector store has no points"
	if r.req.UserID != "" {
		what += " of the user"
	}
	if a.Skipped > 0 {
		what = fmt.Sprintf("none of the %d points of the vector store is a fact of a user", a.Skipped)
	}
	return what + ", and the graph has what came from one: is it the right collection? (force does it all the same, and from the event stream alone it is not asked)", nil
}

// errFound ends the reading of a graph when what was looked for is found.
var errFound = errors.New("found")

// storedIn reports whether a store has something that came from a vector store.
func storedIn(ctx context.Context, file graphstore.Store) (bool, error) {
	err := file.LoadAll(ctx, func(c graphstore.Change) error {
		if fromStore(c) {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for what came from a vector store: %w", err)
	}
	return false, nil
}

// storedOf reports whether one user's graph has.
func storedOf(s *graphstore.Snapshot) bool {
	for c := range s.Records() {
		if fromStore(c) {
			return true
		}
	}
	return false
}

// fromStore reports whether something of a fact came from a vector store.
func fromStore(c graphstore.Change) bool {
	if c.Fact == nil {
		return false
	}
	reg := c.Fact.Registers
	return projector.FromStore(reg.State) || projector.FromStore(reg.Base) ||
		slices.ContainsFunc(reg.Fields, func(f graphstore.FieldStamp) bool { return projector.FromStore(f.Stamp) })
}
