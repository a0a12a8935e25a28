package kuzu

// What a write costs of the buffer pool until the next checkpoint, measured with libkuzu 0.11.3 and rounded up. A
// transaction that sets a column keeps one vector of 2,048 values for each vector it touches.
const (
	updateVectorBytes = 34 << 10
	createBytes       = 512
	nodesPerVector    = 2048
	sourcesPerVector  = 256 // of edges, which lie together by source
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

func (b *budget) cost(p *plan) cost {
	c := cost{records: p.records() + 1} // the head
	c.bytes = int64(c.records) * createBytes
	for _, t := range p.newTexts {
		c.texts += int64(len(t.text))
	}
	for _, w := range p.nodes {
		for _, row := range w.creates {
			c.texts += int64(len(row[colKey].(string)))
		}
	}
	type vector struct {
		table, column string
		n             int64
	}
	touched := make(map[vector]bool)
	for _, w := range p.nodes {
		for _, set := range w.sets {
			for _, col := range set.columns {
				touched[vector{w.table.name, col.name, set.id / nodesPerVector}] = true
			}
		}
	}
	for _, w := range p.edges {
		for _, row := range w.sets {
			touched[vector{w.table.name, "weight and detail", row[colSrc].(int64) / sourcesPerVector}] = true
		}
	}
	c.bytes += int64(len(touched)) * updateVectorBytes
	return c
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
