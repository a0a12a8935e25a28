package calibrate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// Query is a question.
type Query struct {
	Name   string // for errors
	Space  graphstore.Space
	Vector []float32
	Self   string // the fact whose vector it is, which is no answer to it; empty for a real question
}

// getChunk is how many vectors are fetched at once.
const getChunk = 200

// OwnQueries takes the vectors of at most n random facts as questions, for a collection of which no questions are known. Facts
// resemble each other in another way than questions resemble facts: see what [Result] says. Facts of users who have no other are
// left out. Equal seeds choose equal facts of an unchanged collection.
func OwnQueries(ctx context.Context, store Store, f *Facts, n int, seed uint64) ([]Query, error) {
	type place struct {
		space graphstore.Space
		id    string
	}
	var all []place
	for _, s := range f.Spaces {
		if len(f.IDs[s]) < 2 {
			continue
		}
		for _, id := range f.IDs[s] {
			all = append(all, place{s, id})
		}
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(n, len(all))]
	slices.SortStableFunc(all, func(a, b place) int { return strings.Compare(a.space.UserID(), b.space.UserID()) })
	var queries []Query
	for len(all) > 0 {
		space := all[0].space
		var ids []string
		for len(all) > 0 && len(ids) < getChunk && all[0].space == space {
			ids = append(ids, all[0].id)
			all = all[1:]
		}
		points, err := store.Get(ctx, space, ids, true)
		if err != nil {
			return nil, fmt.Errorf("read vectors of facts: %w", err)
		}
		for _, p := range points {
			queries = append(queries, Query{Name: "fact " + p.ID, Space: space, Vector: p.Vector, Self: p.ID})
		}
	}
	return queries, nil
}
