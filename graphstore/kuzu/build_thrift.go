package kuzu

import "encoding/binary"

// thriftWriter writes structs in Thrift's compact protocol, of which the metadata of a Parquet file consists. It knows the
// few types that are needed for that.
type thriftWriter struct {
	buf  []byte
	last []int16 // the last field of each open struct: fields are written as the distance from it
}

// The types of the compact protocol.
const (
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// begin begins a struct: the outermost, or an element of a list.
func (w *thriftWriter) begin() { w.last = append(w.last, 0) }

// end ends the innermost struct.
func (w *thriftWriter) end() {
	w.buf = append(w.buf, 0)
	w.last = w.last[:len(w.last)-1]
}

// field writes the header of a field. The fields of a struct come in ascending order, at most 15 apart.
func (w *thriftWriter) field(id int16, typ byte) {
	last := &w.last[len(w.last)-1]
	w.buf = append(w.buf, byte(id-*last)<<4|typ)
	*last = id
}

func (w *thriftWriter) i32(id int16, v int32) {
	w.field(id, thriftI32)
	w.number(int64(v))
}

func (w *thriftWriter) i64(id int16, v int64) {
	w.field(id, thriftI64)
	w.number(v)
}

func (w *thriftWriter) text(id int16, s string) {
	w.field(id, thriftBinary)
	w.string(s)
}

// structure begins a struct that is a field.
func (w *thriftWriter) structure(id int16) {
	w.field(id, thriftStruct)
	w.begin()
}

// list begins a list of n elements, which are written one after the other without a header of their own.
func (w *thriftWriter) list(id int16, typ byte, n int) {
	w.field(id, thriftList)
	if n < 15 {
		w.buf = append(w.buf, byte(n)<<4|typ)
		return
	}
	w.buf = append(w.buf, 0xf0|typ)
	w.buf = binary.AppendUvarint(w.buf, uint64(n))
}

// number writes an integer as an element: small ones of either sign are short.
func (w *thriftWriter) number(v int64) { w.buf = binary.AppendVarint(w.buf, v) }

// string writes a text as an element.
func (w *thriftWriter) string(s string) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(s)))
	w.buf = append(w.buf, s...)
}
