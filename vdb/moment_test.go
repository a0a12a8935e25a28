package vdb_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/vdb"
)

// Every time is written by hand: 1767225600 is 2026-01-01T00:00:00Z (56 years, 14 of them leap: 20454 days).
func TestParseTime(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		v    any
		want time.Time
	}{
		"RFC 3339":                  {"2026-01-01T00:00:00Z", start},
		"microseconds":              {"2026-01-01T00:00:00.000123Z", start.Add(123 * time.Microsecond)},
		"nanoseconds are cut off":   {"2026-01-01T00:00:00.000000999Z", start},
		"a zone":                    {"2026-01-01T02:00:00+02:00", start},
		"a zone without a colon":    {"2026-01-01T02:00:00+0200", start},
		"a blank for the T":         {"2026-01-01 00:00:00Z", start},
		"no zone: UTC":              {"2026-01-01T00:00:00.5", start.Add(500 * time.Millisecond)},
		"no zone, a blank":          {"2026-01-01 00:00:00", start},
		"minutes":                   {"2026-01-01 00:00", start},
		"date":                      {"2026-01-01", start},
		"seconds":                   {int64(1767225600), start},
		"milliseconds":              {int64(1767225600123), start.Add(123 * time.Millisecond)},
		"fraction of seconds":       {1767225600.25, start.Add(250 * time.Millisecond)},
		"0 is 1970":                 {int64(0), time.Unix(0, 0).UTC()},
		"before 1970":               {int64(-1), time.Unix(-1, 0).UTC()},
		"last second":               {int64(99_999_999_999), time.Unix(99_999_999_999, 0).UTC()},
		"first millisecond":         {int64(100_000_000_000), time.Unix(100_000_000, 0).UTC()},
		"microseconds in a number":  {int64(1767225600000000), time.Time{}},
		"negative milliseconds":     {int64(-100_000_000_000), time.Time{}},
		"not a number":              {math.NaN(), time.Time{}},
		"no time":                   {"soon", time.Time{}},
		"empty":                     {"", time.Time{}},
		"null":                      {nil, time.Time{}},
		"of a type without a sense": {[]any{"2026-01-01"}, time.Time{}},
	} {
		got, err := vdb.ParseTime(tc.v, vdb.TimeAuto)
		absent := tc.v == nil || tc.v == ""
		if got != tc.want || (err != nil) != (tc.want.IsZero() && !absent) {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, tc.want)
		}
	}
}

// A stated unit holds for every magnitude: 1.7e12 s is beyond the year 9999, 5e9 ms is in 1970.
func TestParseTimeOfStatedUnit(t *testing.T) {
	for name, tc := range map[string]struct {
		v    any
		unit vdb.TimeUnit
		want time.Time // zero: refused
	}{
		"seconds":                 {int64(1767225600), vdb.TimeSeconds, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		"seconds beyond 9999":     {int64(1767225600000), vdb.TimeSeconds, time.Time{}},
		"milliseconds in 1970":    {int64(5_000_000_000), vdb.TimeMillis, time.Date(1970, 2, 27, 20, 53, 20, 0, time.UTC)},
		"milliseconds below 1970": {int64(-1500), vdb.TimeMillis, time.Date(1969, 12, 31, 23, 59, 58, 500_000_000, time.UTC)},
		"milliseconds, huge":      {int64(math.MaxInt64), vdb.TimeMillis, time.Time{}},
		"not a number":            {math.NaN(), vdb.TimeMillis, time.Time{}},
		"a text all the same":     {"2026-01-01", vdb.TimeMillis, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		"a number for a text":     {int64(1767225600), vdb.TimeText, time.Time{}},
	} {
		got, err := vdb.ParseTime(tc.v, tc.unit)
		if got != tc.want || (err != nil) != tc.want.IsZero() {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, tc.want)
		}
	}
}

func TestCutTimeUnit(t *testing.T) {
	for text, want := range map[string]struct {
		path string
		unit vdb.TimeUnit
	}{
		"a.b@s": {"a.b", vdb.TimeSeconds}, "a@ms": {"a", vdb.TimeMillis}, "a@rfc3339": {"a", vdb.TimeText}, "a": {"a", vdb.TimeAuto},
		"a@json.b": {"a@json.b", vdb.TimeAuto}, `"a@b"`: {`"a@b"`, vdb.TimeAuto}, `"a@b"@s`: {`"a@b"`, vdb.TimeSeconds},
	} {
		if path, unit, err := vdb.CutTimeUnit(text); path != want.path || unit != want.unit || err != nil {
			t.Errorf("%s: %q, %q, %v", text, path, unit, err)
		}
	}
	if _, _, err := vdb.CutTimeUnit("a@days"); err == nil || !strings.Contains(err.Error(), `"days"`) || !strings.Contains(err.Error(), "@ms") {
		t.Errorf("an unknown unit: %v", err)
	}
}
