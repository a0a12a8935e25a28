package graphstore

import (
	"fmt"
	"slices"
)

func farKind(t RelationType) NodeKind {
	_, target := t.Ends()
	return target
}

func errEdgesRemain(k Key, edges int) error {
	return fmt.Errorf("%w: delete of %s: %d edges remain", ErrDangling, k, edges)
}

// putEdge adds or replaces one contribution.
func (b *Builder) putEdge(e Edge) error {
	source, ok := findFact(&b.factIndex.idx, &b.facts.vec, e.Source)
	if !ok {
		return fmt.Errorf("%w: %s: no fact %s", ErrDangling, e.Key(), Shorten(e.Source))
	}
	if kind := farKind(e.Type); kind != KindFact {
		return b.putBridge(e, source, kind)
	}
	target, ok := findFact(&b.factIndex.idx, &b.facts.vec, e.Target)
	if !ok {
		return fmt.Errorf("%w: %s: no fact %s", ErrDangling, e.Key(), Shorten(e.Target))
	}
	from, to := b.own(source), b.own(target)
	by := caseOf(e.Asserter, e.Source, e.Target)
	id, known := b.claimID(by, e.Asserter)
	forth, back := tieKey{target, e.Type, true, claim{by, id}}, tieKey{source, e.Type, false, claim{by, id}}
	if known {
		if out, in := b.findLink(source, target, forth, back); out >= 0 {
			to.ties[in].Weight = e.Weight
			from.ties[out].Weight = e.Weight
			return b.setDetail(source, out, e)
		}
	}
	if err := b.addTie(target, back, e, false); err != nil {
		return err
	}
	b.edges++
	return b.addTie(source, forth, e, true)
}

// findLink finds a contribution at both of its ends, or returns -1: it is at both or at neither.
func (b *Builder) findLink(source, target Node, forth, back tieKey) (out, in int) {
	if len(b.node(target).ties) < len(b.node(source).ties) {
		if in = b.find(target, back); in < 0 {
			return -1, -1
		}
		return b.find(source, forth), in
	}
	if out = b.find(source, forth); out < 0 {
		return -1, -1
	}
	return out, b.find(target, back)
}

// claimID returns the atom of an asserter's id where the case needs one; false if it has none yet.
func (b *Builder) claimID(by asserterCase, a Asserter) (atom, bool) {
	if !by.named() {
		return 0, true
	}
	return b.atoms.find(a.ID)
}

func (b *Builder) putBridge(e Edge, source Node, kind NodeKind) error {
	nodes, idx := b.bridges(e.Type)
	i, ok := findBridge(&idx.idx, &nodes.vec, e.Target)
	if !ok {
		return fmt.Errorf("%w: %s: no %s %s", ErrDangling, e.Key(), kind, Shorten(e.Target))
	}
	br := Bridge{e.Type, i}
	from := b.own(source)
	by := caseOf(e.Asserter, e.Source, "")
	id, known := b.claimID(by, e.Asserter)
	key := tieKey{Node(i), e.Type, true, claim{by, id}}
	on := b.isOn(source, br)
	if on && known {
		if at := b.find(source, key); at >= 0 {
			from.ties[at].Weight = e.Weight
			return b.setDetail(source, at, e)
		}
	}
	if err := b.addTie(source, key, e, true); err != nil {
		return err
	}
	far := b.ownBridge(br)
	if from.present() && !on {
		far.degree++
	}
	far.facts = append(far.facts, source)
	b.bytes += memberBytes
	b.edges++
	return nil
}

// isOn reports whether any contribution ties the fact to the bridge; it reads the end that has fewer.
func (b *Builder) isOn(source Node, br Bridge) bool {
	n := b.node(source)
	if facts := b.bridgeNode(br).facts; len(facts) < len(n.ties)-int(n.links) {
		return slices.Contains(facts, source)
	}
	return slices.ContainsFunc(n.ties[n.links:], func(l Link) bool { return l.To == Node(br.to) && l.Type == br.Type })
}

// remove deletes the record with this key, if there is one.
func (b *Builder) remove(k Key) error {
	switch {
	case k.Kind > KindTopic || isMinor(k.Relation):
		return b.removeMinor(k)
	case k.IsEdge() && farKind(k.Relation) == KindFact:
		b.removeLink(k)
		return nil
	case k.IsEdge():
		b.removeBridge(k)
		return nil
	case k.Kind == KindFact:
		return b.removeFact(k)
	default:
		return b.removeFarNode(k)
	}
}

func (b *Builder) removeLink(k Key) {
	source, ok1 := findFact(&b.factIndex.idx, &b.facts.vec, k.Node)
	target, ok2 := findFact(&b.factIndex.idx, &b.facts.vec, k.Target)
	by := caseOf(k.Asserter, k.Node, k.Target)
	id, ok3 := b.claimID(by, k.Asserter)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	forth, back := tieKey{target, k.Relation, true, claim{by, id}}, tieKey{source, k.Relation, false, claim{by, id}}
	out, in := b.findLink(source, target, forth, back)
	if out < 0 {
		return
	}
	b.dropTie(source, out)
	b.dropTie(target, in)
	b.edges--
}

func (b *Builder) removeBridge(k Key) {
	nodes, idx := b.bridges(k.Relation)
	source, ok1 := findFact(&b.factIndex.idx, &b.facts.vec, k.Node)
	i, ok2 := findBridge(&idx.idx, &nodes.vec, k.Target)
	by := caseOf(k.Asserter, k.Node, "")
	id, ok3 := b.claimID(by, k.Asserter)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	br := Bridge{k.Relation, i}
	if !b.isOn(source, br) {
		return
	}
	at := b.find(source, tieKey{Node(i), k.Relation, true, claim{by, id}})
	if at < 0 {
		return
	}
	b.dropTie(source, at)
	far := b.ownBridge(br)
	one, last := slices.Index(far.facts, source), len(far.facts)-1
	far.facts[one] = far.facts[last]
	far.facts = far.facts[:last]
	if b.node(source).present() && !b.isOn(source, br) {
		far.degree--
	}
	b.bytes -= memberBytes
	b.edges--
}
