package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/sourcegraph/conc"
)

// errDrain is the cause of the end of work that did not finish within Config.DrainTimeout.
var errDrain = errors.New("drain timeout is over")

// Feed projects the events of the stream into a graph. Create it with [New], run it with [Feed.Run]; the other methods are
// safe for concurrent use, before, during and after Run.
type Feed struct {
	js    jetstream.JetStream
	graph Graph
	cfg   Config
	log   *slog.Logger
	env   env

	progress *progress
	counters counters
	health   health

	ran  atomic.Bool
	kick chan string // reasons to take the consumer up again

	strays chan stray    // found outside of the feed's goroutine, to be buried by it
	again  chan struct{} // ends a pull that may be spent, or whose feed has another role now
	caught caught        // strays that have their dead letters
	looked looked        // belongs to the monitor

	batch atomic.Int64  // size of the next batch
	marks atomic.Uint64 // sequence of the graph's mark
	idle  atomic.Int64  // since when the feed has been waiting for a message, in unix nanoseconds; 0 while it works

	group group
	loop  loopState
}

// env holds what tests replace.
type env struct {
	plan     planFunc
	info     func(ctx context.Context) (*jetstream.ConsumerInfo, error)
	pullWait time.Duration // of one pull for its first message
}

// loopState belongs to the goroutine of Run.
type loopState struct {
	consumer jetstream.Consumer // nil: to be taken up
	created  time.Time          // of the consumer
	seen     time.Time          // when the server last knew that the feed is there
	refused  *string            // id of the graph whose consumer was found in use
	failures int                // in a row
	suspects map[uint64]*suspect
	done     []uint64 // settled and not reported yet

	size  batchSize
	whole int // how many events of the batch in hand are tried together, if it is a full one; else 0

	log     string          // name of the stream's incarnation
	placed  bool            // the consumer has been taken up in this run
	mark    graphstore.Mark // of the graph
	lagging time.Time       // since when the mark has been behind; zero if it is not

	durable jetstream.Consumer  // of the group; it keeps the id of the pin
	own     string              // name of the consumer that a standby reads by
	seat    *seat               // nil: it does not wait for the pin
	claimed jetstream.Msg       // what came with the pin and is to be worked on; nil without such
	stuck   int                 // batches in a row that the graph did not take
	left    map[uint64]struct{} // bad events that a standby leaves to the active one

	undelivered map[uint64]struct{} // messages that wait because their dead letter could not be stored
	buried      map[uint64]struct{} // of what the client had swallowed, those above the floor
	deadErr     error               // the latest of these; nil outside of such an episode
}

// New returns a feed that is ready to run. It does no I/O: js may stand on a connection that is not up yet, and the graph
// need not answer before Run.
func New(js jetstream.JetStream, proj *projector.Projector, graph Graph, cfg Config) (*Feed, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	f := &Feed{
		js: js, graph: graph, cfg: cfg, log: cfg.Logger.With("component", "feed"),
		progress: newProgress(), kick: make(chan string, 1),
		strays: make(chan stray, looksPerAsk), again: make(chan struct{}, 1), looked: looked{},
	}
	f.env = env{plan: proj.Plan, info: f.consumerInfo, pullWait: idleWait}
	f.loop.suspects = map[uint64]*suspect{}
	f.loop.size = newBatchSize(cfg.BatchSize, cfg.CommitTarget)
	f.batch.Store(int64(f.loop.size.now))
	f.marked(cfg.Mark)
	f.loop.undelivered, f.loop.buried, f.loop.left = map[uint64]struct{}{}, map[uint64]struct{}{}, map[uint64]struct{}{}
	return f, nil
}

// Run projects events until the context ends. It waits for the server and the streams for as long as it takes;
// [Feed.Status] tells what it waits for. A consumer that feeds another graph is such a wait too (a *[ForeignConsumerError]
// in Status.LastError); one that nobody uses is made again, after it was watched for about RetryMax and five seconds. A
// consumer that has more acknowledged than the graph has by Config.Mark is made again too; see [Status].Rewound.
//
// The graph must answer before Run is called (with live.Graph: call it after Loaded). Otherwise the first batch waits in
// Snapshot for the graph with the messages in hand, and a stop waits with it until Config.DrainTimeout is over.
//
// When the context ends Run stops pulling, commits and acknowledges the batch in hand within Config.DrainTimeout, records
// the graph's mark if it lags, and returns nil. It returns an error if that time was not enough (the batch is then delivered again, nothing is lost), if
// an existing stream is unfit (a *[StreamMismatchError]), or if the connection was closed. It may be called once.
func (f *Feed) Run(ctx context.Context) error {
	if f.ran.Swap(true) {
		return errors.New("feed: run: has run already: make a new feed")
	}
	defer f.progress.stop()
	work, release := f.workContext(ctx)
	defer release()

	var background conc.WaitGroup
	defer background.Wait()
	watch, endWatch := context.WithCancel(ctx)
	defer endWatch()
	background.Go(func() { f.monitor(watch) })
	background.Go(func() { f.catchStrays(watch) })
	err := f.cycle(ctx, work)
	f.leaveMark(work)
	f.vacate(work)
	return errors.Join(err, f.flush(ctx))
}

