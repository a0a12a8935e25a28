package graphstore

import (
	"fmt"
	"time"
)

// Instant is a point in time in whole microseconds UTC, or absent. The zero Instant is absent; no time is ever made up
// for it. Two present instants compare with the usual operators; test [Instant.Present] first.
//
// It is an int64 because stores keep int64 microseconds exactly, where their own time types wrap or mix precisions. The
// coding is a bijection that leaves 0 free for "absent": microseconds before 1970 as they are, from 1970 on plus one.
type Instant int64

// InstantOf converts t, truncated to the microsecond (towards the past). The zero time.Time gives the absent Instant.
func InstantOf(t time.Time) Instant {
	if t.IsZero() {
		return 0
	}
	return InstantOfMicros(t.UnixMicro())
}

// InstantOfMicros converts microseconds since 1970-01-01T00:00:00Z.
func InstantOfMicros(us int64) Instant {
	if us >= 0 {
		us++
	}
	return Instant(us)
}

// Present reports whether the instant is a time at all.
func (i Instant) Present() bool { return i != 0 }

// Micros returns microseconds since 1970-01-01T00:00:00Z, 0 when absent.
func (i Instant) Micros() int64 {
	if i > 0 {
		return int64(i) - 1
	}
	return int64(i)
}

// Time returns the instant in UTC, or the zero time.Time when absent.
func (i Instant) Time() time.Time {
	if !i.Present() {
		return time.Time{}
	}
	return time.UnixMicro(i.Micros()).UTC()
}

// String returns RFC 3339 with microseconds as needed, or "-" when absent.
func (i Instant) String() string {
	if !i.Present() {
		return "-"
	}
	return i.Time().Format(time.RFC3339Nano)
}

// MarshalText returns RFC 3339 in UTC, or nothing when absent.
func (i Instant) MarshalText() ([]byte, error) {
	if !i.Present() {
		return nil, nil
	}
	return []byte(i.String()), nil
}

// UnmarshalText accepts RFC 3339 with a zone, or nothing for absent. A naive time is an error: a zone is never guessed.
func (i *Instant) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*i = 0
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("time %s: want RFC 3339 with a zone, like 2026-09-01T00:00:00Z", Shorten(string(text)))
	}
	if t.IsZero() {
		return fmt.Errorf("time %s: the zero time of some programs, not a date: leave it out for none", Shorten(string(text)))
	}
	*i = InstantOf(t)
	return nil
}
