package golden

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
)

// graphs is the projected graph of every user.
type graphs map[graphstore.Space]*graphstore.Snapshot

// Acquire implements [reader.Graph].
func (g graphs) Acquire(_ context.Context, s graphstore.Space) (*graphstore.Snapshot, error) {
	if snap, ok := g[s]; ok {
		return snap, nil
	}
	return graphstore.NewSnapshot(s), nil
}

// project makes the graph of the events as a service with the default configuration does.
func project(events [][]byte) (graphs, error) {
	p, err := projector.New(projector.Config{})
	if err != nil {
		return nil, err
	}
	g := graphs{}
	for i, raw := range events {
		ev, rejected, err := projector.Decode(raw, projector.Limits{})
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		if len(rejected) > 0 {
			return nil, fmt.Errorf("event %d: %d facts are refused: %w", i+1, len(rejected), rejected[0].Err)
		}
		view, err := g.Acquire(context.Background(), ev.Space)
		if err != nil {
			return nil, err
		}
		planned, err := p.Plan(view, ev)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		if g[ev.Space], err = view.With(planned.Changes); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return g, nil
}

// relabel returns the events with the ids of the facts exchanged among each other, so that the graph they make has the
// shape of the true one, but says of every fact what is true of another. Facts change places only within one user and one
// state: a retired fact stays retired.
func relabel(d dataset, seed uint64) [][]byte {
	type class struct{ user, state string }
	classes := map[class][]string{}
	for _, p := range d.points {
		c := class{p.Space.UserID(), cmp.Or(p.Payload.State, vdb.StateActive)}
		classes[c] = append(classes[c], p.ID)
	}
	order := slices.SortedFunc(maps.Keys(classes), func(a, b class) int {
		return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.state, b.state))
	})
	rng := rand.New(rand.NewPCG(seed, 1))
	var pairs []string
	for _, c := range order {
		ids := classes[c]
		slices.Sort(ids)
		for i, j := range rng.Perm(len(ids)) {
			pairs = append(pairs, ids[i], ids[j])
		}
	}
	exchange := strings.NewReplacer(pairs...)
	events := make([][]byte, len(d.events))
	for i, raw := range d.events {
		events[i] = []byte(exchange.Replace(string(raw)))
	}
	return events
}
