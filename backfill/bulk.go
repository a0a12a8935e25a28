package backfill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// A run of the whole collection that will change most of the graph does not change it page by page: it keeps the facts in files, and
// then has the graph written anew, which is a bulk load. Up to that it can be killed and resumed like any other, and the
// graph is as it was.

// bulkEvery is how often the checkpoint of such a run is written: what is lost with it is read again.
const bulkEvery = time.Second

// spillDir is where a run of the whole collection keeps its facts; there is one at a time.
func (b *Backfill) spillDir() string { return filepath.Join(b.cfg.Dir, "facts") }

// rewriter returns the graph if this run is to write it anew: a resumed run does what it had begun to.
func (r *run) rewriter(ctx context.Context) (Rewriter, error) {
	g, can := r.b.graph.(Rewriter)
	switch {
	case len(r.cp.Parts) > 0 && !can:
		return nil, errors.New("the checkpoint is of a run that writes the graph anew, which this graph cannot")
	case len(r.cp.Parts) > 0:
		return g, nil
	case !can || r.req.UserID != "" || r.req.DryRun || r.req.Resume:
		return nil, nil //nolint:nilnil // none
	}
	var facts int64
	err := r.patiently(ctx, "count facts", func() (err error) {
		facts, err = g.Facts(ctx)
		return err
	})
	if total := r.Report().Total; err != nil || 2*facts > total || total < r.b.cfg.BulkFrom {
		return nil, err
	}
	r.cp.Parts = make([]int64, parts(r.Report().Total, memoryOf(r.req)))
	return g, nil
}

// bulk does a run that writes the graph anew.
func (r *run) bulk(ctx context.Context, g Rewriter) (err error) {
	s, err := openSpill(r.b.spillDir(), r.cp.Parts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r.change(func(rep *Account) { rep.Bulk = true })
	if err := r.scanInto(ctx, s); err != nil {
		return err
	}
	r.phase("writing the graph")
	before := r.Report() // of the scan: a rewrite that is tried again counts anew
	err = r.patiently(ctx, "write the graph anew", func() error {
		r.change(func(rep *Account) { *rep = before.clone() })
		return g.Rewrite(ctx, func(yield YieldUser) error { return r.yieldAll(ctx, s, yield) })
	})
	if err != nil {
		return err
	}
	r.change(func(rep *Account) { rep.Commits++ })
	return nil
}

// scanInto reads what is left of the points and keeps their facts.
func (r *run) scanInto(ctx context.Context, s *spill) error {
	if r.cp.Scanned {
		return nil
	}
	saved := time.Now()
	pages := r.readAhead(ctx)
	defer pages.end()
	for !r.cp.Scanned {
		r.phase("scanning")
		start := time.Now()
		page, err := pages.read(ctx)
		if err != nil {
			return err
		}
		facts := r.facts(page.Points)
		if !r.req.NoNeighbors {
			if err := r.findNeighbors(ctx, facts); err != nil {
				return err
			}
		}
		if err := s.add(facts); err != nil {
			return err
		}
		r.cp.Cursor, r.cp.Scanned = page.Next, page.Next == ""
		if r.cp.Scanned || time.Since(saved) > bulkEvery {
			if r.cp.Parts, err = s.sizes(); err != nil {
				return err
			}
			if err := r.save(); err != nil {
				return err
			}
			saved = time.Now()
		}
		if err := r.pace.wait(ctx, start, len(page.Points)+len(page.Skipped)); err != nil {
			return err
		}
	}
	return nil
}

// yieldAll yields all users, part by part.
func (r *run) yieldAll(ctx context.Context, s *spill, yield YieldUser) error {
	for part := range s.files {
		users, err := s.read(part)
		if err != nil {
			return err
		}
		for i, u := range users {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			users[i] = userFacts{} // it belongs to the plan now
			if err := yield(u.space, func(view *graphstore.Snapshot) (*graphstore.Snapshot, error) { return r.overSpilled(&u, view) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// overSpilled returns what becomes of a user's graph by all facts of the user, which are gone then.
func (r *run) overSpilled(u *userFacts, view *graphstore.Snapshot) (*graphstore.Snapshot, error) {
	twice := int64(u.dropRepeats())
	r.change(func(rep *Account) { rep.Duplicates += twice })
	return u.over(r.b.proj, view, func(planned *userFacts) {
		r.change(func(rep *Account) {
			rep.wrote(planned.plan.Changes)
			rep.planned(planned)
		})
		clear(planned.facts)
	})
}

// plannedFacts is how many facts of one user are planned at a time where no transaction bounds it: a plan takes some 10 KiB for each,
// a graph some 1 KiB.
const plannedFacts = 4096

// over returns what becomes of a graph of the user by the facts, and shows each plan on the way.
func (u *userFacts) over(proj *projector.Projector, view *graphstore.Snapshot, show func(planned *userFacts)) (*graphstore.Snapshot, error) {
	for facts := range slices.Chunk(u.facts, plannedFacts) {
		some := userFacts{space: u.space, facts: facts, view: view}
		some.planAll(proj)
		err := some.broken
		if err == nil {
			view, err = view.With(some.plan.Changes)
		}
		if err != nil {
			return nil, fmt.Errorf("plan facts of %s: %w", graphstore.Shorten(u.space.UserID()), err)
		}
		show(&some)
	}
	return view, nil
}

// dropRepeats leaves of the facts of one id the one of the greatest version, of equal ones the first, and returns how many went.
func (u *userFacts) dropRepeats() int {
	at := make(map[string]int, len(u.facts))
	kept := u.facts[:0]
	for _, f := range u.facts {
		n, twice := at[f.ID]
		switch {
		case !twice:
			at[f.ID] = len(kept)
			kept = append(kept, f)
		case f.Version.Value > kept[n].Version.Value:
			kept[n] = f
		}
	}
	gone := len(u.facts) - len(kept)
	clear(u.facts[len(kept):])
	u.facts = kept
	return gone
}