// workContext returns a context that outlives ctx by the drain timeout.
func (f *Feed) workContext(ctx context.Context) (context.Context, func()) {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		drain := time.AfterFunc(f.cfg.DrainTimeout, func() { cancel(errDrain) })
		context.AfterFunc(work, func() { drain.Stop() })
	})
	return work, func() { stop(); cancel(nil) }
}

// cycle repeats the one cycle of the feed. ctx ends the pulling, work ends the work on a batch.
func (f *Feed) cycle(ctx, work context.Context) error {
	for ctx.Err() == nil {
		err := f.once(ctx, work)
		if err == nil {
			f.recovered()
		}
		f.report()
		f.timeMark(time.Now())
		var unfit *StreamMismatchError
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return stopError(work, err)
		case errors.As(err, &unfit), errors.Is(err, nats.ErrConnectionClosed):
			f.health.failed(err)
			return fmt.Errorf("feed: %w", err)
		}
		f.trouble(err)
		sleep(ctx, f.cfg.backoff(f.loop.failures))
	}
	return nil
}

// stopError returns what a stop leaves to be reported: nothing, unless work in hand had to be cut off.
func stopError(work context.Context, err error) error {
	if work.Err() == nil {
		return nil
	}
	return fmt.Errorf("feed: stop: the batch in hand will be delivered again: %w: %w", context.Cause(work), err)
}

// once takes up the consumer if need be, pulls a batch and projects it. Having waited for a while without a message is no
// error.
func (f *Feed) once(ctx, work context.Context) error {
	if _, err := f.attached(ctx); err != nil {
		return err
	}
	if err := f.keepSeat(ctx); err != nil {
		return err
	}
	consumer := f.loop.consumer
	if consumer == nil { // it stands by again
		return nil
	}
	f.forgetUndelivered()
	f.buryStrays(work)
	if err := f.keepMark(work, time.Now()); err != nil {
		return err
	}
	batch, pullErr := f.pull(ctx, consumer)
	if f.pinRefused(pullErr) {
		pullErr = nil
	}
	if pullErr != nil {
		f.loop.consumer = nil
	}
	if len(batch) > 0 {
		if err := f.process(ctx, work, batch); err != nil {
			f.loop.stuck++
			return err
		}
		f.loop.stuck = 0
	}
	if pullErr != nil && ctx.Err() == nil {
		return fmt.Errorf("pull events: %w", pullErr)
	}
	return nil
}

// trouble logs the first failure of an episode; the ones that follow show in the status.
func (f *Feed) trouble(err error) {
	f.loop.failures++
	f.health.failed(err)
	f.idle.Store(0) // what keeps messages from coming is known
	level := slog.LevelDebug
	if f.loop.failures == 1 {
		level = slog.LevelError
	}
	f.log.Log(context.Background(), level, "feed is held up, trying on", "err", err, "failures", f.loop.failures,
		"pause", f.cfg.backoff(f.loop.failures))
}

func (f *Feed) recovered() {
	if f.loop.failures > 0 {
		f.log.Info("feed is running again", "failures", f.loop.failures)
	}
	f.loop.failures = 0
	if err := cmp.Or(f.loop.deadErr, f.health.stallError()); err != nil {
		f.health.failed(err)
		return
	}
	f.health.succeeded()
}

// flush waits until the server has what was sent last: acknowledgements are not answered.
func (f *Feed) flush(ctx context.Context) error {
	nc := f.js.Conn()
	if !nc.IsConnected() {
		return nil // the server has given the messages up already and delivers them again
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.cfg.PublishTimeout)
	defer cancel()
	if err := nc.FlushWithContext(ctx); err != nil && nc.IsConnected() {
		return fmt.Errorf("feed: flush acknowledgements: %w", err)
	}
	return nil
}
