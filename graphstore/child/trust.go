package child

import (
	"context"
	"errors"

	"github.com/kithgraph/kith/graphstore"
)

// ErrUntrusted reports, with Config.HoldEmpty, a child that has begun anew and that nobody has looked at yet: its graph may be
// an older one than what was committed. Nothing was applied.
var ErrUntrusted = errors.New("store child has begun anew and its graph has not been looked at")

// Trust hands the head of the child that runs to check, and lets it take applies if that returns nil. The child of Start is
// trusted. Without Config.HoldEmpty all are.
//
// A log that was cut short, by a torn write or by a flipped byte at which Kuzu ends it, gives a graph that is sound, and not
// the one that was acknowledged. What is applied to it carries a mark that claims the rest.
func (s *Store) Trust(ctx context.Context, check func(graphstore.Head) error) error {
	return s.call(ctx, func(p *process) error {
		head, err := p.head(ctx)
		if err != nil {
			return err
		}
		if err := check(head); err != nil {
			return err
		}
		p.untrusted.Store(false)
		return nil
	})
}
