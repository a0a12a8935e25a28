package backfill

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// scan reads points page by page, as a backfill does.
type scan struct{ run *run }

// scan returns a scan of one user, or for the zero space of all.
func (v *verifier) scan(space graphstore.Space, neighbors bool) scan {
	req := Request{UserID: space.UserID(), NoNeighbors: !neighbors, Memory: v.req.Memory}
	r := &run{b: v.b, req: req, space: space, turn: turnSize{most: maxPagePoints}, size: newPageSize(memoryOf(req), v.dim)}
	r.mu.report = Account{Request: req, Written: map[string]int64{}, Removed: map[string]int64{}}
	return scan{r}
}

// pages yields the facts of each page.
func (s scan) pages(ctx context.Context, yield func([]fact) error) error {
	for {
		page, err := s.run.read(ctx)
		if err != nil {
			return err
		}
		facts := s.run.facts(page.Points)
		if !s.run.req.NoNeighbors {
			if err := s.run.findNeighbors(ctx, facts); err != nil {
				return err
			}
		}
		if err := yield(facts); err != nil {
			return err
		}
		if s.run.cp.Cursor = page.Next; page.Next == "" {
			return nil
		}
	}
}

// look is what one look at a user has shown.
type look struct {
	facts   []projector.StoredFact
	bad     []error // points that break the rules of events
	skipped int64
	points  int // of the scan, that are facts: not those that were looked up by the ids that the graph has
	covered int // of these, with a node in the graph
	drift   []Drift

	problems []string // of the scan
	partial  bool     // there are more points
}

// errEnough ends the scan of a user who has more points than are to be looked at.
var errEnough = errors.New("enough points")

// keep leaves what was found before too.
func (l *look) keep(before []Drift) {
	had := make(map[Drift]bool, len(before))
	for _, d := range before {
		had[d] = true
	}
	l.drift = slices.DeleteFunc(l.drift, func(d Drift) bool { return !had[d] })
}

// look compares a user's points with the graph. The points are read first: an event that is projected meanwhile is newer than
// they are, and overrides them in the comparison as it does in the graph.
func (v *verifier) look(ctx context.Context, space graphstore.Space) (look, error) {
	var l look
	at := map[string]int{}
	s := v.scan(space, v.req.Neighbors)
	if v.req.Points > 0 {
		s.run.turn.most = min(s.run.turn.most, v.req.Points)
	}
	v.looking = 0
	err := s.pages(ctx, func(facts []fact) error {
		v.looking = s.run.Report().Scanned
		v.tell()
		if most := v.req.Points; most > 0 && len(l.facts)+len(facts) > most {
			l.take(facts[:most-len(l.facts)], at)
			return errEnough
		}
		l.take(facts, at)
		return nil
	})
	if l.partial = errors.Is(err, errEnough); err != nil && !l.partial {
		return l, err
	}
	l.points = len(l.facts)
	rep := s.run.Report()
	l.skipped, l.problems = rep.Skipped, rep.Problems
	view, err := v.view(ctx, space)
	if err != nil {
		return l, err
	}
	gone, err := v.withoutPoint(ctx, view, &l, at)
	if err != nil {
		return l, err
	}
	for i := range l.points {
		if n, ok := view.Node(l.facts[i].ID); ok && view.State(n) != graphstore.StateUnseen {
			l.covered++
		}
	}
	should, err := v.reconcile(view, &l, gone)
	if err != nil {
		return l, err
	}
	l.drift, _, err = v.compare(view, should, gone)
	return l, err
}

// take takes in facts, of two of one id the one of the greater version.
func (l *look) take(facts []fact, at map[string]int) {
	for i := range facts {
		s := &facts[i].stored
		id := graphstore.CanonicalFactID(s.ID)
		n, twice := at[id]
		switch {
		case !twice:
			at[id] = len(l.facts)
			l.facts = append(l.facts, *s)
		case s.Version.Value > l.facts[n].Version.Value:
			l.facts[n] = *s
		}
	}
}

