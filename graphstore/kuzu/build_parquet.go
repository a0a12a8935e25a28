package kuzu

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// parquetWriter writes rows as a Parquet file of the plainest kind: every value is there, none is compressed, one page per
// column and group of rows. Kuzu reads that twice as fast as CSV, and a text is its length and its bytes: nothing has to be
// quoted and no text is taken for the missing value. A library for Parquet would bring a dozen others along for what are
// two hundred lines here.
type parquetWriter struct {
	out     io.Writer
	columns []column
	shown   []parquetColumn         // what the file presents as its columns
	room    func(bytes int64) error // asked before a group is written
	offset  int64                   // bytes written
	total   int64                   // rows written
	groups  []parquetGroup
	buffers [][]byte // per column, of the group that is being filled
	rows    int      // in the buffers
	bytes   int64    // in the buffers
}

// parquetColumn is a column that a reader of the file sees. Two may show the same values, which are there once.
type parquetColumn struct {
	name  string
	index int // in the rows
}

// parquetGroup is a group of rows that was written.
type parquetGroup struct {
	rows   int
	chunks []parquetChunk // per column
}

// parquetChunk is the place of a column of a group.
type parquetChunk struct{ offset, bytes int64 }

// A group is what Kuzu hands to one of its threads. Groups of the size of its own groups of nodes are copied fastest.
const (
	rowsPerGroup     = 16_384
	maxBytesPerGroup = 64 << 20
)

// The numbers of the Parquet format that are used here.
const (
	parquetMagic        = "PAR1"
	parquetVersion      = 1
	parquetRequired     = 0 // no value is missing
	parquetUTF8         = 0
	parquetPlain        = 0
	parquetRunLength    = 3
	parquetUncompressed = 0
	parquetDataPage     = 0
)

var parquetTypes = [...]int32{integer: 2, text: 6, ref: 2, real: 5}

// newParquetWriter begins a file with rows of these columns. Those in first are shown once more, before the others.
func newParquetWriter(out io.Writer, columns []column, first []int, room func(bytes int64) error) (*parquetWriter, error) {
	w := &parquetWriter{out: out, columns: columns, buffers: make([][]byte, len(columns)), room: room}
	for _, i := range first {
		w.shown = append(w.shown, parquetColumn{"first_" + columns[i].name, i})
	}
	for i, c := range columns {
		w.shown = append(w.shown, parquetColumn{c.name, i})
	}
	return w, w.write([]byte(parquetMagic))
}

// add writes a row: an int64, string or float64 for each column.
func (w *parquetWriter) add(row []any) error {
	if len(row) != len(w.columns) {
		return fmt.Errorf("row of %d values for %d columns", len(row), len(w.columns))
	}
	for i, v := range row {
		switch v := v.(type) {
		case int64:
			w.integer(i, v)
		case float64:
			w.real(i, v)
		case string:
			w.text(i, v)
		default:
			return fmt.Errorf("column %s: %T cannot be written", w.columns[i].name, v)
		}
	}
	return w.endRow()
}

// integer, real and text write the value of one column. Each column gets one, then endRow ends the row.
func (w *parquetWriter) integer(i int, v int64) {
	w.buffers[i] = binary.LittleEndian.AppendUint64(w.buffers[i], uint64(v))
	w.bytes += 8
}

func (w *parquetWriter) real(i int, v float64) { w.integer(i, int64(math.Float64bits(v))) }

func (w *parquetWriter) text(i int, s string) {
	w.buffers[i] = append(binary.LittleEndian.AppendUint32(w.buffers[i], uint32(len(s))), s...)
	w.bytes += 4 + int64(len(s))
}

func (w *parquetWriter) endRow() error {
	w.rows++
	if w.rows < rowsPerGroup && w.bytes < maxBytesPerGroup {
		return nil
	}
	return w.writeGroup()
}

// writeGroup writes what is in the buffers.
func (w *parquetWriter) writeGroup() error {
	if w.rows == 0 {
		return nil
	}
	if err := w.room(w.bytes); err != nil {
		return err
	}
	group := parquetGroup{rows: w.rows}
	for i, b := range w.buffers {
		chunk := parquetChunk{offset: w.offset}
		if err := w.write(pageHeader(w.rows, len(b))); err != nil {
			return err
		}
		if err := w.write(b); err != nil {
			return err
		}
		chunk.bytes = w.offset - chunk.offset
		group.chunks = append(group.chunks, chunk)
		w.buffers[i] = b[:0]
	}
	w.groups = append(w.groups, group)
	w.total += int64(w.rows)
	w.rows, w.bytes = 0, 0
	return nil
}

func (w *parquetWriter) write(b []byte) error {
	n, err := w.out.Write(b)
	w.offset += int64(n)
	return err
}

func pageHeader(rows, bytes int) []byte {
	var t thriftWriter
	t.begin()
	t.i32(1, parquetDataPage)
	t.i32(2, int32(bytes)) // uncompressed
	t.i32(3, int32(bytes)) // compressed
	t.structure(5)
	t.i32(1, int32(rows))
	t.i32(2, parquetPlain)
	t.i32(3, parquetRunLength) // of levels, which required columns do not have
	t.i32(4, parquetRunLength)
	t.end()
	t.end()
	return t.buf
}

// close writes the rest and the description of the file, which Parquet has at the end.
func (w *parquetWriter) close() error {
	if err := w.writeGroup(); err != nil {
		return err
	}
	footer := w.footer()
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, parquetMagic...))
}

func (w *parquetWriter) footer() []byte {
	var t thriftWriter
	t.begin()
	t.i32(1, parquetVersion)
	t.list(2, thriftStruct, 1+len(w.shown))
	t.begin() // the root of the schema
	t.text(4, "schema")
	t.i32(5, int32(len(w.shown)))
	t.end()
	for _, shown := range w.shown {
		kind := w.columns[shown.index].kind
		t.begin()
		t.i32(1, parquetTypes[kind])
		t.i32(3, parquetRequired)
		t.text(4, shown.name)
		if kind == text {
			t.i32(6, parquetUTF8)
		}
		t.end()
	}
	t.i64(3, w.total)
	t.list(4, thriftStruct, len(w.groups))
	for _, g := range w.groups {
		w.describeGroup(&t, g)
	}
	t.end()
	return t.buf
}

func (w *parquetWriter) describeGroup(t *thriftWriter, g parquetGroup) {
	t.begin()
	t.list(1, thriftStruct, len(w.shown))
	var bytes int64
	for _, shown := range w.shown {
		w.describeChunk(t, shown, g.chunks[shown.index], g.rows)
		bytes += g.chunks[shown.index].bytes
	}
	t.i64(2, bytes)
	t.i64(3, int64(g.rows))
	t.end()
}

func (w *parquetWriter) describeChunk(t *thriftWriter, shown parquetColumn, chunk parquetChunk, rows int) {
	t.begin()
	t.i64(2, chunk.offset)
	t.structure(3)
	t.i32(1, parquetTypes[w.columns[shown.index].kind])
	t.list(2, thriftI32, 1)
	t.number(parquetPlain)
	t.list(3, thriftBinary, 1)
	t.string(shown.name)
	t.i32(4, parquetUncompressed)
	t.i64(5, int64(rows))
	t.i64(6, chunk.bytes) // uncompressed, with the page's header
	t.i64(7, chunk.bytes) // compressed
	t.i64(9, chunk.offset)
	t.end()
	t.end()
}
