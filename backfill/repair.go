package backfill

import (
	"context"
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// errMoved ends the repair of a user whose graph has got other drift than was found.
var errMoved = errors.New("other drift than was found")

// repair changes the graph of one user so that what was found is gone, in one transaction, and nothing else. The points are read
// again, those of facts to remove within the turn; if then anything is found that was not before, nothing is changed.
func (v *verifier) repair(ctx context.Context, space graphstore.Space, found []Drift) error {
	known := make(map[Drift]bool, len(found))
	var ofFacts, lacking []string
	seen := map[string]bool{}
	for _, d := range found {
		known[d] = true
		switch d.Kind {
		case DriftMissingNode, DriftState, DriftField, DriftMissingContribution, DriftStaleContribution:
			if !seen[d.ID] {
				seen[d.ID] = true
				ofFacts = append(ofFacts, d.ID)
			}
		case DriftNoPoint:
			lacking = append(lacking, d.ID)
		}
	}
	facts, _, err := v.get(ctx, space, ofFacts)
	if err != nil {
		return err
	}
	var l look
	l.take(facts, map[string]int{})
	var changes []graphstore.Change
	err = v.graph.Update(ctx, func(ctx context.Context, views Views) ([]graphstore.Change, error) {
		view, err := views(ctx, space)
		if err != nil {
			return nil, err
		}
		gone := map[string]bool{}
		for _, id := range lacking {
			gone[id] = true
		}
		_, there, err := v.get(ctx, space, lacking)
		if err != nil {
			return nil, err
		}
		for _, id := range there {
			delete(gone, id)
		}
		changes, err = v.repairs(view, &l, gone, known)
		if err == nil && v.req.DryRun {
			err = errDry
		}
		return changes, err
	})
	switch {
	case errors.Is(err, errMoved):
		v.out.problem("left alone", "user %s: %v: nothing was repaired, verify again", graphstore.Shorten(space.UserID()), err)
		return nil
	case errors.Is(err, errDry):
		v.out.changes(changes)
		return nil
	case err != nil:
		return fmt.Errorf("repair graph: %w", err)
	}
	v.out.changes(changes)
	v.out.Repaired++
	return nil
}

// repairs returns the changes that repair what is known, errMoved if there is anything else.
func (v *verifier) repairs(view *graphstore.Snapshot, l *look, gone map[string]bool, known map[Drift]bool) ([]graphstore.Change, error) {
	should, err := v.reconcile(view, l, gone)
	if err != nil {
		return nil, err
	}
	drift, changes, err := v.compare(view, should, gone)
	if err != nil {
		return nil, err
	}
	for _, d := range drift {
		if !known[d] {
			return nil, fmt.Errorf("%w: %s %s: %s", errMoved, d.Kind, graphstore.Shorten(d.ID), d.What)
		}
	}
	return changes, nil
}
