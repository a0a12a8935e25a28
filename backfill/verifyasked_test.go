package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// bareStore has points without a vector, as a collection of several vectors may: a scroll returns them, a read by id leaves them out where
// vectors are asked for. It notes how much is asked of one user.
type bareStore struct {
	vdb.Store
	bare    func(id string) bool // nil: none
	scroll  func(page *vdb.Page) // what is done to a page of one user; nil: nothing
	scanned []int                // points of each page of one user
	got     int                  // ids that were read
}

func (s *bareStore) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	page, err := s.Store.Scroll(ctx, q)
	for i := range page.Points {
		if s.bare != nil && s.bare(page.Points[i].ID) {
			page.Points[i].Vector = nil
		}
	}
	if !q.AllSpaces {
		s.scanned = append(s.scanned, len(page.Points))
		if s.scroll != nil {
			s.scroll(&page)
		}
	}
	return page, err
}

func (s *bareStore) Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]vdb.Point, error) {
	s.got += len(ids)
	points, err := s.Store.Get(ctx, space, ids, withVectors)
	if withVectors && s.bare != nil {
		points = slices.DeleteFunc(points, func(p vdb.Point) bool { return s.bare(p.ID) })
	}
	return points, err
}

// A point without a vector is there, also one that is looked up by its id and not scanned: a repair that compares neighbours leaves
// its fact alone.
func TestVerifyNeighborsOfPointsWithoutVectors(t *testing.T) {
	odd := func(id string) bool { return strings.ContainsAny(id[len(id)-1:], "13579") }
	store, g := &bareStore{Store: newPoints(t, clustered(t, 1, 50)...), bare: odd}, newGraph(t)
	a := must(t, t.TempDir(), store, g, backfill.Request{})
	if a.BadVectors != 25 || a.Changed != 50 {
		t.Fatalf("25 of 50 points have no vector: %+v", a)
	}
	digest := g.live.Digest()
	for _, most := range []int{0, 10, 1} {
		v := verify(t, store, g, backfill.VerifyRequest{Neighbors: true, Points: most, Repair: true})
		if !v.Clean || v.Drifted != 0 || (v.Partial == 1) != (most > 0) || g.live.Digest() != digest {
			t.Errorf("at most %d points: %+v", most, v)
		}
	}
	if store.got == 0 {
		t.Error("no point was looked up by its id: nothing is shown")
	}
}

// What is asked of the store for one user is bounded: a page of so many points and one more, which shows that there are others, and so
// many ids.
func TestVerifyInPartAsksForAPart(t *testing.T) {
	store, g := &bareStore{Store: newPoints(t, clustered(t, 1, 200)...)}, newGraph(t)
	must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
	store.scanned = nil
	v := verify(t, store, g, backfill.VerifyRequest{UserID: "user-0", Points: 10})
	if v.Partial != 1 || !slices.Equal(store.scanned, []int{10, 10}) || store.got != 10 {
		t.Errorf("pages of %v points and %d ids; want two of 10 and 10: %+v", store.scanned, store.got, v)
	}
}

// A part is drawn by a seed, which the report names, so that it can be drawn again.
func TestVerifyInPartSaysItsSeed(t *testing.T) {
	store, g := newPoints(t, clustered(t, 1, 20)...), newGraph(t)
	must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
	by, user := graphstore.Stamp{Version: 3, Rank: graphstore.RankAdd, EventID: "e"}, space(t, "user-0")
	for i := range 200 {
		g.damage(t, graphstore.PutFact(user, graphstore.Fact{ID: fmt.Sprint("ghost-", i), State: graphstore.StateActive,
			Registers: graphstore.Registers{Base: by, State: by}}))
	}
	found := func(seed uint64) (uint64, string) {
		v := verify(t, store, g, backfill.VerifyRequest{Points: 8, Seed: seed})
		return v.Request.Seed, fmt.Sprint(v.Examples)
	}
	seed, first := found(0)
	other, second := found(0)
	if seed == 0 || other == 0 || seed == other || first == second {
		t.Fatalf("seeds %d and %d, found %s and %s: want two draws", seed, other, first, second)
	}
	if _, again := found(seed); again != first {
		t.Errorf("seed %d drew %s, and again %s", seed, first, again)
	}
}

// What was wrong with points of the one user who is verified is counted and named once, however often they were looked at.
func TestVerifyOfOneUserNamesBadPoints(t *testing.T) {
	store, g := &bareStore{Store: newPoints(t, clustered(t, 2, 5)...)}, newGraph(t)
	must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
	store.scroll = func(page *vdb.Page) { page.Skipped = []string{"point 7: an id out of rule"} }
	for _, drifted := range []bool{false, true} {
		if drifted {
			g.drop(t, space(t, "user-0"), "fact-2")
		}
		v := verify(t, store, g, backfill.VerifyRequest{UserID: "user-0"})
		if v.Skipped != 1 || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "point 7") || (v.Drifted > 0) != drifted {
			t.Errorf("drifted %v: %+v", drifted, v)
		}
	}
}

// How far a verification is, is said now and then, not with each of many users: here one takes 30 ms.
func TestVerifyTellsNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, g := &bareStore{Store: newPoints(t, clustered(t, 50, 3)...)}, newGraph(t)
		must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
		store.scroll = func(*vdb.Page) { time.Sleep(30 * time.Millisecond) }
		var at []time.Time
		began := time.Now()
		v := verifyWith(t, store, g, backfill.Config{Verifying: func(backfill.VerifyReport) { at = append(at, time.Now()) }}, backfill.VerifyRequest{})
		took := time.Since(began)
		if v.Users != 50 || took != 1500*time.Millisecond {
			t.Fatalf("%d users in %v", v.Users, took)
		}
		for i := 1; i < len(at); i++ {
			if since := at[i].Sub(at[i-1]); since < 200*time.Millisecond {
				t.Errorf("word %d comes %v after the one before", i, since)
			}
		}
		if len(at) < 6 || at[0] != began {
			t.Errorf("%d words in %v, the first after %v; want one at the beginning and some more", len(at), took, at[0].Sub(began))
		}
	})
}

// A store that finds fault with the dimension of vectors which all have the one that it wants is not asked again and again.
func TestNeighborsOfAStoreThatContradictsItself(t *testing.T) {
	points := crowd(t)
	var asks atomic.Int64
	store := &asked{Store: newPoints(t, points...), fault: func([]vdb.Query) error {
		if asks.Add(1) > 100 {
			panic("asked without end")
		}
		return fmt.Errorf("%w: %w", vdb.ErrBadQuery, &vdb.DimensionError{Got: 7, Want: 5})
	}}
	_, err := work(t, t.TempDir(), store, newGraph(t), backfill.Request{})
	if dim := (*vdb.DimensionError)(nil); !errors.As(err, &dim) || asks.Load() > 8 { // 460 points are 8 batches
		t.Errorf("asked %d times: %v", asks.Load(), err)
	}
}
