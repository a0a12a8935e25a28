package kuzu

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// Apply implements [graphstore.Store]. One call is one transaction of Kuzu, so its size is the caller's choice: edges of many
// nodes are created by scanning all nodes of their ends, so larger ones save time up to about a hundredth of the stored
// records. The memory of the columns it updates must fit Config.BufferPoolBytes. What is already stored as given is not written again.
func (s *Store) Apply(ctx context.Context, changes []graphstore.Change) error {
	return s.ApplyMarked(ctx, changes, graphstore.Mark{})
}

// ApplyMarked implements [graphstore.Store], like [Store.Apply]. A mark that is the stored one is not written again. The
// name of a mark's log is text as [graphstore.CheckText] wants it.
func (s *Store) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if err := graphstore.ValidateChanges(changes); err != nil {
		return err
	}
	if err := graphstore.CheckText(mark.Log); err != nil {
		return fmt.Errorf("%w: log of the mark %w", graphstore.ErrBadChange, err)
	}
	if len(changes) == 0 && mark == (graphstore.Mark{}) {
		return nil
	}
	return s.onWriter(ctx, func() error { return s.apply(changes, mark) })
}

// onWriter runs fn on the writer goroutine and waits for it. The context counts until fn begins.
func (s *Store) onWriter(ctx context.Context, fn func() error) error {
	var err error
	done := make(chan struct{})
	request := func() {
		defer close(done)
		if err = ctx.Err(); err == nil {
			err = fn()
		}
	}
	select {
	case s.requests <- request:
		<-done
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write is the writer goroutine: the only one that writes, and the only one that replaces the engine.
func (s *Store) write() {
	defer close(s.written)
	for request := range s.requests {
		request()
		s.tidy()
	}
}

// apply runs on the writer goroutine.
func (s *Store) apply(changes []graphstore.Change, mark graphstore.Mark) error {
	if err := s.ready(); err != nil {
		return err
	}
	rule := batchRule{force: s.cfg.hooks.forceBatch}
	plan, err := newPlan(s.engine.writer, s.index, rule, changes)
	if err != nil {
		return err
	}
	before, _ := s.head.get() // known: the file is open
	after := before.after(plan.digest, mark)
	if plan.records() == 0 && after.head.Mark == before.head.Mark {
		return nil
	}
	plan.head = &headWrite{before, after}
	cost := s.budget.cost(plan, s.index)
	if err := s.checkLogSpace(cost); err != nil {
		return err
	}
	if err := s.makeRoom(cost); err != nil {
		return err
	}
	if err := s.commit(plan, rule); err != nil {
		// Kuzu rolled back, or did not say whether it committed. Both leave its memory in a state not to be trusted.
		s.reload(err)
		return fmt.Errorf("apply %d changes: %w", len(changes), err)
	}
	s.budget.add(cost)
	return nil
}

func (s *Store) commit(p *plan, rule batchRule) error {
	w := s.engine.writer
	if err := w.exec("BEGIN TRANSACTION"); err != nil {
		return err
	}
	if err := (writeSession{w, s.cfg.hooks.statement, rule, s.index}).write(p); err != nil {
		return err
	}
	if err := w.exec("COMMIT"); err != nil {
		return err
	}
	s.index.commit(p)
	s.head.set(p.head.after)
	return nil
}

// ready sees to it that the right file is open: it is opened again if the last replacement of the engine failed.
func (s *Store) ready() error {
	if s.engine != nil {
		return s.checkFiles()
	}
	s.gate.Lock()
	defer s.gate.Unlock()
	return s.reopenLocked(true)
}

// reload replaces the engine and reads the index again: after an error nobody knows what of it still holds.
func (s *Store) reload(why error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.head.forget(why)
	if err := s.reopenLocked(true); err != nil {
		s.log.Error("graph file is closed until the next write can open it", "err", err)
	}
}

// reopenLocked replaces the engine, and with index also what is known of the file. If it fails there is no engine.
func (s *Store) reopenLocked(index bool) error {
	s.closeEngine()
	err := s.reopen(index)
	if err != nil {
		s.closeEngine()
		err = fmt.Errorf("reopen graph: %w", err)
		s.head.forget(err)
	}
	return err
}

func (s *Store) reopen(index bool) (err error) {
	if err := s.checkFiles(); err != nil {
		return err
	}
	if undone, err := undoCheckpoint(s.path); err != nil {
		return err
	} else if undone {
		s.log.Warn("a checkpoint failed: it was taken back", "path", s.path)
		if s.file, err = identify(s.path); err != nil {
			return err
		}
	}
	if s.engine, err = openEngine(s.path, s.cfg, &s.leaked); err != nil {
		return err
	}
	if err := s.checkFiles(); err != nil { // again: Kuzu makes a file where there is none
		return err
	}
	if index {
		fresh, err := loadIndex(s.engine.writer, s.cfg.pageSizes())
		if err != nil {
			return fmt.Errorf("load index: %w", err)
		}
		fresh.next = max(fresh.next, s.index.next)
		s.index = fresh
	}
	return s.readHead()
}
