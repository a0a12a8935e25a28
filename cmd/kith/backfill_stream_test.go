package main

import (
	"context"
	"testing"
)

// A service that has just begun, on a data directory that has had none, has no stream yet: a backfill then begins all the same.
func TestBackfillBeforeThereIsAStream(t *testing.T) {
	e := &env{ctx: context.Background(), log: discardLog()}
	e.cfg.DataDir = t.TempDir()
	js, _, done, err := e.openStream()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{e: e, js: js}
	s.backfills.s = s
	if seq, err := s.backfills.lastSeq(); err != nil || seq != 0 {
		t.Errorf("%d, %v: want 0, there was no event", seq, err)
	}
	if _, err := e.newPublisher(e.ctx, js); err != nil { // makes the streams
		t.Fatal(err)
	}
	if seq, err := s.backfills.lastSeq(); err != nil || seq != 0 {
		t.Errorf("of an empty stream: %d, %v: want 0", seq, err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
}
