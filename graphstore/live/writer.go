package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/iter"

	"github.com/kithgraph/kith/graphstore"
)

// writer is what Apply, Snapshot, Hold and Load work with, one at a time.
type writer struct {
	turn chan struct{} // holds a token while nobody has the turn

	// suspect holds the spaces of which the store may have other records than the snapshot, with the digest of these.
	suspect map[graphstore.Space]graphstore.Digest
	// doubt is the one commit of unknown outcome, if there is no more than one.
	doubt []step
	// unsure is set from the moment there is a suspect until the head has been read again.
	unsure bool
	mark   graphstore.Mark
	heads  possibleDigests

	// working holds what a batch is planned against, resident or not, so that nothing is read twice for it.
	working      map[graphstore.Space]*graphstore.Snapshot
	workingBytes int64
}

func newWriter() writer {
	w := writer{
		turn: make(chan struct{}, 1), suspect: map[graphstore.Space]graphstore.Digest{},
		working: map[graphstore.Space]*graphstore.Snapshot{},
	}
	w.turn <- struct{}{}
	return w
}

// lock waits for the turn until ctx ends.
func (w *writer) lock(ctx context.Context) error {
	select {
	case <-w.turn:
		return nil
	default:
	}
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the graph's writer: %w", context.Cause(ctx))
	}
}

func (w *writer) unlock() { w.turn <- struct{}{} }

// holdLocked adds a snapshot to the working ones. Together they stay within the limit, unless the new one alone is
// larger. Without a limit every space is resident, and nothing is to be held.
func (w *writer) holdLocked(s *graphstore.Snapshot, limit int64) {
	if limit == 0 {
		return
	}
	w.releaseLocked(s.Space())
	w.workingBytes += s.Bytes()
	for space := range w.working {
		if w.workingBytes <= limit {
			break
		}
		w.releaseLocked(space)
	}
	w.working[s.Space()] = s
}

func (w *writer) releaseLocked(space graphstore.Space) {
	if s, held := w.working[space]; held {
		w.workingBytes -= s.Bytes()
		delete(w.working, space)
	}
}

func (w *writer) releaseAllLocked() {
	clear(w.working)
	w.workingBytes = 0
}

// Snapshot returns the snapshot to plan changes against: View's, but never one that the store may be ahead of. It waits
// for Load and may read from the store; users that are not resident or too large have one too, which the graph holds
// until the next Apply, outside its bound.
func (g *Graph) Snapshot(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error) {
	if space.IsZero() {
		return nil, graphstore.ErrNoSpace
	}
	if err := g.begin(ctx); err != nil {
		return nil, err
	}
	defer g.writer.unlock()
	return g.currentLocked(ctx, space)
}

// begin waits for Load and for the turn.
func (g *Graph) begin(ctx context.Context) error {
	if err := g.waitLoaded(ctx); err != nil {
		return err
	}
	return g.writer.lock(ctx)
}

// currentLocked returns the newest snapshot of a space, from memory or from the store.
func (g *Graph) currentLocked(ctx context.Context, space graphstore.Space) (*graphstore.Snapshot, error) {
	if err := g.trustLocked(ctx, space); err != nil {
		return nil, err
	}
	if s, ok := g.writer.working[space]; ok {
		return s, nil
	}
	d := &g.dir
	d.RLock()
	e, known := d.entries[space]
	var s *graphstore.Snapshot
	if known {
		s = e.snap
	}
	d.RUnlock()
	switch {
	case !known:
		return graphstore.NewSnapshot(space), nil
	case s != nil:
		d.touch(e)
	default:
		var err error
		if s, _, err = g.read(ctx, space, 0); err != nil {
			return nil, err
		}
		if err := g.keepRead(e, s); err != nil {
			return nil, err
		}
	}
	g.writer.holdLocked(s, d.max)
	return s, nil
}

// keepRead makes what the writer has read resident. Only the writer removes entries, so this one is still good.
func (g *Graph) keepRead(e *entry, s *graphstore.Snapshot) error {
	digest := s.Digest()
	g.dir.Lock()
	defer g.dir.Unlock()
	if err := e.checkLocked(digest); err != nil {
		return err
	}
	g.dir.reloads++
	g.dir.keepLocked(e, s)
	return nil
}

