package child

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/kithgraph/kith/graphstore"
)

// The kinds of record on the wire.
const (
	wireFact      = 'f'
	wireEntity    = 'e'
	wireTopic     = 't'
	wireEdge      = 'r'
	wireSchema    = 's'
	wireRef       = 'v'
	wireMerge     = 'm'
	wireTombstone = 'w'
)

// encoder appends values. Numbers are varints, text is its length and its bytes.
type encoder struct{ buf []byte }

func (e *encoder) byte(b byte)      { e.buf = append(e.buf, b) }
func (e *encoder) uvarint(u uint64) { e.buf = binary.AppendUvarint(e.buf, u) }
func (e *encoder) varint(i int64)   { e.buf = binary.AppendVarint(e.buf, i) }
func (e *encoder) instant(i graphstore.Instant) {
	e.varint(int64(i))
}

func (e *encoder) text(s string) {
	e.uvarint(uint64(len(s)))
	e.buf = append(e.buf, s...)
}

func (e *encoder) float(f float64) {
	e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(f))
}

var errNoRecord = errors.New("change has no record")

func (e *encoder) change(c graphstore.Change) error {
	e.text(c.Space.UserID())
	e.byte(byte(c.Op))
	switch {
	case c.Fact != nil:
		e.fact(c.Fact)
	case c.Entity != nil:
		e.entity(c.Entity)
	case c.Topic != nil:
		e.byte(wireTopic)
		e.text(c.Topic.ID)
		e.text(c.Topic.Name)
		e.varint(int64(c.Topic.Facts))
	case c.Edge != nil:
		e.edge(c.Edge)
	default:
		return e.minor(c)
	}
	return nil
}

func (e *encoder) fact(f *graphstore.Fact) {
	e.byte(wireFact)
	e.text(f.ID)
	e.byte(byte(f.State))
	e.stamp(f.Registers.State)
	e.stamp(f.Registers.Base)
	e.uvarint(uint64(len(f.Registers.Fields)))
	for _, fs := range f.Registers.Fields {
		e.text(string(fs.Field))
		e.stamp(fs.Stamp)
	}
	for _, s := range []string{f.AgentID, f.SourceID, f.EpisodeID, f.BatchID, f.SupersededBy} {
		e.text(s)
	}
	e.varint(int64(f.BatchSeq))
	for _, i := range []graphstore.Instant{f.MemoryAt, f.ValidFrom, f.ValidTo, f.RecordedAt, f.SupersededAt} {
		e.instant(i)
	}
}

func (e *encoder) stamp(s graphstore.Stamp) {
	e.varint(s.Version)
	e.byte(byte(s.Rank))
	e.text(s.EventID)
	e.instant(s.At)
	e.text(s.Source)
}

func (e *encoder) entity(n *graphstore.Entity) {
	e.byte(wireEntity)
	for _, s := range []string{n.ID, n.Type, n.Name, n.Norm} {
		e.text(s)
	}
	e.uvarint(uint64(len(n.Aliases)))
	for _, a := range n.Aliases {
		e.text(a)
	}
	e.uvarint(uint64(len(n.HardIDs)))
	for _, h := range n.HardIDs {
		e.text(h.Kind)
		e.text(h.Value)
	}
	e.varint(int64(n.Mentions))
}

func (e *encoder) edge(r *graphstore.Edge) {
	e.byte(wireEdge)
	e.text(r.Source)
	e.text(r.Target)
	e.byte(byte(r.Type))
	e.byte(byte(r.Asserter.Kind))
	e.text(r.Asserter.ID)
	e.float(r.Weight)
	e.text(r.Detail)
}

// chunker packs records into chunks and sends each when it is full.
type chunker struct {
	to     sender
	chunk  encoder
	record encoder
	count  int
}

// add packs one record.
func (c *chunker) add(change graphstore.Change) error {
	if len(c.chunk.buf) == 0 {
		c.chunk.byte(frameChunk)
	}
	c.record.buf = c.record.buf[:0]
	if err := c.record.change(change); err != nil {
		return err
	}
	c.chunk.uvarint(uint64(len(c.record.buf)))
	c.chunk.buf = append(c.chunk.buf, c.record.buf...)
	if c.count++; c.count >= chunkRecords || len(c.chunk.buf) >= chunkBytes {
		return c.flush()
	}
	return nil
}

// flush sends what is packed.
func (c *chunker) flush() error {
	if c.count == 0 {
		return nil
	}
	m := &message{c.chunk.buf}
	// The transport may still read the bytes after SendMsg returns: the next chunk gets bytes of its own.
	c.chunk.buf, c.count = make([]byte, 0, len(m.data)), 0
	return c.to.SendMsg(m)
}
