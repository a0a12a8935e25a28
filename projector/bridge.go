package projector

import "github.com/kithgraph/kith/graphstore"

// tie is what one fact changes at an entity or topic: its edge, and whether the fact is present, before and after.
type tie struct {
	fact string
	edgeChange
	was, is bool
}

// before returns the edge if it counted, after if it counts now.
func (t tie) before() *graphstore.Edge { return counted(t.old, t.was) }
func (t tie) after() *graphstore.Edge  { return counted(t.now, t.is) }

func counted(e *graphstore.Edge, present bool) *graphstore.Edge {
	if !present {
		return nil
	}
	return e
}

// tie records a change at the far end of an edge, if that is an entity or topic and anything changes for it.
func (d *draft) tie(key graphstore.Key, t tie) {
	_, kind := key.Relation.Ends()
	if kind != graphstore.KindEntity && kind != graphstore.KindTopic {
		return
	}
	if t.was == t.is && t.old != nil && t.now != nil && *t.old == *t.now {
		return
	}
	far := graphstore.Key{Kind: kind, Node: key.Target}
	d.bridges[far] = append(d.bridges[far], t)
}

// deriveBridges appends what becomes of the entities and topics that ties changed.
//
// What a node shows is a function of the mentions by facts that are present: their number, the smallest spelling as its
// name, every other name and hard id beside it. The node itself stays as long as any edge leads to it: a deleted fact
// may hold one, hidden, for a later update ([FactDeleted]). A node with hidden edges only shows nothing of them: its
// count is 0 and its name the normalised one. An entity that the merge log names stays in any case, and shows the name
// that the log has while no fact that is present has one.
func (d *draft) deriveBridges(out []graphstore.Change) ([]graphstore.Change, error) {
	for key, ties := range d.bridges {
		var c graphstore.Change
		var changes bool
		var err error
		if key.Kind == graphstore.KindEntity {
			c, changes, err = d.deriveEntity(key, ties)
		} else {
			c, changes, err = d.deriveTopic(key, ties)
		}
		if err != nil {
			return nil, err
		}
		if changes {
			out = append(out, c)
		}
	}
	return out, nil
}

func (d *draft) deriveEntity(key graphstore.Key, ties []tie) (graphstore.Change, bool, error) {
	before, known := d.view.Entity(key.Node)
	shown := newWording()
	if known && before.Mentions > 0 {
		shown.spellings[before.Name] = struct{}{}
		for _, a := range before.Aliases {
			shown.aliases[a] = struct{}{}
		}
		for _, id := range before.HardIDs {
			shown.ids[id] = struct{}{}
		}
	}
	far, decisions := d.farEnd(key, ties), d.mergesNow(key.Node)
	if far.edges == 0 && len(decisions) == 0 {
		return graphstore.DeleteKey(d.view.Space(), key), known, nil
	}
	now, err := d.wordingNow(key, far, shown, ties)
	if err != nil {
		return graphstore.Change{}, false, err
	}
	after := graphstore.Entity{ID: key.Node, Type: before.Type, Norm: before.Norm, Name: now.name(), Aliases: now.others(),
		HardIDs: now.hardIDs(), Mentions: before.Mentions + balance(ties)}
	if !known {
		after.Type, after.Norm = d.names[key.Node].typ, d.names[key.Node].norm
	}
	if after.Name == "" {
		after.Name = nameInLog(key.Node, decisions)
	}
	if after.Name == "" {
		after.Name = after.Norm
	}
	return graphstore.PutEntity(d.view.Space(), after), !known || !after.Equal(before), nil
}

func (d *draft) deriveTopic(key graphstore.Key, ties []tie) (graphstore.Change, bool, error) {
	before, known := d.view.Topic(key.Node)
	shown := newWording()
	if known && before.Facts > 0 {
		shown.spellings[before.Name] = struct{}{}
	}
	far := d.farEnd(key, ties)
	if far.edges == 0 {
		return graphstore.DeleteKey(d.view.Space(), key), known, nil
	}
	now, err := d.wordingNow(key, far, shown, ties)
	if err != nil {
		return graphstore.Change{}, false, err
	}
	after := graphstore.Topic{ID: key.Node, Name: now.name(), Facts: before.Facts + balance(ties)}
	if after.Name == "" {
		after.Name = key.Node
	}
	return graphstore.PutTopic(d.view.Space(), after), !known || after != before, nil
}

// balance returns by how many the number of facts on a node grows. A fact has at most one edge to it.
func balance(ties []tie) int {
	n := 0
	for _, t := range ties {
		if t.before() != nil {
			n--
		}
		if t.after() != nil {
			n++
		}
	}
	return n
}

// farEnd is an entity or topic in the view.
type farEnd struct {
	edges int               // that lead to it after the event
	facts []graphstore.Node // with an edge to it in the view
}

func (d *draft) farEnd(key graphstore.Key, ties []tie) farEnd {
	facts := d.view.FactsOn(key)
	far := farEnd{len(facts), facts}
	for _, t := range ties {
		if t.now != nil {
			far.edges++
		}
		if t.old != nil {
			far.edges--
		}
	}
	return far
}

// wordingNow returns the wording of all present mentions after the event, given that of all before it.
//
// What is added to a set needs no look at the rest of it. What is taken away may still be said by another fact; the
// others are read until everything that is taken away has been found again, which for the common wording is after a
// few of them. So the cost does not grow with the number of facts on a node, unless the only fact with some wording
// goes.
func (d *draft) wordingNow(key graphstore.Key, far farEnd, shown wording, ties []tie) (wording, error) {
	lost, now, settled := newWording(), newWording(), map[string]struct{}{}
	for _, t := range ties {
		settled[t.fact] = struct{}{}
		if err := addEdge(lost, t.before()); err != nil {
			return now, err
		}
		if err := addEdge(now, t.after()); err != nil {
			return now, err
		}
	}
	for _, n := range far.facts {
		if now.covers(lost) {
			break
		}
		id := d.view.ID(n)
		if _, done := settled[id]; done || !d.view.IsPresent(n) {
			continue
		}
		for _, e := range d.view.EdgesOf(id) {
			if _, kind := e.Type.Ends(); kind != key.Kind || e.Target != key.Node {
				continue
			}
			if err := addEdge(now, &e); err != nil {
				return now, err
			}
		}
	}
	if now.covers(lost) {
		now.add(shown)
	}
	return now, nil
}

// addEdge adds the wording of an edge, if there is one.
func addEdge(to wording, e *graphstore.Edge) error {
	if e == nil {
		return nil
	}
	w, err := wordingOf(*e)
	if err != nil {
		return err
	}
	to.add(w)
	return nil
}
