package kuzu

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// headTable keeps the head of the graph: what each transaction leaves is a row more, and the one with the greatest number
// counts. Setting one row would hold a vector of 2,048 values of each column until the next checkpoint, 16 KiB each, for
// every transaction. Before a checkpoint the table is made anew with its last row: Kuzu writes the columns of a table that
// has grown to new pages and does not use the old ones again (a row per transaction and a checkpoint after each 500 make
// 400 MB of 100,000 rows, deleted or not; made anew, the table costs 12 KiB per checkpoint however many transactions).
//
// The numbers d0 to d3 and records are [graphstore.Digest.Words], seq and log the mark, log as the number of its name. Seal
// is a hash over all of them and the graph's id: Kuzu keeps no checksums, and a mark that is wrong loses events.
var headTable = table{"Head", []column{{"no", integer}, {"seq", integer}, {"log", integer}, {"d0", integer}, {"d1", integer},
	{"d2", integer}, {"d3", integer}, {"records", integer}, {"seal", integer}}}

// headRow is the head as the file has it.
type headRow struct {
	no   int64 // of the row
	log  int64 // number of the mark's log; 0: its name is empty
	head graphstore.Head
}

// after returns the head after a transaction that changes the records by delta.
func (r headRow) after(delta graphstore.Digest, mark graphstore.Mark) headRow {
	r.no++
	r.head.Digest.Merge(delta)
	if mark == (graphstore.Mark{}) || mark == r.head.Mark {
		return r
	}
	if mark.Log != r.head.Mark.Log {
		r.log = r.no // no two rows have one number, so no two names do
		if mark.Log == "" {
			r.log = 0
		}
	}
	r.head.Mark = mark
	return r
}

func (r headRow) params() params {
	sum, records := r.head.Digest.Words()
	p := params{"no": r.no, "seq": int64(r.head.Mark.Seq), "log": r.log, "records": int64(records), "seal": r.seal()}
	for i, word := range sum {
		p[fmt.Sprint("d", i)] = int64(word)
	}
	return p
}

// seal returns the first eight bytes of the SHA-256 of everything that the row says.
func (r headRow) seal() int64 {
	sum, records := r.head.Digest.Words()
	var b []byte
	for _, s := range []string{r.head.ID, r.head.Mark.Log} {
		b = append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	for _, n := range []uint64{uint64(r.no), uint64(r.log), r.head.Mark.Seq, uint64(records), sum[0], sum[1], sum[2], sum[3]} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	hash := sha256.Sum256(b)
	return int64(binary.LittleEndian.Uint64(hash[:8]))
}

// The names of logs stand in a table of their own, of which only the last mark's row is kept.
const createLogTable = "CREATE NODE TABLE IF NOT EXISTS Log(no INT64 PRIMARY KEY, name STRING)"

func createHeadTable() string {
	return fmt.Sprintf("CREATE NODE TABLE IF NOT EXISTS %s(%s, PRIMARY KEY(no))", headTable.name, declare(headTable.columns))
}

// createHead creates a row of the table.
func createHead() string {
	return fmt.Sprintf("CREATE (h:%s {%s}) RETURN count(*)", headTable.name,
		assign(headTable.columns, func(c column) string { return "$" + c.name }))
}

// readHead reads the head of the graph with this id. A file without a head, or one that does not fit its seal, is damaged.
func readHead(s *session, id string) (r headRow, err error) {
	found := false
	query := fmt.Sprintf("MATCH (h:%s) RETURN %s ORDER BY h.no DESC LIMIT 1", headTable.name, plain("h", headTable.columns))
	var seal int64
	err = s.query(query, nil, func(row []any) error {
		found = true
		seal, err = r.scan(row)
		return err
	})
	if err != nil {
		return r, err
	}
	if !found {
		return r, damaged("the file has no head")
	}
	r.head.ID = id
	if r.log != 0 {
		err := s.query("MATCH (l:Log {no: $no}) RETURN l.name", params{"no": r.log}, func(row []any) (err error) {
			r.head.Mark.Log, err = cell[string](row, 0)
			return err
		})
		if err != nil {
			return r, err
		}
	}
	if seal != r.seal() {
		return r, damaged("head %d of the file does not fit its seal", r.no)
	}
	return r, nil
}

// scan takes over a row of the table and returns its seal.
func (r *headRow) scan(row []any) (seal int64, err error) {
	in := &rowReader{row: row}
	r.no = next[int64](in)
	r.head.Mark.Seq = uint64(next[int64](in))
	r.log = next[int64](in)
	var sum [4]uint64
	for i := range sum {
		sum[i] = uint64(next[int64](in))
	}
	records := next[int64](in)
	seal = next[int64](in)
	r.head.Digest = graphstore.DigestOfWords(sum, int(records))
	return seal, in.err
}
