package backfill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Verifiable is a [Graph] that knows its users.
type Verifiable interface {
	Graph
	// Users lists the users that have anything in the graph.
	Users(ctx context.Context) ([]graphstore.Space, error)
}

// Verify compares the graph with the points of the store, both ways, and with itself, user by user: what a backfill would
// change, what has no point, and what does not follow from what the facts say ([projector.Projector.Reconcile]).
//
// Events may arrive meanwhile. What is found of a user is looked for once more, in points and a snapshot that are read after the
// events of the stream have been projected ([Config.CaughtUp]), and counts only if it is found again, the same in every word.
//
// One user's facts are in memory at a time, without vectors and contents, and pages of points. Errors: [ErrBadRequest]; those of
// the stores, with what was found until then.
func (b *Backfill) Verify(ctx context.Context, req VerifyRequest) (VerifyReport, error) {
	if err := req.Check(); err != nil {
		return VerifyReport{}, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	graph, ok := b.graph.(Verifiable)
	if !ok {
		return VerifyReport{}, fmt.Errorf("%w: the graph does not know its users", ErrBadRequest)
	}
	if (req.Sample > 0 || req.Points > 0) && req.Seed == 0 {
		req.Seed = 1 + rand.Uint64N(MaxSeed)
	}
	v := &verifier{b: b, graph: graph, req: req, out: newVerifyReport(req)}
	err := v.all(ctx)
	v.out.end()
	if err != nil {
		v.out.Clean = false
	}
	return *v.out, err
}

// verifier is one verification at work.
type verifier struct {
	b     *Backfill
	graph Verifiable
	req   VerifyRequest
	out   *VerifyReport
	dim   int
	told  time.Time // when the last word was said on how far it is

	looking int64 // points of the user at work that were read
	shared  bool  // the collection has a fact that is present in the graph
}

func (v *verifier) all(ctx context.Context) error {
	info, err := v.b.points.Info(ctx)
	if err != nil {
		return fmt.Errorf("ask the vector store: %w", err)
	}
	v.dim = info.Dimension
	users, err := v.users(ctx)
	if err != nil {
		return err
	}
	next := time.Now().Add(logEvery)
	v.tell()
	for _, space := range users {
		if err := v.user(ctx, space); err != nil {
			return fmt.Errorf("verify user %s: %w", graphstore.Shorten(space.UserID()), err)
		}
		v.out.Users++
		v.tell()
		if now := time.Now(); now.After(next) {
			next = now.Add(logEvery)
			v.b.log.Info("verifying", "users", v.out.Users, "of", len(users), "points", v.out.Points, "drifted", v.out.Drifted)
		}
	}
	return nil
}

// writes reports whether the graph may be changed.
func (v *verifier) writes() bool { return v.req.Repair && !v.req.DryRun }

// wrongCollection is the error of a repair that would remove what the collection says nothing of. It is more likely that it is
// another one, or that its fields are mapped wrongly.
func wrongCollection(why string) error {
	return fmt.Errorf("%w: repair: %s, so that what the graph has would be removed: want the right collection and mapping (kith backfill --probe; "+
		"kith rebuild --from-store --force believes the collection)", ErrBadRequest, why)
}

// believes returns an error if the collection has no fact that the graph has, and a repair would remove those.
func (v *verifier) believes(ctx context.Context, graph []graphstore.Space, stored bool) error {
	if !v.writes() || v.shared {
		return nil
	}
	for _, space := range graph {
		view, err := v.view(ctx, space)
		if err != nil {
			return err
		}
		if !hasPresent(view) {
			continue
		}
		if !stored {
			return wrongCollection(noFact(v.out.Skipped))
		}
		return wrongCollection("no fact of the graph has a point in the collection")
	}
	return nil
}

// shares notes whether one of the facts is present in the graph.
func (v *verifier) shares(ctx context.Context, facts []fact, graph map[graphstore.Space]bool) error {
	if !v.writes() || v.shared {
		return nil
	}
	views := map[graphstore.Space]*graphstore.Snapshot{}
	for i := range facts {
		space := facts[i].point.Space
		if !graph[space] {
			continue
		}
		if views[space] == nil {
			view, err := v.view(ctx, space)
			if err != nil {
				return err
			}
			views[space] = view
		}
		if f, ok := views[space].Fact(facts[i].stored.ID); ok && f.Present() {
			v.shared = true
			return nil
		}
	}
	return nil
}

func hasPresent(view *graphstore.Snapshot) bool {
	for c := range view.Records() {
		if c.Edge != nil {
			return false // all others come before
		}
		if c.Fact != nil && c.Fact.Present() {
			return true
		}
	}
	return false
}

func noFact(points int64) string {
	if points == 0 {
		return "the collection has no points"
	}
	return fmt.Sprintf("none of the %d points of the collection is a fact of a user", points)
}

// believesUser is believes for a verification of one user who has no point: there must be facts of others.
func (v *verifier) believesUser(ctx context.Context, l *look) error {
	removes := slices.ContainsFunc(l.drift, func(d Drift) bool { return d.Kind == DriftNoPoint })
	if !v.writes() || v.req.UserID == "" || len(l.facts) > 0 || !removes {
		return nil
	}
	scan := v.scan(graphstore.Space{}, false)
	err := scan.pages(ctx, func(facts []fact) error {
		if len(facts) > 0 {
			return errEnough
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return err
	}
	return wrongCollection(noFact(scan.run.Report().Scanned))
}

// tellEvery is the least time between two words on how far a verification is.
const tellEvery = 200 * time.Millisecond

// tell says how far the verification is.
func (v *verifier) tell() {
	if now := time.Now(); v.b.cfg.Verifying != nil && now.Sub(v.told) >= tellEvery {
		v.told = now
		rep := v.out.clone()
		rep.Points += v.looking
		v.b.cfg.Verifying(rep)
	}
}

// logEvery is how often a verification says how far it is.
const logEvery = 10 * time.Second

// users returns those to verify, ordered by id.
func (v *verifier) users(ctx context.Context) ([]graphstore.Space, error) {
	if v.req.UserID != "" {
		space, err := graphstore.NewSpace(v.req.UserID)
		v.out.AllUsers = 1
		return []graphstore.Space{space}, err
	}
	list, err := v.graph.Users(ctx)
	if err != nil {
		return nil, fmt.Errorf("list users of graph: %w", err)
	}
	known := make(map[graphstore.Space]bool, len(list))
	for _, space := range list {
		known[space] = true
	}
	ofGraph, stored := slices.Clone(list), map[graphstore.Space]bool{}
	scan := v.scan(graphstore.Space{}, false)
	err = scan.pages(ctx, func(facts []fact) error {
		for i := range facts {
			space := facts[i].point.Space
			if !stored[space] && !known[space] {
				list = append(list, space)
			}
			stored[space] = true
		}
		v.out.AllUsers = int64(len(list))
		v.tell()
		return v.shares(ctx, facts, known)
	})
	if err != nil {
		return nil, err
	}
	rep := scan.run.Report()
	v.out.Skipped += rep.Skipped
	v.out.Problems = append(v.out.Problems, rep.Problems...)
	if err := v.believes(ctx, ofGraph, len(stored) > 0); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b graphstore.Space) int { return strings.Compare(a.UserID(), b.UserID()) })
	v.out.AllUsers = int64(len(list))
	if n := v.req.Sample; n > 0 && n < len(list) {
		draw := rand.New(rand.NewPCG(v.req.Seed, 0)) // a sample, no secret
		draw.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:n]
	}
	return list, nil
}

