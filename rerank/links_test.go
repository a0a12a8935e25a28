package rerank_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/rerank"
)

// TestHubInThePool: one member with far more links than all others together is read from their ends; nothing may be
// lost by it, wherever its id sorts.
func TestHubInThePool(t *testing.T) {
	for _, hub := range []string{"a-hub", "m-hub", "z-hub"} {
		w := world{facts: []string{hub, "b", "c", "n", "x"}}
		add := func(from, to string, kind graphstore.RelationType, weight float64) {
			w.links = append(w.links, worldLink{from, to, kind, weight, fmt.Sprint("b", len(w.links))})
		}
		for i := range 1000 {
			far := fmt.Sprint("far", i)
			w.facts = append(w.facts, far)
			add(far, hub, graphstore.Elaborates, 1)
		}
		add(hub, "b", graphstore.CoOccurs, .9)
		add("c", hub, graphstore.Causes, .5)
		add("x", hub, graphstore.Contrasts, .7)
		add("c", "x", graphstore.Related, 1)
		pool := poolOf(t, hub+":.9 b:.8 c:.7 n:.6 x:.5")
		s := rerank.DefaultSettings()
		res := mustRank(t, newRanker(t, nil), requestOf(t, pool, w.snapshot(t)))
		for id, want := range naive(w, pool, s, nil) {
			if got := itemOf(t, res, id).GraphScore; math.Abs(got-want) > 1e-12 {
				t.Errorf("hub %s: %s has %v, formulas say %v", hub, id, got, want)
			}
		}
		if res.Diagnostics.UnreadHubs != 0 || res.Diagnostics.Pairs != 4 {
			t.Errorf("hub %s: %+v", hub, res.Diagnostics)
		}
	}
}

// TestSeveralHubsBeyondTheBound: with a bound of 500 links, two of three members with 300 links each are read from the
// other ends. Only the edge between those two is missed, and the result says so.
func TestSeveralHubsBeyondTheBound(t *testing.T) {
	w := world{facts: []string{"b", "hub1", "hub2", "hub3"}}
	add := func(from, to string, kind graphstore.RelationType, weight float64) {
		w.links = append(w.links, worldLink{from, to, kind, weight, fmt.Sprint("b", len(w.links))})
	}
	for i := range 300 {
		far := fmt.Sprint("far", i)
		w.facts = append(w.facts, far)
		for _, hub := range []string{"hub1", "hub2", "hub3"} {
			add(far, hub, graphstore.Elaborates, 1)
		}
	}
	add("b", "hub1", graphstore.CoOccurs, 1)
	add("b", "hub2", graphstore.Contrasts, 1)
	add("hub1", "hub3", graphstore.SameSeries, 1)
	add("hub2", "hub3", graphstore.Causes, 1)
	missed := len(w.links)
	add("hub1", "hub2", graphstore.Related, 1)
	add("hub1", "hub1x", graphstore.Related, 1) // hub1 and hub2 are the two largest
	add("hub2", "hub2x", graphstore.Related, 1)
	w.facts = append(w.facts, "hub1x", "hub2x")
	pool := poolOf(t, "hub1:.9 b:.8 hub2:.7 hub3:.6")

	r := newRanker(t, nil)
	rerank.SetLinkReads(r, 500)
	res := mustRank(t, r, requestOf(t, pool, w.snapshot(t)))
	if res.Diagnostics.UnreadHubs != 2 {
		t.Errorf("unread hubs %d, want 2", res.Diagnostics.UnreadHubs)
	}
	without := w
	without.links = append(without.links[:missed:missed], without.links[missed+1:]...)
	for id, want := range naive(without, pool, rerank.DefaultSettings(), nil) {
		if got := itemOf(t, res, id).GraphScore; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s has %v, formulas without the edge of the two hubs say %v", id, got, want)
		}
	}
}
