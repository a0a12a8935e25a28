package backfill

import "github.com/kithgraph/kith/graphstore"

// Gathered is what the points of one user say.
type Gathered struct {
	g *Gather
	u *userFacts
}

func newGathered(g *Gather, u *userFacts) *Gathered {
	twice := u.dropRepeats()
	g.r.change(func(rep *Account) { rep.Duplicates += int64(twice) })
	return &Gathered{g, u}
}

// Space returns whose they are.
func (p *Gathered) Space() graphstore.Space { return p.u.space }

// Facts returns how many facts they are of.
func (p *Gathered) Facts() int { return len(p.u.facts) }

// Over returns what becomes of a graph of the user by the points, as a backfill would change it, and counts them in the account.
func (p *Gathered) Over(view *graphstore.Snapshot) (*graphstore.Snapshot, error) {
	r := p.g.r
	return p.u.over(r.b.proj, view, func(planned *userFacts) {
		r.change(func(rep *Account) { rep.planned(planned) })
	})
}

// Alone returns the graph of the points alone. It counts nothing.
func (p *Gathered) Alone() (*graphstore.Snapshot, error) {
	return p.u.over(p.g.r.b.proj, graphstore.NewSnapshot(p.u.space), func(*userFacts) {})
}
