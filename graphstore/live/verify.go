package live

import (
	"context"
	"fmt"
	"slices"

	"github.com/kithgraph/kith/graphstore"
)

// Verify compares the head of the store with what was committed, for a store that may have come back in another state, as
// after a restart of its process. It reads no records. It waits for Load and for a commit under way.
//
// The error is [graphstore.ErrDamaged] where the store has another graph: it has lost a commit, or everything. After a
// commit of unknown outcome either outcome is right.
func (g *Graph) Verify(ctx context.Context) error {
	if err := g.begin(ctx); err != nil {
		return err
	}
	defer g.writer.unlock()
	return g.headLocked(ctx)
}

// Check is Verify of a head that the caller has read, from a store that takes no commits meanwhile.
func (g *Graph) Check(ctx context.Context, head graphstore.Head) error {
	if err := g.begin(ctx); err != nil {
		return err
	}
	defer g.writer.unlock()
	return g.writer.heads.check(head.Digest)
}

// possibleDigests are the digests the store may have: one, and for each commit of unknown outcome twice as many. None
// stands for too many to tell.
type possibleDigests []graphstore.Digest

// maxPossible is that of four commits in doubt at a time. One is the rule: who does not know whether a batch was committed
// does it again, and that begins with reading the store.
const maxPossible = 16

// change notes a commit that changed the digest by this.
func (p possibleDigests) change(by graphstore.Digest) {
	for i := range p {
		p[i].Merge(by)
	}
}

// mayChange notes a commit that may have.
func (p *possibleDigests) mayChange(by graphstore.Digest) {
	if by == (graphstore.Digest{}) || len(*p) == 0 { // a mark alone, or too many to tell already
		return
	}
	after := slices.Clone(*p)
	after.change(by)
	if *p = append(*p, after...); len(*p) > maxPossible {
		*p = nil
	}
}

func (p possibleDigests) check(d graphstore.Digest) error {
	if len(p) == 0 || slices.Contains(p, d) {
		return nil
	}
	return fmt.Errorf("verify graph: %w: the head says %s, committed were %s", graphstore.ErrDamaged, d, p)
}
