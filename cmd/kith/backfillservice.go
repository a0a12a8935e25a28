package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

var _ server.Backfills = (*backfills)(nil)

// keptBackfills is how many backfills that have ended are remembered.
const keptBackfills = 20

// aloneTurn is how long a page may take where no events wait for it.
const aloneTurn = 10 * time.Second

// errBackfillStopped is why a backfill ends that nobody cancelled.
var errBackfillStopped = errors.New("the service is stopping")

// errBackfillCancelled is why a backfill ends that somebody did.
var errBackfillCancelled = errors.New("cancelled")

// backfills are those of one run of a service.
type backfills struct {
	s    *service
	work conc.WaitGroup

	mu struct {
		sync.Mutex
		runs   []*backfillRun // oldest first
		closed bool
	}
}

// backfillRun is one of them.
type backfillRun struct {
	run    *backfill.Run
	req    backfill.Request
	began  time.Time
	cancel context.CancelCauseFunc
	done   chan struct{}

	mu struct {
		sync.Mutex
		err       error
		resumable bool
		at        time.Time // when the rate was looked at
		points    int64     // then
		rate      float64
	}
}

// Start implements [server.Backfills].
func (b *backfills) Start(_ context.Context, req backfill.Request) (server.Backfill, error) {
	s := b.s
	if s.host == nil {
		return server.Backfill{}, fmt.Errorf("%w: %s", server.ErrNoGraph, s.sw.RerankRule)
	}
	if !s.serving { // nobody mends the file meanwhile
		if err := s.host.unloadable(); err != nil {
			return server.Backfill{}, err
		}
	}
	plan, err := s.e.projector()
	if err != nil {
		return server.Backfill{}, err
	}
	source, err := s.e.source()
	if err != nil {
		return server.Backfill{}, err
	}
	cfg := backfill.Config{Dir: backfillDir(s.e.cfg), Source: source, Logger: s.e.log, LastSeq: b.lastSeq}
	if !s.serving { // nobody waits
		cfg.TurnTarget = aloneTurn
	}
	override(&cfg.MinScore, s.e.cfg.Project.EdgeMinScore)
	points, err := s.e.mapped(s.vectors)
	if err != nil {
		return server.Backfill{}, err
	}
	worker, err := backfill.New(points, s.host, plan, cfg)
	if err != nil {
		return server.Backfill{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.closed {
		return server.Backfill{}, fmt.Errorf("%w: %w", server.ErrBusy, errBackfillStopped)
	}
	for _, other := range b.mu.runs {
		if other.running() && other.req.Overlaps(req) {
			return server.Backfill{}, fmt.Errorf("%w: backfill %s of %s", server.ErrBusy, other.run.Report().ID, rangeText(other.req))
		}
	}
	// Whoever begins second sees the other: a rebuild looks for backfills after it has begun.
	if name, _ := s.host.maintenance.now(); name == rebuildName {
		return server.Backfill{}, fmt.Errorf("%w: %s", server.ErrBusy, name)
	}
	if !s.erasing.TryLock() {
		return server.Backfill{}, fmt.Errorf("%w: %s", server.ErrBusy, s.erasing.holder())
	}
	s.erasing.Unlock() // one that begins now sees this backfill, since both look under the lock
	run, err := worker.Prepare(req)
	if err != nil {
		return server.Backfill{}, err
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(s.e.ctx))
	r := &backfillRun{run: run, req: req, began: time.Now(), cancel: cancel, done: make(chan struct{})}
	r.mu.at, r.mu.points = r.began, run.Report().Scanned
	b.mu.runs = append(b.mu.runs, r)
	b.forgetOldLocked()
	b.work.Go(func() { b.do(ctx, r) })
	return r.get(), nil
}

func rangeText(req backfill.Request) string {
	if req.UserID == "" {
		return "the whole collection"
	}
	return "user " + req.UserID
}

// forgetOldLocked forgets those that ended longest ago.
func (b *backfills) forgetOldLocked() {
	over := len(b.mu.runs) - keptBackfills
	b.mu.runs = slices.DeleteFunc(b.mu.runs, func(r *backfillRun) bool {
		if over <= 0 || r.running() {
			return false
		}
		over--
		return true
	})
}

func (b *backfills) do(ctx context.Context, r *backfillRun) {
	defer close(r.done)
	defer r.cancel(nil)
	var rep backfill.Account
	var err error
	if p := panics.Try(func() { rep, err = r.run.Do(ctx) }); p != nil {
		err = p.AsError()
	}
	err = namingSetting(err)
	resumable := err != nil && r.run.Resumable()
	r.mu.Lock()
	r.mu.err, r.mu.resumable = err, resumable
	r.mu.Unlock()
	log := b.s.e.log.With("id", rep.ID, "user", r.req.UserID, "scanned", rep.Scanned, "changed", rep.Changed, "took", time.Duration(rep.TookMS)*time.Millisecond)
	if err != nil {
		log.Warn("backfill stopped", "err", err)
		return
	}
	log.Info("backfill done", "unchanged", rep.Unchanged, "skipped", rep.Skipped, "dry_run", r.req.DryRun)
}

// lastSeq asks the stream for its last event, 0 without a stream: also where a new service has not made it yet.
func (b *backfills) lastSeq() (uint64, error) {
	if b.s.js == nil {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(b.s.e.ctx, streamAnswerTime)
	defer cancel()
	stream, err := b.s.js.Stream(ctx, feed.EventStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return stream.CachedInfo().State.LastSeq, nil
}

// busy names a backfill that goes on, "" if none does.
func (b *backfills) busy() string {
	if r := b.oldest(); r != nil {
		return "backfill " + r.run.Report().ID
	}
	return ""
}

// oldest returns the one that has gone on for the longest time, nil if none does.
func (b *backfills) oldest() *backfillRun {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.mu.runs {
		if r.running() {
			return r
		}
	}
	return nil
}

// List implements [server.Backfills].
func (b *backfills) List() []server.Backfill {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]server.Backfill, 0, len(b.mu.runs))
	for _, r := range slices.Backward(b.mu.runs) {
		out = append(out, r.get())
	}
	return out
}

func (b *backfills) find(id string) (*backfillRun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range slices.Backward(b.mu.runs) {
		if r.run.Report().ID == id {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", server.ErrNoBackfill, id)
}

// Get implements [server.Backfills].
func (b *backfills) Get(id string) (server.Backfill, error) {
	r, err := b.find(id)
	if err != nil {
		return server.Backfill{}, err
	}
	return r.get(), nil
}

// Cancel implements [server.Backfills].
func (b *backfills) Cancel(ctx context.Context, id string) (server.Backfill, error) {
	r, err := b.find(id)
	if err != nil {
		return server.Backfill{}, err
	}
	r.cancel(errBackfillCancelled)
	select {
	case <-r.done:
		return r.get(), nil
	case <-ctx.Done():
		return server.Backfill{}, context.Cause(ctx)
	}
}

// close ends those that go on and lets none begin.
func (b *backfills) close() {
	b.mu.Lock()
	b.mu.closed = true
	for _, r := range b.mu.runs {
		r.cancel(errBackfillStopped)
	}
	b.mu.Unlock()
	b.work.Wait()
}

func (r *backfillRun) running() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// get returns how far it is.
func (r *backfillRun) get() server.Backfill {
	out := server.Backfill{Running: r.running(), Report: r.run.Report()} // in this order: one that has ended is whole
	r.mu.Lock()
	defer r.mu.Unlock()
	if !out.Running {
		out.Rate, out.Resumable = meanRate(out.Report), r.mu.resumable
		if r.mu.err != nil {
			out.Error = r.mu.err.Error()
		}
		return out
	}
	if now := time.Now(); now.Sub(r.mu.at) >= time.Second {
		r.mu.rate = float64(out.Report.Scanned-r.mu.points) / now.Sub(r.mu.at).Seconds()
		r.mu.at, r.mu.points = now, out.Report.Scanned
	}
	out.Rate = max(r.mu.rate, 0)
	if left := out.Report.Total - out.Report.Scanned; out.Rate > 0 && left > 0 {
		out.LeftMS = int64(float64(left) / out.Rate * 1000)
	}
	return out
}

// meanRate is how many points a second a run has read, over all of it.
func meanRate(r backfill.Account) float64 {
	if r.TookMS == 0 {
		return 0
	}
	return float64(r.Scanned) / (float64(r.TookMS) / 1000)
}
