package kuzu

import (
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// plan is what one transaction writes, worked out before it begins: no record twice, nothing that is already so.
type plan struct {
	newSpaces  []spaceRow
	goneSpaces []int64
	newTexts   []textRow
	goneTexts  []int64
	refs       map[int64]int // how many more or fewer columns refer to each text
	nodes      []*nodeWrites // one per node table
	edges      []*edgeWrites // one per relationship table
	index      []nodeChange
	next       int64             // the index's next number afterwards
	digest     graphstore.Digest // of the records that come, less that of those that go
	head       *headWrite        // set when the plan is to be written
}

// headWrite is what a transaction does to the head.
type headWrite struct{ before, after headRow }

type spaceRow struct {
	space graphstore.Space
	no    int64
}

type nodeWrites struct {
	table   *nodeTable
	creates [][]any
	sets    []nodeSet
	deletes []int64
}

// nodeSet are the columns of one node that change.
type nodeSet struct {
	id       int64
	position int64 // in its table
	columns  []column
	values   []any // of the columns
}

// params returns the values and the node's number as parameters.
func (s nodeSet) params() params {
	p := rowParams(s.columns, s.values)
	p["id"] = s.id
	return p
}

type edgeWrites struct {
	table   *relTable
	creates [][]any
	sets    [][]any
	deletes []edgeID
}

// records returns how many records the plan writes.
func (p *plan) records() int {
	n := len(p.newSpaces) + len(p.goneSpaces) + len(p.newTexts) + len(p.goneTexts)
	for _, w := range p.nodes {
		n += len(w.creates) + len(w.sets) + len(w.deletes)
	}
	for _, w := range p.edges {
		n += len(w.creates) + len(w.sets) + len(w.deletes)
	}
	return n
}

// planner compares changes with what is stored. It reads the committed state, outside of any transaction: inside one,
// reads of tables with new rows are slow.
type planner struct {
	session *session
	index   *index
	batch   batchRule
	plan    *plan

	spaces map[graphstore.Space]int64 // numbers of the spaces that the changes touch
	texts  map[spaceText]int64        // texts that the file does not have yet
	nodes  map[spaceNode]nodeAfter    // nodes that the changes write
	puts   map[*nodeTable]*putSet[int64]
	gone   map[*nodeTable]map[int64]graphstore.Change // deletes of nodes that exist
	edges  map[*relTable]*edgePlan
}

type spaceNode struct {
	space graphstore.Space
	key   nodeKey
}

// nodeAfter is a node after the transaction.
type nodeAfter struct {
	id    int64
	fresh bool // created by it
	gone  bool
}

// put is a change with the row that it wants.
type put struct {
	change graphstore.Change
	row    []any
}

// putSet is puts by key, in the order in which they came: a seed's run stays the same run.
type putSet[K comparable] struct {
	keys []K
	puts map[K]put
}

func (s *putSet[K]) add(k K, p put) {
	s.keys = append(s.keys, k)
	s.puts[k] = p
}

// edgePlan is what the changes say of one relationship table, before it is compared with what is stored.
type edgePlan struct {
	writes  *edgeWrites
	puts    putSet[edgeID]               // between nodes that exist: the edge may exist too
	drops   map[edgeID]graphstore.Change // deletes, whether or not the edge exists
	sources map[int64]bool               // whose edges must be read
}

// newPlan works out what the changes, which are valid, write.
func newPlan(s *session, x *index, batch batchRule, changes []graphstore.Change) (*plan, error) {
	p := &planner{session: s, index: x, batch: batch, plan: &plan{next: x.next, refs: make(map[int64]int)},
		spaces: make(map[graphstore.Space]int64), texts: make(map[spaceText]int64), nodes: make(map[spaceNode]nodeAfter),
		puts: make(map[*nodeTable]*putSet[int64]), gone: make(map[*nodeTable]map[int64]graphstore.Change),
		edges: make(map[*relTable]*edgePlan)}
	for _, t := range nodeTables() {
		p.puts[t] = &putSet[int64]{puts: make(map[int64]put)}
		p.gone[t] = make(map[int64]graphstore.Change)
	}
	for _, t := range relTables() {
		w := &edgeWrites{table: t}
		p.plan.edges = append(p.plan.edges, w)
		p.edges[t] = &edgePlan{writes: w, puts: putSet[edgeID]{puts: make(map[edgeID]put)},
			drops: make(map[edgeID]graphstore.Change), sources: make(map[int64]bool)}
	}
	if err := p.run(changes); err != nil {
		return nil, err
	}
	return p.plan, nil
}

func (p *planner) run(changes []graphstore.Change) error {
	byKind := make(map[graphstore.NodeKind][]graphstore.Change)
	for _, c := range changes {
		if kind := c.Key().Kind; kind != 0 {
			byKind[kind] = append(byKind[kind], c)
		}
	}
	for _, t := range nodeTables() {
		if err := p.planNodes(t, byKind[t.kind]); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if err := p.planEdge(c); err != nil {
			return err
		}
	}
	for _, t := range relTables() {
		if err := p.compareEdges(t); err != nil {
			return err
		}
	}
	p.planSpaces()
	return p.planTexts()
}

// spaceNo returns the number of a space that gets a node, a new one if it has none yet.
func (p *planner) spaceNo(s graphstore.Space) int64 {
	if no, ok := p.spaces[s]; ok {
		return no
	}
	no, ok := p.index.space(s)
	if !ok {
		no = p.nextNumber()
		p.plan.newSpaces = append(p.plan.newSpaces, spaceRow{s, no})
	}
	p.spaces[s] = no
	return no
}

func (p *planner) nextNumber() int64 {
	n := p.plan.next
	p.plan.next++
	return n
}

// planSpaces finds the spaces that lose their last node.
func (p *planner) planSpaces() {
	delta := make(map[graphstore.Space]int)
	for _, c := range p.plan.index {
		if c.gone {
			delta[c.space]--
		} else {
			delta[c.space]++
		}
	}
	for s, d := range delta {
		if no, ok := p.index.space(s); ok && p.index.size(s)+d == 0 {
			p.plan.goneSpaces = append(p.plan.goneSpaces, no)
		}
	}
}

// after returns the node as it is after the transaction.
func (p *planner) after(s graphstore.Space, kind graphstore.NodeKind, id string) (nodeAfter, bool) {
	k := nodeKey{kind, id}
	if n, ok := p.nodes[spaceNode{s, k}]; ok {
		return n, !n.gone
	}
	no, ok := p.index.node(s, k)
	return nodeAfter{id: no}, ok
}

func dangling(edge graphstore.Key, why string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", graphstore.ErrDangling, edge, fmt.Sprintf(why, args...))
}
