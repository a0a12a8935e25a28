package qdrant

import (
	"fmt"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// encodeTime writes a time as RFC 3339 in UTC with the microseconds kith keeps. It has four digits for the year.
func encodeTime(t time.Time) (string, error) {
	t = graphstore.InstantOf(t).Time()
	if y := t.Year(); y < 1 || y > 9999 {
		return "", fmt.Errorf("year %d: want 1 to 9999", y)
	}
	return t.Format(time.RFC3339Nano), nil
}

// ceilMicro returns the first whole microsecond that is not before t. Stored times are whole microseconds, so a bound
// moved there divides them alike, and alike on a server that compares whole microseconds only, as its index does.
func ceilMicro(t time.Time) time.Time {
	down := time.UnixMicro(t.UnixMicro())
	if down.Before(t) {
		return down.Add(time.Microsecond)
	}
	return down
}
