package backfill

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// ErrBadRequest reports a request that cannot be done; the text names field, value and rule. Nothing was done.
var ErrBadRequest = errors.New("cannot be backfilled")

// Backfill makes graphs of stored points. It is safe for concurrent use, by runs of ranges that do not overlap
// ([Request.Overlaps]).
type Backfill struct {
	points Points
	graph  Graph
	proj   *projector.Projector
	cfg    Config
	log    *slog.Logger
	files  checkpoints
}

// New returns a backfill from the points into the graph. It does no I/O.
func New(points Points, graph Graph, proj *projector.Projector, cfg Config) (*Backfill, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("configure backfill: %w", err)
	}
	return &Backfill{points: points, graph: graph, proj: proj, cfg: cfg, log: cfg.Logger.With("component", "backfill"), files: checkpoints{cfg.Dir, cfg.Source}}, nil
}

// Run is one run, begun or taken up again.
type Run struct{ r *run }

// run is a run at work.
type run struct {
	b     *Backfill
	req   Request
	space graphstore.Space
	cp    checkpoint // Cursor and Cleared belong to the goroutine of Do; the report is in mu
	size  pageSize
	turn  turnSize
	pace  pace
	asks  askSize

	mu struct {
		sync.Mutex
		report Account
		since  time.Time     // when this part began
		before time.Duration // of the earlier parts
		ended  bool
	}
}

// Prepare checks a request and reads its checkpoint if it resumes. Errors: [ErrBadRequest], [ErrNoCheckpoint], or of the file.
func (b *Backfill) Prepare(req Request) (*Run, error) {
	if err := req.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	space, err := req.space()
	if err != nil {
		return nil, fmt.Errorf("%w: user: %w", ErrBadRequest, err)
	}
	r := &run{b: b, req: req, space: space, pace: pace{rate: req.Rate}, turn: newTurnSize(b.cfg.TurnTarget)}
	rep := Account{
		ID: uuid.NewString(), Started: time.Now().UTC(), Phase: "waiting",
		Problems: []string{}, Missing: []string{}, Written: map[string]int64{}, Removed: map[string]int64{},
	}
	if req.Resume {
		if r.cp, err = b.files.read(req); err != nil {
			return nil, err
		}
		rep = r.cp.Report
		rep.Resumed++
		rep.Done = false
	}
	rep.Request = req
	r.mu.report, r.mu.since, r.mu.before = rep, time.Now(), time.Duration(rep.TookMS)*time.Millisecond
	return &Run{r}, nil
}

// Report returns how far the run is. It does not block.
func (r *Run) Report() Account {
	r.r.mu.Lock()
	defer r.r.mu.Unlock()
	rep := r.r.mu.report.clone()
	if !r.r.mu.ended {
		rep.TookMS = r.r.took()
	}
	return rep
}

// Do does the run; once. After an error, or the end of ctx, the checkpoint is that of the last page that was committed.
func (r *Run) Do(ctx context.Context) (Account, error) {
	err := r.r.do(ctx)
	if errors.Is(err, errDamagedFacts) { // resumed it would be as damaged
		err = errors.Join(err, r.r.b.files.remove(r.r.req), r.r.b.removeGathered())
	}
	if err != nil {
		r.r.phase("stopped")
	}
	r.r.change(func(rep *Account) { rep.TookMS, r.r.mu.ended = r.r.took(), true })
	return r.Report(), err
}

// Resumable reports whether the run, when it has ended, left a checkpoint of its own that a request of the same range can resume.
func (r *Run) Resumable() bool {
	cp, err := r.r.b.files.read(r.r.req)
	return err == nil && cp.Report.ID == r.Report().ID
}

func (r *run) took() int64 { return (r.mu.before + time.Since(r.mu.since)).Milliseconds() }

func (r *run) change(do func(*Account)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do(&r.mu.report)
}

func (r *run) phase(name string) { r.change(func(rep *Account) { rep.Phase = name }) }

func (r *run) do(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	if r.req.Clear && !r.cp.Cleared {
		// An older checkpoint is not of what is to be removed now, nor is that of the whole collection, whose points of this user may be
		// behind its cursor.
		if err := errors.Join(r.save(), r.b.files.remove(Request{}), r.b.removeGathered()); err != nil {
			return err
		}
		if err := r.clear(ctx); err != nil {
			return err
		}
		r.cp.Cleared = true
	}
	if r.req.UserID == "" && !r.req.Resume && !r.req.DryRun { // what an abandoned run has left
		if err := r.b.removeGathered(); err != nil {
			return err
		}
	}
	rewriter, err := r.rewriter(ctx)
	if err != nil {
		return err
	}
	if err := r.save(); err != nil {
		return err
	}
	if rewriter != nil {
		err = r.bulk(ctx, rewriter)
	} else {
		err = r.pages(ctx)
	}
	if err != nil {
		return err
	}
	r.change(func(rep *Account) { rep.Done, rep.Phase, rep.Missing = true, "done", rep.missing() })
	if r.req.DryRun {
		return nil
	}
	if err := r.b.files.remove(r.req); err != nil || rewriter == nil {
		return err
	}
	return r.b.removeGathered() // after the checkpoint, which cannot be resumed without them
}

// pages changes the graph page by page.
func (r *run) pages(ctx context.Context) error {
	for {
		if next, err := r.page(ctx); err != nil || next == "" {
			return err
		}
	}
}