// user verifies one user, and repairs what was found if that is asked for.
func (v *verifier) user(ctx context.Context, space graphstore.Space) error {
	now, err := v.look(ctx, space)
	if err != nil {
		return err
	}
	if len(now.drift) > 0 {
		first := len(now.drift)
		if v.b.cfg.CaughtUp != nil {
			if err := v.b.cfg.CaughtUp(ctx); err != nil {
				return fmt.Errorf("wait until events are projected: %w", err)
			}
		}
		before := now.drift
		if now, err = v.look(ctx, space); err != nil {
			return err
		}
		now.keep(before)
		v.out.Passed += int64(first - len(now.drift))
	}
	v.looking = 0
	v.out.Points += int64(now.points)
	v.out.Covered += int64(now.covered)
	v.out.BadFacts += int64(len(now.bad))
	if v.req.UserID != "" {
		v.out.Skipped += now.skipped
		v.out.Problems = append(v.out.Problems, now.problems...)
	}
	if now.partial {
		if err := v.partial(ctx, space, len(now.facts)); err != nil {
			return err
		}
	}
	for _, err := range now.bad {
		v.out.problem("fact", "%v", err)
	}
	v.out.found(now.drift)
	if len(now.drift) == 0 || !v.req.Repair {
		return nil
	}
	if err := v.believesUser(ctx, &now); err != nil {
		return err
	}
	return v.repair(ctx, space, now.drift)
}

// partial notes that a user was looked at in part.
func (v *verifier) partial(ctx context.Context, space graphstore.Space, looked int) error {
	all, err := v.b.points.Count(ctx, space)
	if err != nil {
		return fmt.Errorf("count points: %w", err)
	}
	v.out.Partial++
	v.out.Unlooked += max(all-int64(looked), 0)
	return nil
}