// decideLocked finds out whether a commit of unknown outcome has happened. A transaction is whole or nothing and changes
// the store's head with its records, and memory has the records of before and of after: nothing needs to be read but the
// head. Where several commits are in doubt it does nothing.
func (g *Graph) decideLocked(ctx context.Context) error {
	w := &g.writer
	if len(w.doubt) == 0 || len(w.heads) != 2 {
		return nil
	}
	head, err := g.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head of graph: %w", err)
	}
	if err := w.heads.check(head.Digest); err != nil {
		return err
	}
	committed := head.Digest == w.heads[1]
	if committed {
		g.publish(graphstore.Digest{}, w.doubt...)
	} else {
		g.dir.setOpen(w.doubt, false)
	}
	g.log.Debug("a commit of unknown outcome is decided", "committed", committed, "users", len(w.doubt))
	clear(w.suspect)
	g.headIsLocked(head)
	return nil
}

// headIsLocked takes note of what the store has committed.
func (g *Graph) headIsLocked(head graphstore.Head) {
	g.writer.unsure, g.writer.doubt, g.writer.mark, g.writer.heads = false, nil, head.Mark, possibleDigests{head.Digest}
	g.dir.Lock()
	g.dir.digest = head.Digest
	g.dir.Unlock()
}

// trustLocked decides what is in doubt, or reads a suspect space from the store again, and the head after the last of them.
func (g *Graph) trustLocked(ctx context.Context, space graphstore.Space) error {
	if !g.writer.unsure {
		return nil
	}
	if err := g.decideLocked(ctx); err != nil {
		return err
	}
	if after, suspect := g.writer.suspect[space]; suspect {
		if err := g.headLocked(ctx); err != nil { // before a state that went back takes the place of what is published
			return err
		}
		s, _, err := g.read(ctx, space, 0)
		if err != nil {
			return err
		}
		digest := s.Digest()
		if before := g.digestOf(space); digest != before && digest != after {
			return damagedSpace(space, digest, before)
		}
		g.publish(graphstore.Digest{}, step{s, digest})
		g.writer.holdLocked(s, g.dir.max)
		delete(g.writer.suspect, space)
		g.log.Debug("graph of a user loaded again after a commit of unknown outcome", "user", space.UserID())
	}
	if !g.writer.unsure || len(g.writer.suspect) > 0 {
		return nil
	}
	head, err := g.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head of graph: %w", err)
	}
	if err := g.writer.heads.check(head.Digest); err != nil {
		return err
	}
	g.headIsLocked(head)
	return nil
}

// headLocked looks whether the store is in a state that it may be in.
func (g *Graph) headLocked(ctx context.Context) error {
	head, err := g.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head of graph: %w", err)
	}
	return g.writer.heads.check(head.Digest)
}

// publish makes snapshots the newest of their spaces, all at once; change is by what they change the whole digest.
func (g *Graph) publish(change graphstore.Digest, steps ...step) {
	g.dir.Lock()
	defer g.dir.Unlock()
	g.dir.digest.Merge(change)
	for _, s := range steps {
		g.dir.publishLocked(s.snap, s.digest)
	}
}

// step is a space after a commit.
type step struct {
	snap   *graphstore.Snapshot
	digest graphstore.Digest // of its records
}

// digestOf returns the digest of what was published of a space.
func (g *Graph) digestOf(space graphstore.Space) graphstore.Digest {
	g.dir.RLock()
	defer g.dir.RUnlock()
	if e, known := g.dir.entries[space]; known {
		return e.digest
	}
	return graphstore.Digest{}
}

// Apply commits the changes to the store and then publishes the new snapshots. Its contract and errors are those of
// [graphstore.Store.Apply]. It waits for Load.
func (g *Graph) Apply(ctx context.Context, changes []graphstore.Change) error {
	return g.ApplyMarked(ctx, changes, graphstore.Mark{})
}

