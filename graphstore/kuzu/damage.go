package kuzu

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// damaged returns an error that wraps [graphstore.ErrDamaged] and says what of the file cannot be what was committed.
func damaged(what string, args ...any) error {
	return fmt.Errorf("%w: %w", graphstore.ErrDamaged, fmt.Errorf(what, args...))
}
