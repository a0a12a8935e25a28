package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// The defaults and bounds of [Config].
const (
	DefaultCacheBytes  = 512 << 20
	DefaultBusyTimeout = 5 * time.Second
	DefaultReaders     = 8

	MaxDimension = 65_536
	MaxReaders   = 256
)

// Config tunes a [Store]. The zero Config is usable.
type Config struct {
	// Dimension is the length of every vector, 1 to MaxDimension. It is recorded in the file for ever; opening a file of
	// another dimension is an error. 0 leaves it to the file or to the first Upsert. Defaults to 0.
	Dimension int

	// CacheBytes bounds the memory for users' vectors, in bytes: about 4 per number of a vector, and some hundred per
	// point. Users that do not fit are read from the file for every search, which is right but slow. At least 1.
	// Defaults to DefaultCacheBytes.
	CacheBytes int64

	// BusyTimeout is how long a write waits for a write of another process before it is ErrUnavailable. At least a
	// millisecond. Defaults to DefaultBusyTimeout.
	BusyTimeout time.Duration

	// Readers is the number of connections for reads, hence of searches that touch the file at one time, 1 to
	// MaxReaders. Defaults to DefaultReaders.
	Readers int

	// Logger gets one debug record for each matrix read from the file. Defaults to no logs.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.CacheBytes = cmp.Or(c.CacheBytes, DefaultCacheBytes)
	c.BusyTimeout = cmp.Or(c.BusyTimeout, DefaultBusyTimeout)
	c.Readers = cmp.Or(c.Readers, DefaultReaders)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

func (c Config) validate() error {
	var errs []error
	if c.Dimension < 0 || c.Dimension > MaxDimension {
		errs = append(errs, fmt.Errorf("dimension %d: want 1 to %d, or 0 for the file's", c.Dimension, MaxDimension))
	}
	if c.CacheBytes < 1 {
		errs = append(errs, fmt.Errorf("cache_bytes %d: want at least 1", c.CacheBytes))
	}
	if c.BusyTimeout < time.Millisecond {
		errs = append(errs, fmt.Errorf("busy_timeout %v: want at least %v", c.BusyTimeout, time.Millisecond))
	}
	if c.Readers < 1 || c.Readers > MaxReaders {
		errs = append(errs, fmt.Errorf("readers %d: want 1 to %d", c.Readers, MaxReaders))
	}
	return errors.Join(errs...)
}
