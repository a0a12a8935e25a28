package live

import (
	"cmp"
	"log/slog"
)

// maxReloads bounds the users that are read from the store at the same time. The store reads one thing well; more of them
// would only make each slower.
const maxReloads = 2

// Config of a Graph.
type Config struct {
	// MaxBytes bounds what the published snapshots hold, as [graphstore.Snapshot.Bytes] estimates it. Users beyond it are
	// read from the store when they are asked for, in the place of those least recently used. 0 or less means no bound: all
	// users are loaded and stay.
	//
	// Outside the bound are snapshots that somebody still reads, up to two users that are being read from the store, and
	// what the writer works on: the users of one batch up to MaxBytes, or one user of any size.
	MaxBytes int64
	// Logger receives one line per load, and at debug level one per user read again. Defaults to [slog.Default].
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.MaxBytes = max(c.MaxBytes, 0)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}
