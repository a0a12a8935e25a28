package main

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/kuzu"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
)

func discardLog() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// expected projects the events in an order of its own, one after the other, each alone.
func (s *soakFile) expected(t *testing.T, cfg projector.Config, seed uint64) map[graphstore.Space]*graphstore.Snapshot {
	t.Helper()
	plan, err := projector.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	views := map[graphstore.Space]*graphstore.Snapshot{}
	for _, i := range rand.New(rand.NewPCG(seed, 3)).Perm(s.events()) {
		ev, _, err := projector.Decode(s.payload(t, i), projector.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		projectInto(t, plan, nil, views, ev)
	}
	return views
}

// modelled derives the graph of all events from scratch, by the model that shares no code with the projector.
func (s *soakFile) modelled(t *testing.T, spine bool) graphstore.Digest {
	t.Helper()
	m := projectortest.NewModel(projectortest.Shape{MaxCoOccurs: projector.DefaultMaxCoOccurs, EdgeMinScore: projector.DefaultEdgeMinScore,
		MaxNeighbors: projector.DefaultMaxNeighbors, TemporalSpine: spine})
	m.Know(soakForms())
	for i := range s.events() {
		ev, _, err := projector.Decode(s.payload(t, i), projector.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		m.Add(ev)
	}
	return m.Digest()
}

// soakForms are the normal forms of what soakEvents draws: ids as they are, names and tags of ASCII words in lower case.
func soakForms() projectortest.Forms {
	same := func(s string) (string, bool) { return s, true }
	lower := func(s string) (string, bool) { return strings.ToLower(s), true }
	return projectortest.Forms{Fact: same, Type: same, Name: lower, Tag: lower}
}

func digestOfViews(views map[graphstore.Space]*graphstore.Snapshot) (d graphstore.Digest) {
	for _, view := range views {
		d.Merge(view.Digest())
	}
	return d
}

// soakVerdict is how a file differs from the expected graph, record by record.
type soakVerdict struct {
	records, lost, wrong int
	digest               graphstore.Digest // of what was read
	first                string
}

// judge reads a closed file and looks up each of its records in the expected graph.
func judge(t *testing.T, path string, want map[graphstore.Space]*graphstore.Snapshot) (v soakVerdict) {
	t.Helper()
	store, err := kuzu.Open(path, kuzu.Config{Logger: discardLog()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	there := 0
	if err := store.LoadAll(t.Context(), func(c graphstore.Change) error {
		v.records++
		v.digest.Add(c)
		old, known := viewOf(want, c.Space).Record(c.Key())
		if known {
			there++
		}
		var got, wanted graphstore.Digest
		got.Add(c)
		if known {
			wanted.Add(old)
		}
		if got != wanted {
			v.wrong++
			if v.first == "" {
				v.first = c.Space.UserID() + " " + c.Key().String()
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v.lost = digestOfViews(want).Records() - there
	return v
}
