package feed

import (
	"context"
	"time"
)

// backoff returns the pause after the nth failure in a row, from 1: RetryMin, doubled each time up to RetryMax. There is
// one consumer, so nothing is gained by spreading retries at random.
func (c Config) backoff(n int) time.Duration {
	d := c.RetryMin
	for i := 1; i < n && d < c.RetryMax; i++ {
		d *= 2
	}
	return min(d, c.RetryMax)
}

// sleep waits for d or the end of the context, whichever comes first.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
