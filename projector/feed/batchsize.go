package feed

import "time"

// MinBatchSize is what batches shrink to at the most, if Config.BatchSize is not less.
const MinBatchSize = 32

// startBatchSize is the size before anything has been committed: a transaction of this many events takes a store on a
// disk less than a second, and one of eight times as many is three commits away.
const startBatchSize = 256

// batchSize is how many messages make a batch. The cost of a transaction has a part that does not grow with it, so large
// ones are cheap by the event; but whoever waits for an event waits for all of its batch. So batches are doubled for as
// long as there is a backlog that fills them and a commit takes up to half the target, and halved when one takes longer
// than the target. Doubling at most doubles the time of a commit: a size that was grown into is within the target, and
// stays, for as long as the store is as fast as it was. Rejected: growing up to the target, which goes up and down for
// ever between a size that is within it and one that is not.
type batchSize struct {
	least, most int
	now         int
	target      time.Duration // of one commit
}

func newBatchSize(most int, target time.Duration) batchSize {
	return batchSize{least: min(MinBatchSize, most), most: most, now: min(startBatchSize, most), target: target}
}

// committed takes in what a commit took, and whether its batch was full. One that failed shrinks the next ones too: there
// are stores that fail at transactions of a size that they cannot hold.
func (b *batchSize) committed(full bool, took time.Duration, err error) {
	switch {
	case err != nil || took > b.target:
		b.now = max(b.now/2, b.least)
	case full && took <= b.target/2:
		b.now = min(b.now*2, b.most)
	}
}
