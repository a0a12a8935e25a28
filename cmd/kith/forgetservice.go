package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/canary"
	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
	"github.com/kithgraph/kith/vdb"
)

// Erasing a user, in an order in which every step may be the last one before a crash: the same command, given again, goes
// through all of them.
//
//  1. The event is published that says so, and projected: what is searched is without the user from then on, durably,
//     and in every graph that is built from the log later.
//  2. What means nothing any more with that event in the log is erased from the log, and the points of the user.
//  3. The graph's file is written anew: the engine never gives bytes back.
//
// While 2 and 3 go on there is no other maintenance: a backup would copy what is being erased.

// eraseFeedWait is how long an erasure waits for projection to begin.
const eraseFeedWait = time.Minute

// erasing keeps a service to one erasure at a time.
type erasing struct {
	sync.Mutex
	by atomic.Pointer[string] // what has it for something else than an erasure
}

// try takes it for something else, as a repair, which must not bring back a user who is being erased. The caller unlocks it.
func (e *erasing) try(what string) bool {
	if !e.TryLock() {
		return false
	}
	e.by.Store(&what)
	return true
}

// free gives back what try has taken.
func (e *erasing) free() {
	e.by.Store(nil)
	e.Unlock()
}

// holder says what has it.
func (e *erasing) holder() string {
	if by := e.by.Load(); by != nil {
		return *by
	}
	return "erasure of a user"
}

// forgetting is one erasure at work.
type forgetting struct {
	s      *service
	req    server.ForgetRequest
	space  graphstore.Space
	eraser *feed.Eraser
	what   feed.Erasure
	texts  *canary.Set // nil without a verification
	given  []canary.Canary
	out    server.Forgotten
}

// Forget erases a user.
func (s *service) Forget(ctx context.Context, req server.ForgetRequest) (server.Forgotten, error) {
	start := time.Now()
	f, err := s.newForgetting(req)
	if err != nil {
		return server.Forgotten{}, err
	}
	if !s.erasing.TryLock() {
		return server.Forgotten{}, fmt.Errorf("%w: %s", server.ErrBusy, s.erasing.holder())
	}
	defer s.erasing.Unlock()
	if name := s.backfills.busy(); name != "" && !req.DryRun && !req.VerifyOnly { // it has points of users in hand and in files
		return server.Forgotten{}, fmt.Errorf("%w: %s", server.ErrBusy, name)
	}
	if other, _ := s.host.maintenance.now(); other != "" {
		return server.Forgotten{}, fmt.Errorf("%w: %s", server.ErrBusy, other)
	}
	err = f.run(ctx)
	f.out.TookMS = time.Since(start).Milliseconds()
	return f.out, err
}

func (s *service) newForgetting(req server.ForgetRequest) (*forgetting, error) {
	space, err := graphstore.NewSpace(req.UserID)
	if err != nil {
		return nil, fmt.Errorf("%w: user %w", server.ErrBadRequest, err)
	}
	if req.VerifyOnly && (req.DryRun || req.Points || req.OldCopies) {
		return nil, fmt.Errorf("%w: verify_only erases nothing: not together with dry_run, points or old_copies", server.ErrBadRequest)
	}
	if req.DryRun && req.Verify {
		return nil, fmt.Errorf("%w: dry_run erases nothing that verify could look for", server.ErrBadRequest)
	}
	given, err := canary.Given(req.Canaries)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", server.ErrBadRequest, err)
	}
	if s.host == nil || s.js == nil || !s.sw.Write {
		return nil, fmt.Errorf("%w: this service does not project events (%s): stop it, and give the command again, which then works on the files",
			server.ErrNoGraph, s.sw.WriteRule)
	}
	eraser, err := feed.NewEraser(s.js, 0)
	if err != nil {
		return nil, err
	}
	return &forgetting{s: s, req: req, space: space, eraser: eraser, given: given, out: server.Forgotten{UserID: req.UserID, DryRun: req.DryRun}}, nil
}

// embedded reports whether the vector store's file is in the data directory.
func (f *forgetting) embedded() bool { return f.s.e.cfg.Qdrant.URL == "" }

func (f *forgetting) run(ctx context.Context) error {
	if err := f.step("wait until what was published before is projected", func() error { return f.catchUp(ctx) }); err != nil {
		return err
	}
	var err error
	if f.out.OldCopies, err = oldCopies(f.s.e.cfg); err != nil {
		return err
	}
	switch {
	case f.req.VerifyOnly:
		return f.verifyOnly(ctx)
	case f.req.DryRun:
		return f.dryRun(ctx)
	}
	if err := f.erase(ctx); err != nil {
		return err
	}
	if f.req.Verify {
		return f.step("look whether anything is left", func() error { return f.verify(ctx) })
	}
	return nil
}

