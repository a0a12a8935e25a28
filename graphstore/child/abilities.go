package child

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
)

// Backup has the child's store write a copy of the graph to a new file at path, and returns what is in the copy: the child's
// store must have this method too, else the error is [errors.ErrUnsupported]. It takes as long as ctx allows; an Apply that
// waits meanwhile does not count as hung. When the child dies or ctx ends, what is at path is what that store leaves there.
func (s *Store) Backup(ctx context.Context, path string) (h graphstore.Head, st graphstore.Stats, err error) {
	err = s.longCall(ctx, func(p *process) (err error) {
		h, st, err = p.backup(ctx, path)
		return err
	})
	return h, st, err
}

// Checkpoint has the child's store tidy up, by its method of this name: [errors.ErrUnsupported] if it has none. It takes as
// long as Backup may.
func (s *Store) Checkpoint(ctx context.Context) error {
	return s.longCall(ctx, func(p *process) error { return p.checkpoint(ctx) })
}

// longCall is a call behind which an apply may have to wait for longer than Config.ApplyLimit.
func (s *Store) longCall(ctx context.Context, do func(*process) error) error {
	return s.call(ctx, func(p *process) error {
		end := p.patience.suspend()
		defer end()
		return do(p)
	})
}

// Account says what a child takes of the machine.
type Account struct {
	Leaked int64 // bytes that the store's engine has lost until its process ends, by the store's own count
	RSS    int64 // resident memory of the process, in bytes
}

// Account returns the child's account. If the child's store has no method Leaked, the error is [errors.ErrUnsupported], and
// RSS is set all the same. It needs /proc.
func (s *Store) Account(ctx context.Context) (a Account, err error) {
	err = s.call(ctx, func(p *process) (err error) {
		if a.RSS, err = memoryOf(p.pid); err != nil {
			return err
		}
		a.Leaked, err = p.leaked(ctx)
		return err
	})
	return a, err
}
