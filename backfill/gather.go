package backfill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// GatherRequest says which points to gather.
type GatherRequest struct {
	UserID string // only this user's; empty: the whole collection
	// NoNeighbors leaves out semantic_neighbor edges, and with them the searches for each point.
	NoNeighbors bool
	// Memory is how many bytes the points in hand may take; half of it the users of a part. Defaults to [DefaultMemoryBytes].
	Memory int64
}

// Gather holds the facts of a range of points and gives them out user by user, for whoever makes graphs of them and of something
// else. The facts are in files, dealt out by user; one part of them is in memory at a time, or one user where a user alone
// is larger. It writes no checkpoint and no graph.
//
// One goroutine uses it, but for [Gather.Account].
type Gather struct {
	r     *run
	s     *spill
	began bool // files may be there

	part  int // in memory; -1: none
	users []userFacts
	taken map[graphstore.Space]bool // given out by User
}

// NewGather returns a gathering that has read nothing yet. The error is [ErrBadRequest]. A graph is not needed for it: that of the
// backfill may be nil.
func (b *Backfill) NewGather(req GatherRequest) (*Gather, error) {
	run, err := b.Prepare(Request{UserID: req.UserID, Memory: req.Memory, NoNeighbors: req.NoNeighbors, DryRun: true})
	if err != nil {
		return nil, err
	}
	return &Gather{r: run.r, part: -1, taken: map[graphstore.Space]bool{}}, nil
}

// Total asks how many points there are, once: a store that cannot be reached is an error at once.
func (g *Gather) Total(ctx context.Context) (int64, error) {
	info, err := g.r.b.points.Info(ctx)
	total := info.Points
	if err == nil && !g.r.space.IsZero() {
		total, err = g.r.b.points.Count(ctx, g.r.space)
	}
	if err != nil {
		return 0, fmt.Errorf("ask the vector store: %w", err)
	}
	g.r.size = newPageSize(memoryOf(g.r.req), info.Dimension)
	g.r.change(func(rep *Account) { rep.Total = total })
	return total, nil
}

// Scan reads the points, after [Gather.Total]; once. A store that fails is asked again for as long as the configuration says. Close
// removes what it has written, also after an error.
func (g *Gather) Scan(ctx context.Context) error {
	g.began = true
	if err := g.r.b.removeGathered(); err != nil {
		return err
	}
	g.r.cp.Parts = make([]int64, parts(g.r.Report().Total, memoryOf(g.r.req)))
	var err error
	if g.s, err = openSpill(g.r.b.spillDir(), g.r.cp.Parts); err != nil {
		return err
	}
	if err := g.r.scanInto(ctx, g.s); err != nil {
		return err
	}
	g.r.phase("gathered")
	return nil
}

// removeGathered removes what a gathering that was killed has left in [Config.Dir].
func (b *Backfill) removeGathered() error {
	if err := os.RemoveAll(b.spillDir()); err != nil {
		return fmt.Errorf("remove facts of an earlier run: %w", err)
	}
	return nil
}

// Account says how far the scan is, and after it what the points were. Changed, Unchanged and Forgotten count the facts that
// were planned.
func (g *Gather) Account() Account { return g.r.Report() }

// Part returns a number that users have in common whose facts are in memory at the same time: who asks for users in its order
// has each part read once.
func (g *Gather) Part(user string) int {
	if g.s == nil || len(g.s.files) == 0 {
		return 0
	}
	return g.s.partOf(user)
}

// User returns the facts of a user's points, nil if there are none. They are valid until another part is read.
func (g *Gather) User(space graphstore.Space) (*Gathered, error) {
	g.taken[space] = true
	if err := g.load(g.Part(space.UserID())); err != nil {
		return nil, err
	}
	at, found := slices.BinarySearchFunc(g.users, space.UserID(), func(u userFacts, id string) int { return cmp.Compare(u.space.UserID(), id) })
	if !found {
		return nil, nil //nolint:nilnil // none
	}
	return newGathered(g, &g.users[at]), nil
}

// Rest yields the users that were not asked for with [Gather.User], part by part; an error of yield ends it.
func (g *Gather) Rest(ctx context.Context, yield func(*Gathered) error) error {
	for part := range g.s.files {
		if err := g.load(part); err != nil {
			return err
		}
		for i := range g.users {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			u := &g.users[i]
			if g.taken[u.space] {
				continue
			}
			if err := yield(newGathered(g, u)); err != nil {
				return err
			}
			u.facts = nil
		}
	}
	return nil
}

// load brings a part into memory.
func (g *Gather) load(part int) error {
	if part == g.part {
		return nil
	}
	g.part, g.users = -1, nil
	users, err := g.s.read(part)
	if err != nil {
		return err
	}
	for i := range users { // where they are is decided elsewhere; a user who is looked for in another part would be lost
		if at := g.Part(users[i].space.UserID()); at != part {
			return fmt.Errorf("facts of %s are in part %d, expected in %d", graphstore.Shorten(users[i].space.UserID()), part, at)
		}
	}
	g.part, g.users = part, users
	return nil
}

// Close removes the files.
func (g *Gather) Close() error {
	if !g.began {
		return nil
	}
	var err error
	if g.s != nil {
		err = g.s.close()
	}
	return errors.Join(err, g.r.b.removeGathered())
}
