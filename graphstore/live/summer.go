package live

import "github.com/kithgraph/kith/graphstore"

// summer makes a digest on a goroutine of its own: hashing takes about as long as building a snapshot does.
type summer struct {
	batch []graphstore.Change
	queue chan []graphstore.Change
	sum   chan graphstore.Digest
}

const summerBatch = 512

func newSummer() *summer {
	s := &summer{queue: make(chan []graphstore.Change, 4), sum: make(chan graphstore.Digest, 1)}
	go s.run()
	return s
}

func (s *summer) run() {
	var d graphstore.Digest
	for batch := range s.queue {
		for _, c := range batch {
			d.Add(c)
		}
	}
	s.sum <- d
}

func (s *summer) add(c graphstore.Change) {
	if s.batch == nil {
		s.batch = make([]graphstore.Change, 0, summerBatch)
	}
	if s.batch = append(s.batch, c); len(s.batch) == summerBatch {
		s.queue <- s.batch
		s.batch = nil
	}
}

// digest ends the goroutine and returns the digest of all that was added. It must be called once.
func (s *summer) digest() graphstore.Digest {
	s.queue <- s.batch
	close(s.queue)
	return <-s.sum
}
