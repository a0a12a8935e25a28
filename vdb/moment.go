package vdb

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// TimeUnit says how a stored time is to be read.
type TimeUnit string

// Values of [TimeUnit].
const (
	TimeAuto    TimeUnit = ""        // a text, or a number whose size says its unit
	TimeSeconds TimeUnit = "s"       // a number is seconds since 1970; texts are read as well
	TimeMillis  TimeUnit = "ms"      // a number is milliseconds since 1970; texts are read as well
	TimeText    TimeUnit = "rfc3339" // a number is no time
)

// CutTimeUnit takes the unit off a path that states one, as in metadata.ts@ms: @s, @ms or @rfc3339. A path without one is
// [TimeAuto].
func CutTimeUnit(text string) (path string, unit TimeUnit, err error) {
	path, word, stated := cutLast(text, "@")
	if !stated || strings.ContainsAny(word, `."`) { // inside the path, as in a@json.b
		return text, TimeAuto, nil
	}
	switch unit := TimeUnit(word); unit {
	case TimeSeconds, TimeMillis, TimeText:
		return path, unit, nil
	default:
		return "", TimeAuto, fmt.Errorf("path %s: unit @%s: want @s, @ms or @rfc3339", graphstore.Shorten(text), graphstore.Shorten(word))
	}
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// Numbers as times under [TimeAuto], each value for itself: seconds below FirstMillis on both sides of zero, milliseconds
// from there to EndMillis, no time beyond. FirstMillis is the year 5138 in seconds and 1973 in milliseconds, so the rule
// misreads only milliseconds before 1973 and seconds after 5138; EndMillis is the year 5138 in milliseconds, and what is
// above is microseconds, which are not guessed at.
const (
	FirstMillis = 1e11
	EndMillis   = 1e14
)

// timeLayouts are the spellings that Qdrant reads in its own conditions on times, those without a zone as UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04", "2006-01-02",
}

// Errors of [ParseTime].
var (
	errNoTime    = errors.New("want a time as RFC 3339, or seconds or milliseconds since 1970")
	errTimeRange = fmt.Errorf("want seconds between -%.0e and %.0e or milliseconds from there to %.0e", FirstMillis, FirstMillis, EndMillis)
	errTimeText  = errors.New("want a text as in RFC 3339")
	errTimeUnit  = errors.New("want the years 1 to 9999")
)

// ParseTime reads a payload value as a time in UTC of whole microseconds. An absent value (nil or an empty text) is the zero
// time without an error. The error says what was wanted instead.
func ParseTime(v any, unit TimeUnit) (time.Time, error) {
	switch v := v.(type) {
	case nil:
		return time.Time{}, nil
	case string:
		return parseTimeText(v)
	case int64:
		return timeOfNumber(float64(v), unit)
	case float64:
		return timeOfNumber(v, unit)
	default:
		return time.Time{}, errNoTime
	}
}

func parseTimeText(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return graphstore.InstantOf(t).Time(), nil
		}
	}
	return time.Time{}, errNoTime
}

func timeOfNumber(x float64, unit TimeUnit) (time.Time, error) {
	perNumber := 1e6 // microseconds
	switch {
	case unit == TimeText:
		return time.Time{}, errTimeText
	case unit == TimeMillis:
		perNumber = 1e3
	case unit == TimeSeconds, x > -FirstMillis && x < FirstMillis:
	case x >= FirstMillis && x < EndMillis:
		perNumber = 1e3
	default:
		return time.Time{}, errTimeRange
	}
	micros := math.Round(x * perNumber)
	if !(math.Abs(micros) < maxMicros) { // also NaN
		return time.Time{}, errTimeUnit
	}
	t := time.UnixMicro(int64(micros)).UTC()
	if y := t.Year(); unit != TimeAuto && (y < 1 || y > 9999) {
		return time.Time{}, errTimeUnit
	}
	return t, nil
}

// maxMicros is far beyond the year 9999 and within an int64.
const maxMicros = 1 << 62