// step does one step and notes how long it took.
func (f *forgetting) step(name string, work func() error) error {
	start := time.Now()
	if err := work(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f.out.Steps = append(f.out.Steps, server.ForgotStep{Step: name, TookMS: time.Since(start).Milliseconds()})
	return nil
}

// catchUp waits until everything that is in the stream is projected, so that what is counted is what there is.
func (f *forgetting) catchUp(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, eraseFeedWait)
	defer cancel()
	host := f.s.host
	if host.feed.Load() == nil {
		select {
		case <-host.fed:
		case <-host.live.Load().Failed():
			_, err := host.View(probeSpace())
			return fmt.Errorf("%w: %w", server.ErrNoGraph, err)
		case <-waiting.Done():
			return fmt.Errorf("%w: projection has not begun: %w", server.ErrNoGraph, waiting.Err())
		}
	}
	last, err := f.eraser.Last(ctx, feed.EventStream)
	if err != nil {
		return err
	}
	return host.waitApplied(ctx, last)
}

func (f *forgetting) dryRun(ctx context.Context) error {
	return f.step("count", func() error {
		f.what = feed.Erasure{UserID: f.req.UserID, At: graphstore.InstantOf(time.Now())}
		erased, err := f.eraser.Count(ctx, f.what)
		if err != nil {
			return err
		}
		f.countedLog(erased)
		n, err := f.countPoints(ctx)
		if f.embedded() || f.req.Points {
			f.out.Points.Erased = n
		} else {
			f.out.Points.Remaining = n
		}
		return errors.Join(err, f.countGraph(ctx))
	})
}

// erase does the three steps.
func (f *forgetting) erase(ctx context.Context) error {
	if err := f.step("count what the graph has", func() error { return f.countGraph(ctx) }); err != nil {
		return err
	}
	if f.req.Verify {
		if err := f.step("take texts to search for", func() error { return f.collect(ctx) }); err != nil {
			return err
		}
	}
	if err := f.step("publish that the user is forgotten, and project it", func() error { return f.forget(ctx) }); err != nil {
		return err
	}
	err := f.s.host.maintenance.wait(ctx, "erasure of a user", func() error {
		return errors.Join(
			f.step("erase events and dead letters", func() error { return f.eraseLog(ctx) }),
			f.step("erase points", func() error { return f.erasePoints(ctx) }),
			f.step("remove what interrupted backfills and rebuilds keep", func() error {
				return errors.Join(os.RemoveAll(backfillDir(f.s.e.cfg)), os.RemoveAll(rebuildDir(f.s.e.cfg)))
			}),
			f.step("remove old copies", func() error { return f.eraseOldCopies() }),
			f.step("write the graph's file anew", func() error { return f.compact(ctx) }),
		)
	})
	if err != nil {
		return fmt.Errorf("the user is forgotten, but not all is erased, give the command again: %w", err)
	}
	f.say()
	f.s.e.log.Info("user erased", "sequence", f.out.Sequence, "facts", f.out.Graph.Facts, "events", f.out.Log.Events, "dead", f.out.Log.Dead, "points", f.out.Points.Erased)
	return nil
}

// forget publishes the event and waits until the graph has its tombstone.
func (f *forgetting) forget(ctx context.Context) error {
	p, err := f.s.e.newPublisher(ctx, f.s.js)
	if err != nil {
		return err
	}
	defer p.Close()
	ev, err := projector.NewEvent(uuid.NewString(), "kith", time.Now(), f.req.UserID, projector.UserForgotten{})
	if err != nil {
		return err
	}
	receipt, err := p.PublishEvent(ctx, ev)
	if err != nil {
		return err
	}
	f.out.At, f.out.EventID, f.out.Sequence = ev.Time.Time(), ev.ID, receipt.Sequence
	f.what = feed.Erasure{UserID: f.req.UserID, Sequence: receipt.Sequence, At: ev.Time}
	if err := f.s.host.waitApplied(ctx, receipt.Sequence); err != nil {
		return fmt.Errorf("wait until event %d is projected: %w", receipt.Sequence, err)
	}
	at, err := f.forgottenAt(ctx)
	if err != nil {
		return err
	}
	if at < ev.Time {
		return fmt.Errorf("event %d was not projected: see the dead letters", receipt.Sequence)
	}
	return nil
}

// waitApplied waits until an event is projected, whichever feed does it: there is a new one when the graph was loaded anew. It
// gives up when projection has ended by itself.
func (h *graphHost) waitApplied(ctx context.Context, seq uint64) error {
	return h.waitOn(ctx, seq, func(ctx context.Context) error { return h.feed.Load().WaitApplied(ctx, seq) })
}

// How long one feed is waited for at a time, and how long the next one when it has stopped.
const (
	feedWait = time.Second
	nextFeed = feedWait / 10
)

