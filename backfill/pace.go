package backfill

import (
	"context"
	"time"
)

// pace keeps a run to a number of points a second.
type pace struct{ rate int }

// wait waits until a page of so many points that began then may be over.
func (p pace) wait(ctx context.Context, began time.Time, points int) error {
	if p.rate == 0 {
		return context.Cause(ctx)
	}
	left := time.Until(began.Add(time.Duration(points) * time.Second / time.Duration(p.rate)))
	if left <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
