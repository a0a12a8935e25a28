package graphstore

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Digest is an order-independent hash of a set of records: the sum modulo 2^256 of the SHA-256 of each. Equal graphs
// have equal digests whatever store holds them and in whatever order they are read; internal numbering is no part of
// it. The zero Digest is that of no records.
type Digest struct {
	sum     [4]uint64 // little endian words
	records int
}

// recordRoom is what the canonical form of nearly every record fits in, so that it needs no memory of its own.
const recordRoom = 512

// Add takes in one record; the change's Op does not count. Adding a record twice gives another digest.
func (d *Digest) Add(c Change) {
	var room [recordRoom]byte
	d.addSum(sha256.Sum256(appendRecord(room[:0], c)))
	d.records++
}

// Remove takes a record out again that was added: the digest is then as if it had never been.
func (d *Digest) Remove(c Change) {
	var room [recordRoom]byte
	h := sha256.Sum256(appendRecord(room[:0], c))
	var borrow uint64
	for i := range d.sum {
		d.sum[i], borrow = bits.Sub64(d.sum[i], binary.LittleEndian.Uint64(h[8*i:]), borrow)
	}
	d.records--
}

// Merge takes in all records of o.
func (d *Digest) Merge(o Digest) {
	var carry uint64
	for i := range d.sum {
		d.sum[i], carry = bits.Add64(d.sum[i], o.sum[i], carry)
	}
	d.records += o.records
}

// Words returns the digest as numbers, for stores that keep it: the sum, least significant word first, and the count.
func (d Digest) Words() (sum [4]uint64, records int) { return d.sum, d.records }

// DigestOfWords is the inverse of [Digest.Words].
func DigestOfWords(sum [4]uint64, records int) Digest { return Digest{sum, records} }

// ParseDigest is the inverse of [Digest.String]. Its error says what a digest looks like.
func ParseDigest(text string) (Digest, error) {
	hexes, count, _ := strings.Cut(text, "-")
	raw, err := hex.DecodeString(hexes)
	records, countErr := strconv.Atoi(count)
	if err != nil || countErr != nil || len(raw) != sha256.Size || records < 0 {
		return Digest{}, fmt.Errorf("digest %s: want 64 hexadecimal digits, a dash and the number of records", Shorten(text))
	}
	d := Digest{records: records}
	for i := range d.sum {
		d.sum[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return d, nil
}

func (d *Digest) addSum(h [sha256.Size]byte) {
	var carry uint64
	for i := range d.sum {
		d.sum[i], carry = bits.Add64(d.sum[i], binary.LittleEndian.Uint64(h[8*i:]), carry)
	}
}

// Records returns how many records were added.
func (d Digest) Records() int { return d.records }

// String returns 64 hexadecimal digits, a dash and the number of records.
func (d Digest) String() string {
	var b []byte
	for _, w := range d.sum {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return fmt.Sprintf("%s-%d", hex.EncodeToString(b), d.records)
}

// appendRecord appends the canonical form of a record: length-prefixed strings and fixed-width numbers in field order,
// so that no two records share one.
func appendRecord(dst []byte, c Change) []byte {
	dst = appendString(dst, c.Space.UserID())
	switch {
	case c.Fact != nil:
		return appendFact(append(dst, 'f'), *c.Fact)
	case c.Entity != nil:
		return appendEntity(append(dst, 'e'), *c.Entity)
	case c.Topic != nil:
		dst = appendString(append(dst, 't'), c.Topic.ID)
		dst = appendString(dst, c.Topic.Name)
		return appendInt(dst, int64(c.Topic.Facts))
	case c.Schema != nil:
		return appendSchema(append(dst, 's'), *c.Schema)
	case c.Ref != nil:
		return appendString(append(dst, 'v'), c.Ref.ID)
	case c.Merge != nil:
		return appendMerge(append(dst, 'm'), *c.Merge)
	case c.Tombstone != nil:
		return appendInt(appendString(append(dst, 'w'), c.Tombstone.Source), int64(c.Tombstone.At))
	default:
		return appendEdge(append(dst, 'r'), *c.Edge)
	}
}

func appendSchema(dst []byte, s Schema) []byte {
	for _, text := range []string{s.ID, s.Level, s.Title} {
		dst = appendString(dst, text)
	}
	return appendStamp(appendBool(dst, s.Deleted), s.Stamp)
}

func appendMerge(dst []byte, m Merge) []byte {
	for _, text := range []string{m.Merged, m.Kept, string(m.Step), m.Evidence, m.MergedName, m.KeptName} {
		dst = appendString(dst, text)
	}
	return appendStamp(appendBool(dst, m.Undone), m.Stamp)
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendFact(dst []byte, f Fact) []byte {
	for _, s := range []string{f.ID, f.AgentID, f.SourceID, f.EpisodeID, f.BatchID, f.SupersededBy} {
		dst = appendString(dst, s)
	}
	for _, n := range []int64{int64(f.State), int64(f.BatchSeq), int64(f.MemoryAt), int64(f.ValidFrom), int64(f.ValidTo),
		int64(f.RecordedAt), int64(f.SupersededAt)} {
		dst = appendInt(dst, n)
	}
	dst = appendStamp(appendStamp(dst, f.Registers.State), f.Registers.Base)
	dst = appendInt(dst, int64(len(f.Registers.Fields)))
	for _, fs := range f.Registers.Fields {
		dst = appendStamp(appendString(dst, string(fs.Field)), fs.Stamp)
	}
	return dst
}

func appendEntity(dst []byte, e Entity) []byte {
	for _, s := range []string{e.ID, e.Type, e.Name, e.Norm} {
		dst = appendString(dst, s)
	}
	dst = appendInt(dst, int64(len(e.Aliases)))
	for _, a := range e.Aliases {
		dst = appendString(dst, a)
	}
	dst = appendInt(dst, int64(len(e.HardIDs)))
	for _, h := range e.HardIDs {
		dst = appendString(appendString(dst, h.Kind), h.Value)
	}
	return appendInt(dst, int64(e.Mentions))
}

func appendEdge(dst []byte, e Edge) []byte {
	dst = appendString(appendString(dst, e.Source), e.Target)
	dst = append(dst, byte(e.Type), byte(e.Asserter.Kind))
	dst = appendString(dst, e.Asserter.ID)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(e.Weight))
	return appendString(dst, e.Detail)
}

// stampOrigin marks the rank of a stamp whose time and source follow. Without them a stamp has the form that it had
// before it could have them.
const stampOrigin = 0x80

func appendStamp(dst []byte, s Stamp) []byte {
	dst = appendInt(dst, s.Version)
	if s.At == 0 && s.Source == "" {
		return appendString(append(dst, byte(s.Rank)), s.EventID)
	}
	dst = appendString(append(dst, byte(s.Rank)|stampOrigin), s.EventID)
	return appendString(appendInt(dst, int64(s.At)), s.Source)
}

func appendString(dst []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(s))), s...)
}

func appendInt(dst []byte, n int64) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(n)) }
