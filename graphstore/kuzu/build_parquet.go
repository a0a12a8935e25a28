package kuzu

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetWriter writes rows as a Parquet file of the plainest kind: every value is there, none is compressed. Kuzu reads
// that twice as fast as CSV, and a text is its length and its bytes: nothing has to be quoted and no text is taken for the
// missing value. Values go to the library some hundred of a column at once: a row at a time costs several times as much.
type parquetWriter struct {
	out     counter
	columns []column
	first   []int                   // columns that are written once more, before the others
	room    func(bytes int64) error // asked before a group is written
	file    *parquet.GenericWriter[any]
	writers []*parquet.ColumnWriter // of first, then of the columns
	batches [][]parquet.Value       // per column, of the rows that the library does not have yet
	texts   []byte                  // of the batches
	total   int64                   // rows
	group   int                     // rows of the group that is being filled
	bytes   int64                   // of the group
}

// A group is what Kuzu hands to one of its threads. Groups of the size of its own groups of nodes are copied fastest.
const (
	rowsPerGroup     = 16_384
	maxBytesPerGroup = 64 << 20
	rowsPerWrite     = 512
)

// counter counts the bytes that are written.
type counter struct {
	io.Writer
	bytes int64
}

func (w *counter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.bytes += int64(n)
	return n, err
}

// parquetNode describes a column in which no value is missing.
func parquetNode(kind columnKind) parquet.Node {
	switch kind {
	case text:
		return parquet.Encoded(parquet.String(), &parquet.Plain)
	case real:
		return parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain)
	default:
		return parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.Plain)
	}
}

// newParquetWriter begins a file with rows of these columns. Those in first are written once more, before the others.
func newParquetWriter(out io.Writer, columns []column, first []int, room func(bytes int64) error) (*parquetWriter, error) {
	w := &parquetWriter{out: counter{Writer: out}, columns: columns, first: first, room: room,
		batches: make([][]parquet.Value, len(columns))}
	fields := make(parquet.Group)
	options := []parquet.WriterOption{parquet.DataPageVersion(1)}
	for i := range len(first) + len(columns) {
		c := columns[max(i-len(first), 0)]
		if i < len(first) {
			c = columns[first[i]]
		}
		name := fmt.Sprintf("%02d_%s", i, c.name) // the library sorts columns by name, Kuzu takes them as they come
		fields[name] = parquetNode(c.kind)
		options = append(options, parquet.SkipPageBounds(name))
	}
	w.file = parquet.NewGenericWriter[any](&w.out, append(options, parquet.NewSchema("rows", fields))...)
	w.writers = w.file.ColumnWriters()
	return w, nil
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
	w.batches[i] = append(w.batches[i], parquet.Int64Value(v))
	w.bytes += 8
}

func (w *parquetWriter) real(i int, v float64) {
	w.batches[i] = append(w.batches[i], parquet.DoubleValue(v))
	w.bytes += 8
}

func (w *parquetWriter) text(i int, s string) {
	at := len(w.texts)
	w.texts = append(w.texts, s...)
	w.batches[i] = append(w.batches[i], parquet.ByteArrayValue(w.texts[at:]))
	w.bytes += 4 + int64(len(s))
}

func (w *parquetWriter) endRow() error {
	w.total++
	w.group++
	if w.group == rowsPerGroup || w.bytes >= maxBytesPerGroup {
		return w.writeGroup()
	}
	if w.group%rowsPerWrite == 0 {
		return w.writeBatch()
	}
	return nil
}

func (w *parquetWriter) writeBatch() error {
	for i, writer := range w.writers {
		at := i - len(w.first)
		if at < 0 {
			at = w.first[i]
		}
		if _, err := writer.WriteRowValues(w.batches[at]); err != nil {
			return err
		}
	}
	for i := range w.batches {
		w.batches[i] = w.batches[i][:0]
	}
	w.texts = w.texts[:0]
	return nil
}

// writeGroup writes what is there of a group.
func (w *parquetWriter) writeGroup() error {
	if w.group == 0 {
		return nil
	}
	if err := w.writeBatch(); err != nil {
		return err
	}
	if err := w.room(w.bytes); err != nil {
		return err
	}
	w.group, w.bytes = 0, 0
	return w.file.Flush()
}

// close writes the rest and the description of the file, which Parquet has at the end.
func (w *parquetWriter) close() error {
	if err := w.writeGroup(); err != nil {
		return err
	}
	return w.file.Close()
}
