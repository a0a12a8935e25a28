package main

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// A stream that is made again while a rebuild reads the points has other events than those whose end was noted: numbers are of the one or
// the other.
func TestRebuildOfAStreamThatWasMadeAgain(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(21, 21)), 50)
	e, s := w.opened()
	defer func() {
		if err := errors.Join(s.disconnect(), s.closeStores()); err != nil {
			t.Error(err)
		}
	}()
	for _, user := range []string{"", "user-1"} {
		r, err := e.newRebuild(s.js, s.vectors, server.RebuildRequest{UserID: user, From: server.RebuildFromBoth, NoNeighbors: true}, &s.rebuilds)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.ask(e.ctx), r.scan(e.ctx)); err != nil {
			t.Fatal(err)
		}
		if ext, err := r.extent(e.ctx); err != nil || ext.Log != r.noted.Log || ext.Log == "" {
			t.Errorf("the same stream: %+v, %v", ext, err)
		}
		stream, err := s.js.Stream(e.ctx, feed.EventStream)
		if err != nil {
			t.Fatal(err)
		}
		cfg := stream.CachedInfo().Config
		if err := s.js.DeleteStream(e.ctx, cfg.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := s.js.CreateStream(e.ctx, cfg); err != nil {
			t.Fatal(err)
		}
		if user == "" {
			_, err = r.build(e.ctx, s.host.file)
		} else {
			err = r.readUser(e.ctx, r.newUserReplay(spaceOf(t, user)))
		}
		if err == nil || !strings.Contains(err.Error(), "made again meanwhile") {
			t.Errorf("user %q: %v", user, err)
		}
		r.close()
	}
}
