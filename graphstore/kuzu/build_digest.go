package kuzu

import (
	"sync"

	"github.com/kithgraph/kith/graphstore"
)

// How many records the digester gets at once, and how many batches may wait for it.
const (
	recordsPerDigest = 1024
	digestsAhead     = 4
)

// digester adds records to a digest on a goroutine of its own: that is a third of the work of taking them in.
type digester struct {
	batch []graphstore.Change
	full  chan []graphstore.Change
	empty chan []graphstore.Change // batches to be used again
	sum   graphstore.Digest        // the goroutine's until it has ended
	done  sync.WaitGroup
	ended bool
}

func newDigester() *digester {
	d := &digester{full: make(chan []graphstore.Change, digestsAhead), empty: make(chan []graphstore.Change, digestsAhead+2)}
	for range digestsAhead + 1 { // one more is being filled
		d.empty <- nil
	}
	d.done.Go(func() {
		for batch := range d.full {
			for _, c := range batch {
				d.sum.Add(c)
			}
			d.empty <- batch[:0]
		}
	})
	return d
}

// add takes a valid record, which nobody modifies any more.
func (d *digester) add(c graphstore.Change) {
	d.batch = append(d.batch, c)
	if len(d.batch) == recordsPerDigest {
		d.full <- d.batch
		d.batch = <-d.empty
	}
}

// end ends the goroutine and returns the digest. It may be called again.
func (d *digester) end() graphstore.Digest {
	if !d.ended {
		d.ended = true
		d.full <- d.batch
		close(d.full)
		d.done.Wait()
	}
	return d.sum
}
