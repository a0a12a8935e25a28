package child

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/kithgraph/kith/graphstore"
)

var errShort = errors.New("message ends in the middle of a value")

// decoder reads what encoder wrote. After the first error everything is zero.
type decoder struct {
	rest string
	err  error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.rest = ""
}

func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.rest)) {
		d.fail(errShort)
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) byte() byte {
	s := d.take(1)
	if s == "" {
		return 0
	}
	return s[0]
}

func (d *decoder) uvarint() uint64 {
	var u uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		b := d.rest[i]
		if b < 0x80 {
			if i == binary.MaxVarintLen64-1 && b > 1 {
				break
			}
			d.rest = d.rest[i+1:]
			return u | uint64(b)<<(7*i)
		}
		u |= uint64(b&0x7f) << (7 * i)
	}
	d.fail(errShort)
	return 0
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	i := int64(u >> 1)
	if u&1 != 0 {
		i = ^i
	}
	return i
}

func (d *decoder) text() string                { return d.take(d.uvarint()) }
func (d *decoder) instant() graphstore.Instant { return graphstore.Instant(d.varint()) }

func (d *decoder) float() float64 {
	s := d.take(8)
	if s == "" {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(s)))
}

// count reads the length of a list whose items take at least one byte each.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail(errShort)
		return 0
	}
	return int(n)
}

// reader turns chunks into changes. It remembers the last space: records mostly come space by space.
type reader struct{ space graphstore.Space }

// each calls fn for the records of a chunk and stops at its first error, which it returns apart from those of the chunk.
func (r *reader) each(chunk []byte, fn func(graphstore.Change) error) (stopped, broken error) {
	for len(chunk) > 0 {
		n, size := binary.Uvarint(chunk)
		if size <= 0 || n > uint64(len(chunk)-size) {
			return nil, fmt.Errorf("chunk: %w", errShort)
		}
		// One copy per record: its texts are parts of it, and a record that is kept keeps no other alive.
		record := string(chunk[size : size+int(n)])
		chunk = chunk[size+int(n):]
		c, err := r.change(record)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", graphstore.Shorten(record), err)
		}
		if err := fn(c); err != nil {
			return err, nil
		}
	}
	return nil, nil
}

func (r *reader) change(record string) (graphstore.Change, error) {
	d := &decoder{rest: record}
	user := d.text()
	c := graphstore.Change{Op: graphstore.Op(d.byte())}
	switch kind := d.byte(); kind {
	case wireFact:
		c.Fact = d.fact()
	case wireEntity:
		c.Entity = d.entity()
	case wireTopic:
		c.Topic = &graphstore.Topic{ID: d.text(), Name: d.text(), Facts: int(d.varint())}
	case wireEdge:
		c.Edge = d.edge()
	default:
		d.minor(kind, &c)
	}
	if d.err == nil && d.rest != "" {
		d.fail(fmt.Errorf("%d bytes too many", len(d.rest)))
	}
	if d.err != nil {
		return graphstore.Change{}, d.err
	}
	if user != r.space.UserID() || r.space.IsZero() {
		space, err := graphstore.NewSpace(user)
		if err != nil {
			return graphstore.Change{}, err
		}
		r.space = space
	}
	c.Space = r.space
	return c, nil
}

func (d *decoder) fact() *graphstore.Fact {
	f := &graphstore.Fact{ID: d.text(), State: graphstore.State(d.byte())}
	f.Registers.State, f.Registers.Base = d.stamp(), d.stamp()
	if n := d.count(); n > 0 {
		f.Registers.Fields = make([]graphstore.FieldStamp, n)
		for i := range f.Registers.Fields {
			f.Registers.Fields[i] = graphstore.FieldStamp{Field: graphstore.Field(d.text()), Stamp: d.stamp()}
		}
	}
	for _, s := range []*string{&f.AgentID, &f.SourceID, &f.EpisodeID, &f.BatchID, &f.SupersededBy} {
		*s = d.text()
	}
	f.BatchSeq = int32(d.varint())
	for _, i := range []*graphstore.Instant{&f.MemoryAt, &f.ValidFrom, &f.ValidTo, &f.RecordedAt, &f.SupersededAt} {
		*i = d.instant()
	}
	return f
}

func (d *decoder) stamp() graphstore.Stamp {
	return graphstore.Stamp{Version: d.varint(), Rank: graphstore.Rank(d.byte()), EventID: d.text(), At: d.instant(), Source: d.text()}
}

func (d *decoder) entity() *graphstore.Entity {
	e := &graphstore.Entity{ID: d.text(), Type: d.text(), Name: d.text(), Norm: d.text()}
	if n := d.count(); n > 0 {
		e.Aliases = make([]string, n)
		for i := range e.Aliases {
			e.Aliases[i] = d.text()
		}
	}
	if n := d.count(); n > 0 {
		e.HardIDs = make([]graphstore.HardID, n)
		for i := range e.HardIDs {
			e.HardIDs[i] = graphstore.HardID{Kind: d.text(), Value: d.text()}
		}
	}
	e.Mentions = int(d.varint())
	return e
}

func (d *decoder) edge() *graphstore.Edge {
	e := &graphstore.Edge{Source: d.text(), Target: d.text(), Type: graphstore.RelationType(d.byte())}
	e.Asserter = graphstore.Asserter{Kind: graphstore.AsserterKind(d.byte()), ID: d.text()}
	e.Weight, e.Detail = d.float(), d.text()
	return e
}
