package main

import (
	"context"
	"slices"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/canary"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// verifyOnly looks for what is left of a user who was forgotten some time ago; for one who was not, everything is.
func (f *forgetting) verifyOnly(ctx context.Context) error {
	at, err := f.forgottenAt(ctx)
	if err != nil {
		return err
	}
	f.what = feed.Erasure{UserID: f.req.UserID, At: at}
	if f.out.At = at.Time(); !at.Present() {
		f.what.At = graphstore.InstantOf(time.Now())
	}
	if err := f.findEvent(ctx); err != nil {
		return err
	}
	if f.out.Points.Remaining, err = f.countPoints(ctx); err != nil {
		return err
	}
	if err := f.step("look whether anything is left", func() error { return f.verify(ctx) }); err != nil {
		return err
	}
	f.say()
	return nil
}

// findEvent finds the event that left the tombstone: it is declared to stay.
func (f *forgetting) findEvent(ctx context.Context) error {
	_, err := f.eraser.EachKept(ctx, feed.EventStream, func(m feed.KeptMessage) error {
		if m.Forgets(f.what.UserID) && m.Time == f.what.At {
			f.what.Sequence, f.out.Sequence = m.Sequence, m.Sequence
		}
		return nil
	})
	return err
}

// verify asks every store for the user, and searches the files of the data directory.
func (f *forgetting) verify(ctx context.Context) error {
	left, err := f.eraser.Count(ctx, f.what)
	if err != nil {
		return err
	}
	f.out.Log.Later = left.Later
	live, stored, err := f.remaining(ctx)
	if err != nil {
		return err
	}
	points, err := f.countPoints(ctx)
	if err != nil {
		return err
	}
	if !f.embedded() && !f.req.Points {
		points = 0 // declared to stay
	}
	v := &server.Verification{Asked: []server.VerificationCheck{
		{Place: "stream " + feed.EventStream, Found: left.Events}, {Place: "stream " + feed.DeadStream, Found: left.Dead},
		{Place: "graph in memory", Found: live}, {Place: "graph's file", Found: stored}, {Place: "vector store", Found: int(points)},
	}}
	f.out.Verification = v
	if err := f.searchFiles(ctx, v); err != nil {
		return err
	}
	v.Clean = len(v.Files.Hits) == 0 && !slices.ContainsFunc(v.Asked, func(c server.VerificationCheck) bool { return c.Found > 0 })
	return nil
}

// searchFiles searches the files of the data directory, and sorts the hits: what is in old copies that were not to be removed
// is declared to stay; what was taken from the user's data and others have too proves nothing. What was given to be looked
// for counts, whoever has it.
func (f *forgetting) searchFiles(ctx context.Context, v *server.Verification) error {
	report, err := f.s.e.searchFiles(ctx, f.canaries(v))
	if err != nil {
		return err
	}
	var taken []canary.Canary // of the user's data, and found
	for _, h := range report.Hits {
		if h.Kind != canary.KindGiven {
			taken = append(taken, h.Canary)
		}
	}
	shared := map[string]bool{}
	if len(taken) > 0 {
		if shared, err = f.shared(ctx, taken); err != nil {
			return err
		}
	}
	v.Shared, v.Files = len(shared), report
	v.Files.Hits = nil
	for _, h := range report.Hits {
		switch {
		case shared[h.Text]:
		case h.Class == classOldCopies:
			v.Kept = append(v.Kept, h)
		default:
			v.Files.Hits = append(v.Files.Hits, h)
		}
	}
	return nil
}

// canaries returns the texts to search for, each once.
func (f *forgetting) canaries(v *server.Verification) []canary.Canary {
	all := slices.Clone(f.given)
	if f.texts == nil {
		return all
	}
	v.Left = f.texts.Left()
	for _, c := range f.texts.Canaries() {
		if !slices.Contains(f.req.Canaries, c.Text) {
			all = append(all, c)
		}
	}
	return all
}
