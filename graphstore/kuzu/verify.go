package kuzu

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
)

// Verify reads every record and compares their digest with that of the head. [graphstore.ErrDamaged] says that the file is
// not what was committed; like a load it may also end the process.
func (s *Store) Verify(ctx context.Context) error {
	return s.LoadAll(ctx, func(graphstore.Change) error { return nil })
}
