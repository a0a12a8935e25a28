package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/kithgraph/kith/projector"
)

// A whole graph that does not fit into memory is made part by part. Users are spread over 2^64 places by a hash; a pass makes
// the users of a range of places and skips the others' events, by subject, undecoded. When the users of a pass turn out
// not to fit, it begins again with a narrower range. How wide the next pass is goes by what those before it took.
//
// Rejected: one pass that writes each user's events to a file. It is a second copy of the stream on the disk, which has to be
// found and erased when the process dies or a user is to be forgotten; reading the stream again costs a tenth of planning it.

// crowded reports that the users of a pass do not fit.
type crowded struct{ seq uint64 }

func (c crowded) Error() string {
	return fmt.Sprintf("graphs do not fit into memory at event %d", c.seq)
}

// What a pass is meant to take of the bound, and how much narrower its next attempt is at most and at least: where few
// events have been read when it is full, they say little of those to come.
const (
	fill          = 0.7
	narrowestStep = 0.1
	widestStep    = 0.5
)

// places is a range of places, both ends included.
type places struct{ from, to uint64 }

func (p places) has(user string) bool {
	at := placeOf(user)
	return p.from <= at && at <= p.to
}

// placeOf spreads users evenly, also those whose ids are alike: FNV alone leaves the upper bits of such alike.
func placeOf(user string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(user)) // never fails
	x := h.Sum64()
	for _, factor := range []uint64{0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53} { // the finish of MurmurHash3
		x = (x ^ x>>33) * factor
	}
	return x ^ x>>33
}

// size is a number of places less one, which is the largest number of a pass that has all of them.
func (p places) size() float64 { return float64(p.to - p.from) }

// resized returns the range that begins at the same place and has so many places, at most those up to the last one.
func (p places) resized(size float64) places {
	if rest := uint64(math.MaxUint64) - p.from; size < float64(rest) {
		return places{p.from, p.from + uint64(size)}
	}
	return places{p.from, math.MaxUint64}
}

// narrowed returns the range that fits, as far as can be told by what was taken when a share of the events was read.
func (p places) narrowed(limit, taken int64, share float64) places {
	step := fill * share * float64(limit) / float64(taken)
	return p.resized(min(max(step, narrowestStep), widestStep) * p.size())
}

// after returns the next range, when the places up to the end of this one had so many users, who took so many bytes.
func (p places) after(limit, taken int64, users int) places {
	next := places{from: p.to + 1}
	if limit == 0 || users == 0 {
		return next.resized(math.MaxUint64)
	}
	share := max(fill*float64(limit)/float64(taken), 1/float64(users)) // one user is made in any case
	return next.resized(share * float64(p.to))
}

// All makes the graphs of all users, of the events that were there at ext, and yields them one after the other; an error of
// yield ends it. Each user is yielded once, when the graph is complete, those of a pass by group and id. Events that are
// removed from the stream meanwhile may be missing. Which users make a pass depends on their ids and on [ReplayConfig.MaxBytes].
func (r *Replay) All(ctx context.Context, ext Extent, yield func(*ReplayedUser) error) (*Replayed, error) {
	out := &Replayed{Extent: ext, Events: map[projector.Type]int{}}
	at, taken, users := places{0, math.MaxUint64}, int64(0), 0
	for {
		p := r.newProjection(ext, at.has)
		p.limit, p.nobodys, p.progress.Pass = r.cfg.MaxBytes, at.from == 0, out.Passes+1
		err := p.run(ctx, ext.First)
		if c := (crowded{}); errors.As(err, &c) && at.to > at.from {
			at = at.narrowed(p.limit, p.bytes, float64(c.seq-ext.First+1)/float64(ext.Last-ext.First+1))
			r.cfg.Logger.Debug("users do not fit into memory together: reading the stream for some of them at a time", "at", c.seq, "bytes", p.bytes)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("replay events %d to %d: %w", ext.First, ext.Last, err)
		}
		out.add(p.out)
		taken, users = taken+p.bytes, users+len(p.users)
		if err := p.yield(yield); err != nil {
			return nil, err
		}
		if at.to == math.MaxUint64 {
			return out, r.exhume(ctx, out)
		}
		at = at.after(p.limit, taken, users)
	}
}

// yield yields the users by group and id, and lets go of each.
func (p *projection) yield(yield func(*ReplayedUser) error) error {
	users := make([]*ReplayedUser, 0, len(p.users))
	for _, u := range p.users {
		users = append(users, u)
	}
	clear(p.users)
	slices.SortFunc(users, func(a, b *ReplayedUser) int {
		x, y := a.Space.UserID(), b.Space.UserID()
		return cmp.Or(cmp.Compare(p.cfg.Group(x), p.cfg.Group(y)), cmp.Compare(x, y))
	})
	for i, u := range users {
		users[i] = nil
		if err := yield(u); err != nil {
			return err
		}
	}
	return nil
}