// begin notes what there is before the first point is read.
func (r *run) begin(ctx context.Context) error {
	r.phase("asking the stores")
	id, err := r.graphID(ctx)
	if err != nil {
		return err
	}
	lost := false
	if len(r.cp.Parts) == 0 { // else nothing has been written yet
		if lost, err = r.lacks(ctx, r.cp.Last); err != nil {
			return err
		}
	}
	if was := r.Report().GraphID; was != "" && was != id || lost {
		r.restart(id)
		r.cp.Cleared = false
	}
	var info vdb.Info
	var total int64
	err = r.patiently(ctx, "ask the vector store", func() (err error) {
		if info, err = r.b.points.Info(ctx); err != nil {
			return err
		}
		total = info.Points
		if !r.space.IsZero() {
			total, err = r.b.points.Count(ctx, r.space)
		}
		return err
	})
	if err != nil {
		return err
	}
	if r.req.Clear && total == 0 {
		return fmt.Errorf("%w: clear: the collection has no point of user %s, so that nothing would come back: want the right collection and mapping",
			ErrBadRequest, graphstore.Shorten(r.req.UserID))
	}
	r.size = newPageSize(memoryOf(r.req), info.Dimension)
	r.change(func(rep *Account) { rep.GraphID, rep.Total = id, total })
	if r.b.cfg.LastSeq == nil || r.Report().StreamSeq > 0 {
		return nil
	}
	return r.patiently(ctx, "ask the stream for its last event", func() error {
		seq, err := r.b.cfg.LastSeq()
		if err == nil {
			r.change(func(rep *Account) { rep.StreamSeq = seq })
		}
		return err
	})
}

func memoryOf(req Request) int64 {
	if req.Memory > 0 {
		return req.Memory
	}
	return DefaultMemoryBytes
}

// Report returns the report so far.
func (r *run) Report() Account {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.report.clone()
}

// restart begins the scan again, for a graph that lacks what was done.
func (r *run) restart(id string) {
	r.b.log.Warn("the graph is another one than the backfill began with, or an earlier state of it: it begins again", "graph", id)
	r.cp.Cursor, r.cp.Scanned, r.cp.Last = "", false, nil
	clear(r.cp.Parts)
	r.change(func(rep *Account) {
		*rep = Account{
			ID: rep.ID, Request: rep.Request, Phase: rep.Phase, StreamSeq: rep.StreamSeq, Started: rep.Started, Resumed: rep.Resumed, Restarted: rep.Restarted + 1,
			GraphID: id, Total: rep.Total, Problems: []string{}, Missing: []string{}, Written: map[string]int64{}, Removed: map[string]int64{},
		}
	})
}

// maxLast bounds the facts that a checkpoint names.
const maxLast = 16

// lacks reports whether the graph has no node of one of the facts that were written last: it went back to what it was before, as by a
// backup that was restored, or the fact's user was forgotten.
func (r *run) lacks(ctx context.Context, last []lastFact) (lost bool, err error) {
	if len(last) == 0 {
		return false, nil
	}
	err = r.patiently(ctx, "look for what was written last", func() error {
		lost = false
		return r.b.graph.Update(ctx, func(ctx context.Context, views Views) ([]graphstore.Change, error) {
			for _, f := range last {
				space, err := graphstore.NewSpace(f.User)
				if err != nil {
					return nil, fmt.Errorf("%w: the checkpoint names a fact of user %s: %w", ErrNoCheckpoint, graphstore.Shorten(f.User), err)
				}
				view, err := views(ctx, space)
				if err != nil {
					return nil, fmt.Errorf("read graph of %s: %w", graphstore.Shorten(f.User), err)
				}
				n, there := view.Node(f.ID)
				lost = lost || !there || view.State(n) == graphstore.StateUnseen
			}
			return nil, nil
		})
	})
	return lost, err
}

func (r *run) graphID(ctx context.Context) (id string, err error) {
	err = r.patiently(ctx, "ask the graph for its id", func() (err error) {
		id, err = r.b.graph.ID(ctx)
		return err
	})
	return id, err
}

// page does one page and returns the cursor of the next, empty after the last.
func (r *run) page(ctx context.Context) (next string, err error) {
	r.phase("scanning")
	start := time.Now()
	page, err := r.read(ctx)
	if err != nil {
		return "", err
	}
	facts := r.facts(page.Points)
	if !r.req.NoNeighbors {
		if err := r.findNeighbors(ctx, facts); err != nil {
			return "", err
		}
	}
	if err := r.commit(ctx, facts); err != nil {
		return "", err
	}
	id, err := r.graphID(ctx)
	if err != nil {
		return "", err
	}
	if id != r.Report().GraphID { // it was lost with what was committed before
		r.restart(id)
		return "again", r.save()
	}
	r.cp.Cursor = page.Next
	if page.Next != "" {
		if err := r.save(); err != nil {
			return "", err
		}
	}
	return page.Next, r.pace.wait(ctx, start, len(page.Points)+len(page.Skipped))
}

// save writes the checkpoint. A dry run has none.
func (r *run) save() error {
	if r.req.DryRun {
		return nil
	}
	r.mu.Lock()
	r.cp.Report = r.mu.report.clone()
	r.cp.Report.TookMS = r.took()
	r.mu.Unlock()
	r.cp.Report.Request.Resume = false
	return r.b.files.write(r.cp)
}
