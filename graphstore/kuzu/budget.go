package kuzu

// What a write costs of the buffer pool until the next checkpoint, measured with libkuzu 0.11.3 and rounded up. A
// transaction that sets a column keeps one vector of 2,048 values for each vector it touches, whether it sets one of them or
// all.
const (
	numberVectorBytes = 17 << 10
	textVectorBytes   = 34 << 10
	textRowBytes      = 32 // more for each row of a vector of texts
	createBytes       = 512
	rowsPerVector     = 2048
	vectorsPerEdge    = 4 // weight and detail, each with the edges out of the source and with those into the target
)

// Shares of the buffer pool, as divisors.
const (
	dueShare      = 4  // a checkpoint is due when updates may hold this much
	hardShare     = 2  // no write begins that would go beyond
	pressureShare = 16 // with a pool that is nearly full, a checkpoint is due from here on
)

// poolLooks is how many writes lie between two looks at the pool.
const poolLooks = 64

// cost is an upper estimate of what a transaction costs.
type cost struct {
	bytes   int64
	records int
	texts   int64 // bytes of new keys and texts
}

// budget decides when to checkpoint: by the memory of updates and by the number of records, not by the size of the log,
// of which a quarter megabyte can pin the whole pool.
type budget struct {
	cfg     Config
	bytes   int64
	records int
	texts   int64
	writes  int
}

// A checkpoint of a large graph takes about as long after few new records as after many, since these lie all over the file: two
// seconds with a million edges. So the larger the graph, the more records there are between two. Opening the file after a
// crash takes 30 microseconds for each, which bounds them.
const (
	checkpointShare      = 16 // of the records stored, as a divisor
	maxCheckpointRecords = 120_000
)

// recordsDue returns how many written records make a checkpoint due when this many are stored.
func (c Config) recordsDue(stored int) int {
	return max(c.CheckpointRecords, min(stored/checkpointShare, maxCheckpointRecords))
}

// cost estimates a plan for the graph of the index.
func (b *budget) cost(p *plan, x *index) cost {
	c := cost{records: p.records() + 1} // the head
	for _, t := range p.newTexts {
		c.texts += int64(len(t.text))
	}
	sets := 0
	for _, w := range p.nodes {
		for _, row := range w.creates {
			c.texts += int64(len(row[colKey].(string)))
		}
		c.bytes += setBytes(w.sets)
		sets += len(w.sets)
	}
	for _, w := range p.edges {
		c.bytes += int64(min(len(w.sets), edgeVectors(x, w.table))) * vectorsPerEdge * numberVectorBytes
		sets += len(w.sets)
	}
	c.bytes += int64(c.records-sets) * createBytes
	return c
}

// setBytes returns the memory of the vectors that sets of one table's nodes touch.
func setBytes(sets []nodeSet) (bytes int64) {
	type vector struct {
		column string
		n      int64
	}
	touched := make(map[vector]bool)
	for _, set := range sets {
		for _, col := range set.columns {
			size := int64(numberVectorBytes)
			if col.kind == text {
				size = textVectorBytes
				bytes += textRowBytes
			}
			if v := (vector{col.name, set.position / rowsPerVector}); !touched[v] {
				touched[v] = true
				bytes += size
			}
		}
	}
	return bytes
}

// edgeVectors returns how many vectors a column of a table of edges has at most. Edges lie by their ends with room between
// them, less than as much again.
func edgeVectors(x *index, t *relTable) int {
	return 2*(x.edges[t]/rowsPerVector+1) + max(x.count(t.from), x.count(t.to))/rowsPerVector
}

func (b *budget) add(c cost) {
	b.bytes += c.bytes
	b.records += c.records
	b.texts += c.texts
	b.writes++
}

func (b *budget) reset() { b.bytes, b.records, b.texts, b.writes = 0, 0, 0, 0 }

// exceeded reports whether a write of this cost could exhaust the pool, and a checkpoint would help.
func (b *budget) exceeded(c cost) bool {
	return b.records > 0 && b.bytes+c.bytes > b.cfg.BufferPoolBytes/hardShare
}

// due reports whether it is time for a checkpoint of a graph that has this many records.
func (b *budget) due(s *session, stored int) bool {
	if b.bytes > b.cfg.BufferPoolBytes/dueShare || b.records > b.cfg.recordsDue(stored) {
		return true
	}
	if b.writes == 0 || b.writes%poolLooks != 0 || b.bytes < b.cfg.BufferPoolBytes/pressureShare {
		return false
	}
	// The estimate may be wrong: ask. Pages of the file count too, so a full pool alone says nothing.
	var used, limit int64
	err := s.query("CALL bm_info() RETURN CAST(mem_limit AS INT64), CAST(mem_usage AS INT64)", nil, func(row []any) (err error) {
		r := &rowReader{row: row}
		limit, used = next[int64](r), next[int64](r)
		return r.err
	})
	return err == nil && used > limit/4*3
}
