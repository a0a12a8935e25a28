package graphstore

// factNode is one fact with its adjacency; immutable once its snapshot is published. Its texts but the id are atoms, and
// what most facts have none of is behind one pointer.
type factNode struct {
	id    string
	ties  []Link // the first links of them lead to facts, the others to entities and topics
	notes []note
	rare  *factRare // nil if all of it is zero

	memoryAt, recordedAt Instant

	version                              int64 // with rank and event: the base stamp
	agent, source, episode, batch, event atom
	batchSeq                             int32
	links                                int32
	state                                State
	rank                                 Rank
	fromMemory                           bool // valid from memoryAt on, which is the usual
	noOrigin                             bool // the base stamp has neither time nor source, as in graphs of older versions
}

// factRare is what few facts have.
type factRare struct {
	validFrom, validTo, supersededAt Instant // validFrom only if it is not memoryAt
	supersededBy                     string
	stateStamp                       nodeStamp // of the lifecycle, if ownState; else it is the base stamp
	fields                           []nodeFieldStamp
	baseAt                           Instant // of the base stamp, if ownOrigin
	baseSource                       atom
	ownState, ownOrigin              bool
}

type nodeStamp struct {
	version       int64
	at            Instant
	event, source atom
	rank          Rank
}

type nodeFieldStamp struct {
	nodeStamp
	field atom
}

func (n *factNode) validFrom() Instant {
	switch {
	case n.fromMemory:
		return n.memoryAt
	case n.rare != nil:
		return n.rare.validFrom
	default:
		return 0
	}
}

func (n *factNode) present() bool { return n.state != StateUnseen && n.state != StateDeleted }

// fact spells the node out.
func (s *Snapshot) fact(n *factNode) Fact {
	t := &s.atoms
	base := t.baseStamp(n)
	f := Fact{
		ID: n.id, State: n.state, Registers: Registers{State: base, Base: base},
		AgentID: t.text(n.agent), SourceID: t.text(n.source), EpisodeID: t.text(n.episode),
		BatchID: t.text(n.batch), BatchSeq: n.batchSeq,
		MemoryAt: n.memoryAt, ValidFrom: n.validFrom(), RecordedAt: n.recordedAt,
	}
	r := n.rare
	if r == nil {
		return f
	}
	f.ValidTo, f.SupersededBy, f.SupersededAt = r.validTo, r.supersededBy, r.supersededAt
	if r.ownState {
		f.Registers.State = t.stamp(r.stateStamp)
	}
	if len(r.fields) > 0 {
		f.Registers.Fields = make([]FieldStamp, len(r.fields))
		for i, fs := range r.fields {
			f.Registers.Fields[i] = FieldStamp{Field(t.text(fs.field)), t.stamp(fs.nodeStamp)}
		}
	}
	return f
}

func (t *atoms) stamp(s nodeStamp) Stamp {
	return Stamp{s.version, s.rank, t.text(s.event), s.at, t.text(s.source)}
}

func (t *atoms) baseStamp(n *factNode) Stamp {
	base := Stamp{Version: n.version, Rank: n.rank, EventID: t.text(n.event)}
	switch {
	case n.noOrigin:
	case n.rare != nil && n.rare.ownOrigin:
		base.At, base.Source = n.rare.baseAt, t.text(n.rare.baseSource)
	case !base.IsZero():
		base.At, base.Source = InstantOfMicros(n.version), t.text(n.source)
	}
	return base
}

// plainOrigin reports whether the time and source of the base stamp follow from the rest of the fact, as they do where
// the producer states no versions: they then take no room. Neither do those of which nothing is known (noOrigin).
func plainOrigin(f *Fact) bool {
	base := &f.Registers.Base
	if base.Version == 0 && base.Rank == RankNone && base.EventID == "" {
		return base.IsZero()
	}
	return base.At == InstantOfMicros(base.Version) && base.Source == f.SourceID
}

// fill makes the node say what the fact says; its atoms are used once more each.
func (b *Builder) fill(n *factNode, f Fact) {
	t := &b.atoms
	n.memoryAt, n.recordedAt = f.MemoryAt, f.RecordedAt
	if n.fromMemory = f.ValidFrom == f.MemoryAt; n.fromMemory {
		f.ValidFrom = 0
	}
	n.version, n.rank, n.event = f.Registers.Base.Version, f.Registers.Base.Rank, t.use(f.Registers.Base.EventID)
	n.agent, n.source, n.episode, n.batch = t.use(f.AgentID), t.use(f.SourceID), t.use(f.EpisodeID), t.use(f.BatchID)
	n.batchSeq, n.state = f.BatchSeq, f.State
	n.rare = nil
	ownState, ownOrigin := f.Registers.State != f.Registers.Base, !plainOrigin(&f)
	n.noOrigin = ownOrigin && f.Registers.Base.At == 0 && f.Registers.Base.Source == ""
	ownOrigin = ownOrigin && !n.noOrigin
	if !ownState && !ownOrigin && len(f.Registers.Fields) == 0 && f.ValidFrom == 0 && f.ValidTo == 0 && f.SupersededAt == 0 && f.SupersededBy == "" {
		return
	}
	r := &factRare{validFrom: f.ValidFrom, validTo: f.ValidTo, supersededAt: f.SupersededAt,
		supersededBy: ownText(f.SupersededBy), ownState: ownState, ownOrigin: ownOrigin}
	if ownOrigin {
		r.baseAt, r.baseSource = f.Registers.Base.At, t.use(f.Registers.Base.Source)
	}
	if ownState {
		r.stateStamp = b.stampOf(f.Registers.State)
	}
	if len(f.Registers.Fields) > 0 {
		r.fields = make([]nodeFieldStamp, len(f.Registers.Fields))
		for i, fs := range f.Registers.Fields {
			r.fields[i] = nodeFieldStamp{b.stampOf(fs.Stamp), t.use(string(fs.Field))}
		}
	}
	n.rare = r
	b.bytes += r.bytes()
}

func (b *Builder) stampOf(s Stamp) nodeStamp {
	return nodeStamp{s.Version, s.At, b.atoms.use(s.EventID), b.atoms.use(s.Source), s.Rank}
}

func (r *factRare) bytes() int64 {
	return rareBytes + textBytes(r.supersededBy) + stampBytes*int64(len(r.fields))
}

// empty takes back what fill took. n may be a copy of the node before it was filled anew: to use first and release then
// keeps what both have.
func (b *Builder) empty(n *factNode) {
	for _, a := range []atom{n.event, n.agent, n.source, n.episode, n.batch} {
		b.atoms.release(a)
	}
	if n.rare == nil {
		return
	}
	b.bytes -= n.rare.bytes()
	b.atoms.release(n.rare.baseSource)
	b.atoms.release(n.rare.stateStamp.event)
	b.atoms.release(n.rare.stateStamp.source)
	for _, fs := range n.rare.fields {
		b.atoms.release(fs.event)
		b.atoms.release(fs.source)
		b.atoms.release(fs.field)
	}
}