// ApplyMarked is Apply with a mark: see [graphstore.Store.ApplyMarked].
func (g *Graph) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	if err := graphstore.ValidateChanges(changes); err != nil {
		return err
	}
	if err := g.begin(ctx); err != nil {
		return err
	}
	defer g.writer.unlock()
	next, change, err := g.nextLocked(ctx, changes)
	if err != nil {
		return err
	}
	g.dir.setOpen(next, true)
	if err := g.store.ApplyMarked(ctx, changes, mark); err != nil {
		if errors.Is(err, graphstore.ErrBadChange) || errors.Is(err, graphstore.ErrDangling) {
			g.dir.setOpen(next, false)
			// Memory has just accepted the same changes. A store that has another graph must not have them taken for bad ones.
			if differs := g.headLocked(ctx); differs != nil {
				err = fmt.Errorf("%w (it refuses what memory accepts: %v)", differs, err) //nolint:errorlint // it must not be taken for permanent
			}
		} else {
			g.writer.doubtLocked(next)
			g.writer.heads.mayChange(change)
		}
		return fmt.Errorf("commit graph changes: %w", err)
	}
	if mark != (graphstore.Mark{}) {
		g.writer.mark = mark
	}
	g.writer.heads.change(change)
	g.publish(change, next...)
	g.keepOneLocked(next)
	return nil
}

// doubtLocked notes that the store may or may not hold what these snapshots do.
func (w *writer) doubtLocked(next []step) {
	if w.doubt = next; w.unsure {
		w.doubt = nil // there are two
	}
	for _, s := range next {
		w.suspect[s.snap.Space()] = s.digest
		w.unsure = true
		w.releaseLocked(s.snap.Space())
	}
}

// keepOneLocked drops what the batch worked on, but for the latest snapshot that is not resident: the next batch is often
// of the same user.
func (g *Graph) keepOneLocked(next []step) {
	if len(next) == 0 {
		return
	}
	g.writer.releaseAllLocked()
	g.dir.RLock()
	defer g.dir.RUnlock()
	for i := len(next) - 1; i >= 0; i-- {
		s := next[i].snap
		if e, known := g.dir.entries[s.Space()]; known && e.snap == nil {
			g.writer.holdLocked(s, g.dir.max)
			return
		}
	}
}

// nextLocked returns the spaces after the changes, in the order of the changes, and by what they change the whole digest. It
// is done before the commit, so that what cannot be published is not committed.
func (g *Graph) nextLocked(ctx context.Context, changes []graphstore.Change) ([]step, graphstore.Digest, error) {
	var order []graphstore.Space
	bySpace := map[graphstore.Space][]graphstore.Change{}
	for _, c := range changes {
		if _, seen := bySpace[c.Space]; !seen {
			order = append(order, c.Space)
		}
		bySpace[c.Space] = append(bySpace[c.Space], c)
	}
	spaces := make([]spaceChange, len(order))
	for i, space := range order {
		now, err := g.currentLocked(ctx, space)
		if err != nil {
			return nil, graphstore.Digest{}, err
		}
		spaces[i] = spaceChange{now: now, changes: bySpace[space]}
	}
	iter.ForEach(spaces, (*spaceChange).work) // as many at a time as there are processors
	var change graphstore.Digest
	next := make([]step, len(order))
	for i, s := range spaces {
		if s.err != nil {
			return nil, change, s.err
		}
		next[i] = step{s.next, g.digestOf(order[i])}
		next[i].digest.Merge(s.digest)
		change.Merge(s.digest)
	}
	return next, change, nil
}

// spaceChange is what one transaction makes of one space.
type spaceChange struct {
	now     *graphstore.Snapshot
	changes []graphstore.Change

	next   *graphstore.Snapshot
	digest graphstore.Digest // what is added to that of the space
	err    error
}

func (s *spaceChange) work() {
	if s.next, s.err = s.now.With(s.changes); s.err == nil {
		s.digest = changeOf(s.now, s.changes)
	}
}

// changeOf returns by what changes alter the digest of a space.
func changeOf(s *graphstore.Snapshot, changes []graphstore.Change) (d graphstore.Digest) {
	for _, c := range changes {
		if old, had := s.Record(c.Key()); had {
			d.Remove(old)
		}
		if c.Op == graphstore.Put {
			d.Add(c)
		}
	}
	return d
}