func (h *graphHost) waitOn(ctx context.Context, seq uint64, applied func(context.Context) error) error {
	for said := time.Now(); ; {
		waiting, cancel := context.WithTimeout(ctx, feedWait)
		err := applied(waiting)
		stopped := waiting.Err() == nil // the feed has, and another one begins
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if ended := h.ended.Load(); ended != nil {
			return fmt.Errorf("projection has ended: %w", *ended)
		}
		if time.Since(said) > 10*feedWait {
			said = time.Now()
			h.e.log.Info("waiting for an event to be projected", "sequence", seq, "last", err)
		}
		if stopped {
			select {
			case <-time.After(nextFeed):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

func (f *forgetting) eraseLog(ctx context.Context) error {
	const every = 10 * time.Second
	said := time.Now()
	erased, err := f.eraser.Erase(ctx, f.what, func(sofar feed.Erased) {
		if time.Since(said) > every {
			said = time.Now()
			f.s.e.log.Info("erasing a user's messages", "events", sofar.Events, "dead", sofar.Dead)
		}
	})
	f.countedLog(erased)
	return err
}

func (f *forgetting) countedLog(e feed.Erased) {
	f.out.Log = server.ForgottenLog{Events: e.Events, Dead: e.Dead, Later: e.Later, Read: e.Read}
}

// erasePoints erases the points where that is kith's to do, else counts them.
func (f *forgetting) erasePoints(ctx context.Context) (err error) {
	if !f.embedded() && !f.req.Points {
		f.out.Points.Remaining, err = f.countPoints(ctx)
		return err
	}
	f.namePoints()
	f.out.Points.Erased, err = f.s.vectors.Erase(ctx, f.space)
	if errors.Is(err, vdb.ErrNoCollection) {
		return nil
	}
	return err
}

// countPoints counts the points of the user. A collection that is not there has none.
func (f *forgetting) countPoints(ctx context.Context) (int64, error) {
	f.namePoints()
	n, err := f.s.vectors.Count(ctx, f.space)
	if errors.Is(err, vdb.ErrNoCollection) {
		return 0, nil
	}
	return n, err
}

func (f *forgetting) namePoints() {
	f.out.Points.Store, f.out.Points.Driver = f.s.e.vectorsName(), "qdrant"
	if f.embedded() {
		f.out.Points.Driver = "sqlite"
	}
}

func (f *forgetting) eraseOldCopies() error {
	if !f.req.OldCopies {
		return nil
	}
	return removeOldCopies(f.s.e.cfg, f.out.OldCopies)
}

func (f *forgetting) compact(ctx context.Context) error {
	start := time.Now()
	c, err := f.s.host.compact(ctx)
	if err != nil {
		return err
	}
	c.TookMS = time.Since(start).Milliseconds()
	f.out.Compaction = &c
	return nil
}

// say fills in where it was looked and what remains.
func (f *forgetting) say() {
	cfg := f.s.e.cfg
	nats := "the stream in " + natsDir(cfg)
	if cfg.NATS.URL != "" {
		nats = "NATS at " + config.MaskURLs(cfg.NATS.URL)
	}
	f.out.Looked = []string{
		"streams " + feed.EventStream + " and " + feed.DeadStream + ", every message: " + nats,
		"graph in memory, and its file " + graphPath(cfg), "vector store " + f.out.Points.Store, "old copies of graphs in " + cfg.DataDir,
	}
	remain := []string{fmt.Sprintf("the user's id and the time %s, and nothing else: in event %d of %s and in a tombstone of the graph, so that older events do not come back",
		f.out.At.Format(time.RFC3339Nano), f.out.Sequence, feed.EventStream)}
	if cfg.NATS.URL == "" {
		remain = append(remain, "for up to three minutes the names of the subjects that the user's events had, in the NATS server's index")
	} else {
		remain = append(remain, "what the NATS server keeps besides the streams: mirrors, snapshots and backups of its own; on a server that encrypts its files, the encrypted bytes until it writes them anew")
	}
	if n := f.out.Log.Later; n > 0 {
		remain = append(remain, fmt.Sprintf("%d messages of the user that are dated later, and what they made (if a producer's clock is ahead, give the command again)", n))
	}
	if n := f.out.Points.Remaining; n > 0 {
		remain = append(remain, fmt.Sprintf("%d points in %s: they are the memory system's to delete (--points deletes them)", n, f.out.Points.Store))
	}
	for _, c := range f.out.OldCopies {
		if !c.Erased {
			remain = append(remain, fmt.Sprintf("%s, an old copy of a whole graph (--old-copies removes those of all users)", c.Path))
		}
	}
	if g := cfg.Standby; g.On {
		remain = append(remain, fmt.Sprintf("the files of the other services of the group %s: their graphs forget by the same event, and each needs its own kith compact and kith forget --verify-only",
			g.Group))
	}
	f.out.Remains = append(remain, "backups, and logs of services: wherever they are, they were not looked at",
		"what the file system or the disk keeps in blocks that are free now: kith replaces files, it does not overwrite disks")
}
