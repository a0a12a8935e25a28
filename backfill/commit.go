package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/iter"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// errDry ends an update of a dry run after its planning.
var errDry = errors.New("dry run")

// userFacts are the facts of one user in a page.
type userFacts struct {
	space  graphstore.Space
	facts  []projector.StoredFact
	view   *graphstore.Snapshot
	plan   projector.Planned
	bad    []error
	broken error // why they cannot be planned, which is nobody's fault but ours
}

// byUser deals facts out to their users, in the order of their first.
func byUser(facts []fact) []userFacts {
	at := map[graphstore.Space]int{}
	var users []userFacts
	for i := range facts {
		space := facts[i].point.Space
		n, ok := at[space]
		if !ok {
			n = len(users)
			at[space] = n
			users = append(users, userFacts{space: space})
		}
		users[n].facts = append(users[n].facts, facts[i].stored)
	}
	return users
}

// commit plans the facts of a page against the graph as it is and commits what follows, in one transaction.
func (r *run) commit(ctx context.Context, facts []fact) error {
	users := byUser(facts)
	if len(users) == 0 {
		return nil
	}
	var changes []graphstore.Change
	err := r.patiently(ctx, "change graph", func() error {
		changes = nil
		var began time.Time // when nobody else had the turn
		err := r.b.graph.Update(ctx, func(ctx context.Context, views Views) ([]graphstore.Change, error) {
			began = time.Now()
			var err error
			changes, err = r.b.planUsers(ctx, views, users)
			if err == nil && r.req.DryRun {
				err = errDry
			}
			return changes, err
		})
		if errors.Is(err, errDry) {
			return nil
		}
		if err == nil {
			r.turn.took(len(facts), time.Since(began))
		}
		return err
	})
	if err != nil {
		return err
	}
	r.cp.wrote(changes)
	r.change(func(rep *Account) {
		if len(changes) > 0 && !r.req.DryRun {
			rep.Commits++
		}
		rep.wrote(changes)
		for i := range users {
			rep.planned(&users[i])
		}
	})
	return nil
}

// planned takes in what became of a user's facts.
func (r *Account) planned(u *userFacts) {
	r.Changed += int64(u.plan.Report.Updated)
	r.Unchanged += int64(u.plan.Report.Stale)
	r.Forgotten += int64(u.plan.Report.Forgotten)
	for _, err := range u.bad {
		r.BadFacts++
		r.problem(r.BadFacts, err.Error())
	}
}

// planUsers plans users side by side: they have nothing to do with each other.
func (b *Backfill) planUsers(ctx context.Context, views Views, users []userFacts) ([]graphstore.Change, error) {
	for i := range users {
		u := &users[i]
		var err error
		if u.view, err = views(ctx, u.space); err != nil {
			return nil, fmt.Errorf("read graph of %s: %w", graphstore.Shorten(u.space.UserID()), err)
		}
	}
	iter.ForEach(users, func(u *userFacts) { u.planAll(b.proj) })
	var changes []graphstore.Change
	for i := range users {
		if users[i].broken != nil {
			return nil, users[i].broken
		}
		changes = append(changes, users[i].plan.Changes...)
	}
	return changes, nil
}

// planAll plans the facts of one user without those that break the rules of events.
func (u *userFacts) planAll(proj *projector.Projector) {
	u.bad = nil
	plan, err := proj.PlanStored(u.view, u.facts)
	var rule *projector.FieldError
	if errors.As(err, &rule) {
		good := make([]projector.StoredFact, 0, len(u.facts))
		empty := graphstore.NewSnapshot(u.space)
		for i := range u.facts {
			if _, err := proj.PlanStored(empty, u.facts[i:i+1]); err != nil {
				u.bad = append(u.bad, fmt.Errorf("point %s: %w", graphstore.Shorten(u.facts[i].ID), err))
				continue
			}
			good = append(good, u.facts[i])
		}
		plan, err = proj.PlanStored(u.view, good)
	}
	u.plan, u.broken = plan, err
}
