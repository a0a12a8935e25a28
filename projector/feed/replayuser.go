package feed

import (
	"context"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// UserReplay makes the graph of one user. It is for one goroutine.
type UserReplay struct {
	p    *projection
	user *ReplayedUser
	next uint64
}

// User returns a replay of one user's events that has read nothing yet.
func (r *Replay) User(space graphstore.Space) *UserReplay {
	p := r.newProjection(Extent{}, func(user string) bool { return user == space.UserID() })
	return &UserReplay{p: p, user: p.user(space)}
}

// Read projects the events that were there at ext and were not read yet. Events of all users are read: whose one is its
// payload decides, and only the subject of another user says that it need not be looked at. After an error the replay is
// of no more use.
func (u *UserReplay) Read(ctx context.Context, ext Extent) error {
	first := u.p.out.Extent
	if u.next == 0 {
		first, u.next = ext, ext.First
	}
	if ext.Log != first.Log {
		return fmt.Errorf("the stream was made again: its events are of %s, those before of %s", ext.Log, first.Log)
	}
	u.p.out.Extent = ext
	u.p.progress.To = ext.Last
	if err := u.p.run(ctx, u.next); err != nil {
		return fmt.Errorf("replay events %d to %d: %w", u.next, ext.Last, err)
	}
	u.next = max(u.next, ext.Last+1)
	return u.p.exhume(ctx, &u.p.out)
}

// Skip passes over the events that were there at ext, as if they had been read.
func (u *UserReplay) Skip(ext Extent) { u.p.out.Extent, u.next = ext, ext.Last+1 }

// Result returns the user as of the last Read, and the account of all of them.
func (u *UserReplay) Result() (*ReplayedUser, *Replayed) { return u.user, &u.p.out }