// view returns the newest snapshot of a user.
func (v *verifier) view(ctx context.Context, space graphstore.Space) (view *graphstore.Snapshot, err error) {
	err = v.graph.Update(ctx, func(ctx context.Context, views Views) ([]graphstore.Change, error) {
		view, err = views(ctx, space)
		return nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	return view, nil
}

// withoutPoint returns the facts that are present in the graph and not in the store, which is asked for each by its id; those
// that have come since the scan are taken in. Of a user who is looked at in part, so are some of those beyond the part.
func (v *verifier) withoutPoint(ctx context.Context, view *graphstore.Snapshot, l *look, at map[string]int) (map[string]bool, error) {
	var ids []string
	for c := range view.Records() {
		if c.Edge != nil {
			break // all others come before
		}
		if c.Fact == nil {
			continue
		}
		if _, ok := at[c.Fact.ID]; !ok && c.Fact.Present() {
			ids = append(ids, c.Fact.ID)
		}
	}
	if l.partial {
		ids = v.some(ids)
	}
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	facts, there, err := v.get(ctx, view.Space(), ids)
	if err != nil {
		return nil, err
	}
	for _, id := range there {
		delete(gone, id)
	}
	l.take(facts, at)
	return gone, nil
}

// some draws as many ids as points of one user are to be looked at: by the seed, and of what is there at two looks the same.
func (v *verifier) some(ids []string) []string {
	drawn := make(map[string][sha256.Size]byte, len(ids))
	for _, id := range ids {
		drawn[id] = sha256.Sum256(fmt.Appendf(nil, "%d %s", v.req.Seed, id))
	}
	slices.SortFunc(ids, func(a, b string) int { x, y := drawn[a], drawn[b]; return bytes.Compare(x[:], y[:]) })
	return ids[:min(len(ids), v.req.Points)]
}

// maxGet is how many points are asked for at once.
const maxGet = 512

// get returns the facts of the points with these ids, and which of the points there are.
func (v *verifier) get(ctx context.Context, space graphstore.Space, ids []string) (facts []fact, there []string, err error) {
	s := v.scan(space, v.req.Neighbors)
	for some := range slices.Chunk(ids, maxGet) {
		var points []vdb.Point
		err := s.run.patiently(ctx, "read points", func() (err error) {
			points, err = v.getAll(ctx, space, some)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		for i := range points {
			there = append(there, points[i].ID)
		}
		page := s.run.facts(points)
		if v.req.Neighbors {
			if err := s.run.findNeighbors(ctx, page); err != nil {
				return nil, nil, err
			}
		}
		for i := range page {
			page[i].point = vdb.Point{Space: space, ID: page[i].point.ID}
		}
		facts = append(facts, page...)
	}
	return facts, there, nil
}

// getAll returns the points with these ids, with vectors if they are wanted: also points that have none, which a store leaves
// out where vectors are asked for.
func (v *verifier) getAll(ctx context.Context, space graphstore.Space, ids []string) ([]vdb.Point, error) {
	points, err := v.b.points.Get(ctx, space, ids, v.req.Neighbors)
	if err != nil || !v.req.Neighbors || len(points) == len(ids) {
		return points, err
	}
	there := make(map[string]bool, len(points))
	for i := range points {
		there[points[i].ID] = true
	}
	rest := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return there[id] })
	bare, err := v.b.points.Get(ctx, space, rest, false)
	return append(points, bare...), err
}

// reconcile returns the graph that should be, without facts that break the rules of events.
func (v *verifier) reconcile(view *graphstore.Snapshot, l *look, gone map[string]bool) (*graphstore.Snapshot, error) {
	isGone := func(id string) bool { return gone[id] }
	should, err := v.b.proj.Reconcile(view, l.facts, isGone)
	var rule *projector.FieldError
	if !errors.As(err, &rule) {
		return should, err
	}
	empty := graphstore.NewSnapshot(view.Space())
	l.facts = slices.DeleteFunc(l.facts, func(s projector.StoredFact) bool {
		_, err := v.b.proj.PlanStored(empty, []projector.StoredFact{s})
		if err != nil {
			l.bad = append(l.bad, fmt.Errorf("point %s: %w", graphstore.Shorten(s.ID), err))
		}
		return err != nil
	})
	return v.b.proj.Reconcile(view, l.facts, isGone)
}
