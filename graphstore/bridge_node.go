package graphstore

// bridgeNode is an entity or a topic with the facts on it; immutable once its snapshot is published.
type bridgeNode struct {
	id, name, norm string // norm is an entity's
	facts          []Node // one item per contribution
	more           *entityMore
	count          int // as the record says
	typ            atom
	degree         int32
	identity       int32 // its number, plus one, if the merge log names it; else 0
}

// entityMore is what few entities have.
type entityMore struct {
	aliases []string
	hardIDs []HardID
}

func (s *Snapshot) entity(n *bridgeNode) Entity {
	e := Entity{ID: n.id, Type: s.atoms.text(n.typ), Name: n.name, Norm: n.norm, Mentions: n.count}
	if n.more != nil {
		e.Aliases, e.HardIDs = n.more.aliases, n.more.hardIDs
	}
	return e
}

func (n *bridgeNode) topic() Topic { return Topic{ID: n.id, Name: n.name, Facts: n.count} }

// setEntity makes the node say what the entity says.
func (b *Builder) setEntity(n *bridgeNode, e Entity) {
	b.bytes -= n.bytes()
	old := n.typ
	n.typ = b.atoms.use(e.Type)
	b.atoms.release(old)
	n.setID(e.ID)
	n.name, n.norm, n.count, n.more = n.share(e.Name), "", e.Mentions, nil
	n.norm = n.share(e.Norm)
	if e.Aliases != nil || e.HardIDs != nil {
		n.more = &entityMore{}
		if e.Aliases != nil {
			n.more.aliases = make([]string, len(e.Aliases))
		}
		if e.HardIDs != nil {
			n.more.hardIDs = make([]HardID, len(e.HardIDs))
		}
		for i, a := range e.Aliases {
			n.more.aliases[i] = ownText(a)
		}
		for i, h := range e.HardIDs {
			n.more.hardIDs[i] = HardID{ownText(h.Kind), ownText(h.Value)}
		}
	}
	b.bytes += n.bytes()
}

func (b *Builder) setTopic(n *bridgeNode, t Topic) {
	b.bytes -= n.bytes()
	n.setID(t.ID)
	n.name, n.count = n.share(t.Name), t.Facts
	b.bytes += n.bytes()
}

func (n *bridgeNode) setID(id string) {
	if n.id == "" {
		n.id = ownText(id)
	}
}

// share returns the text, as a part of what the node has already where it has it.
func (n *bridgeNode) share(text string) string {
	for _, have := range []string{n.id, n.name} {
		if text == have {
			return have
		}
	}
	return ownText(text)
}

// bytes estimates what the node takes, 0 for one that says nothing yet.
func (n *bridgeNode) bytes() int64 {
	if n.id == "" {
		return 0
	}
	e := Entity{ID: n.id, Name: n.name, Norm: n.norm}
	if n.more != nil {
		e.Aliases, e.HardIDs = n.more.aliases, n.more.hardIDs
	}
	return entityBytes(e)
}

func entityBytes(e Entity) int64 {
	bytes := bridgeBytes + textBytes(e.ID)
	if e.Name != e.ID {
		bytes += textBytes(e.Name)
	}
	if e.Norm != e.ID && e.Norm != e.Name {
		bytes += textBytes(e.Norm)
	}
	if len(e.Aliases)+len(e.HardIDs) > 0 {
		bytes += moreBytes
	}
	for _, a := range e.Aliases {
		bytes += listText + textBytes(a)
	}
	for _, h := range e.HardIDs {
		bytes += 2*listText + textBytes(h.Kind) + textBytes(h.Value)
	}
	return bytes
}
