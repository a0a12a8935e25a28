package live

import "github.com/kithgraph/kith/graphstore"

// summer makes a digest of each space on a goroutine of its own: hashing takes about as long as building a snapshot does.
type summer struct {
	batch []graphstore.Change
	queue chan []graphstore.Change
	sums  chan map[graphstore.Space]*graphstore.Digest
}

const summerBatch = 512

func newSummer() *summer {
	s := &summer{queue: make(chan []graphstore.Change, 4), sums: make(chan map[graphstore.Space]*graphstore.Digest, 1)}
	go s.run()
	return s
}

func (s *summer) run() {
	sums := map[graphstore.Space]*graphstore.Digest{}
	for batch := range s.queue {
		for _, c := range batch {
			d, ok := sums[c.Space]
			if !ok {
				d = &graphstore.Digest{}
				sums[c.Space] = d
			}
			d.Add(c)
		}
	}
	s.sums <- sums
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

// digests ends the goroutine and returns the digest of what was added of each space. It must be called once.
func (s *summer) digests() map[graphstore.Space]*graphstore.Digest {
	s.queue <- s.batch
	close(s.queue)
	return <-s.sums
}
