package rerank

// claims knows how much the limit-th strongest of a growing set of numbers in [0, 1] has at least. It counts them in steps of
// 1/claimSteps and is never above the truth.
type claims struct {
	counts [claimSteps + 1]int32
	limit  int32 // 0: no bound is asked for
	step   int   // of least
	above  int32 // numbers in steps from step on
	least  float64
}

const claimSteps = 1024 // a power of two: multiplying by it is exact

func (c *claims) reset(limit int) { *c = claims{limit: int32(limit)} }

// raise replaces a number by a larger one; from 0 it adds one.
func (c *claims) raise(from, to float64) {
	if c.limit == 0 {
		return
	}
	if from > 0 {
		c.count(int(from*claimSteps), -1)
	}
	c.count(int(to*claimSteps), 1)
	for c.step < claimSteps && c.above-c.counts[c.step] >= c.limit {
		c.above -= c.counts[c.step]
		c.step++
	}
	c.least = float64(c.step) / claimSteps
}

func (c *claims) count(step int, by int32) {
	c.counts[step] += by
	if step >= c.step {
		c.above += by
	}
}
