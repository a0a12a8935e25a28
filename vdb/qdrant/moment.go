package qdrant

import (
	"fmt"
	"math"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Numbers as times: seconds below the first bound, milliseconds from it to the second. The first is the year 5138 in
// seconds and 1973 in milliseconds.
const (
	firstMillis = 1e11
	endMillis   = 1e14
)

// timeLayouts are the spellings the server reads in its own conditions on times, those without a zone as UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04", "2006-01-02",
}

// decodeTime reads a payload value as a time in UTC of whole microseconds, or the zero time where it is none.
func decodeTime(v any) time.Time {
	switch v := v.(type) {
	case string:
		for _, layout := range timeLayouts {
			if t, err := time.Parse(layout, v); err == nil {
				return graphstore.InstantOf(t).Time()
			}
		}
	case int64:
		return timeOfNumber(float64(v))
	case float64:
		return timeOfNumber(v)
	}
	return time.Time{}
}

func timeOfNumber(x float64) time.Time {
	switch {
	case x > -firstMillis && x < firstMillis:
		return time.UnixMicro(int64(math.Round(x * 1e6))).UTC()
	case x >= firstMillis && x < endMillis:
		return time.UnixMicro(int64(math.Round(x * 1e3))).UTC()
	default:
		return time.Time{}
	}
}

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
