package kuzu

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"time"
)

// Defaults of [Config].
const (
	DefaultBufferPoolBytes   = 256 << 20
	DefaultMaxDBBytes        = 1 << 40
	DefaultReaders           = 2
	DefaultReadTimeout       = 30 * time.Second
	DefaultCheckpointRecords = 60_000
)

// Bounds of [Config].
const (
	// MinBufferPoolBytes is the smallest pool that every statement of this package was measured to work with.
	MinBufferPoolBytes = 64 << 20
	// MinMaxDBBytes is the smallest limit of the file's size.
	MinMaxDBBytes = 1 << 28
	// MaxReaders bounds the parallel reads: each holds native memory, and on few cores more readers are not faster.
	MaxReaders = 32
)

// Config says how a [Store] uses the machine. The zero value is the recommended configuration.
type Config struct {
	// BufferPoolBytes is the memory Kuzu may use for pages of the file and for updates since the last checkpoint. It
	// must hold the updates of the largest Apply. It grows by up to 384 MiB with the file, and for a log of long texts: a
	// checkpoint that runs out of memory can cost the file. Kuzu's own default, four fifths of the machine, is never used.
	// Defaults to DefaultBufferPoolBytes.
	BufferPoolBytes int64
	// MaxDBBytes is the address space that Kuzu reserves, and so the most that the file can grow to: a power of two.
	// A process can open only as many stores as fit in its address space. Defaults to DefaultMaxDBBytes.
	MaxDBBytes int64
	// Readers is how many loads run at once; more wait for their turn. Defaults to DefaultReaders.
	Readers int
	// ReadTimeout bounds each statement of a read, not the whole load. Writes have none: an interrupted write is a
	// rollback, and a rollback costs more than it saves. Defaults to DefaultReadTimeout.
	ReadTimeout time.Duration
	// CheckpointRecords is how many written records lead to a checkpoint when the memory for updates does not lead to
	// one earlier; in a graph of more than sixteen times as many, a sixteenth of what is stored, up to 120,000 records: there a
	// checkpoint takes seconds. It bounds the log that the next Open replays, at about 30 microseconds a record. Defaults to
	// DefaultCheckpointRecords.
	CheckpointRecords int
	// Logger gets what goes wrong between calls. Defaults to slog.Default.
	Logger *slog.Logger

	// hooks are for tests of this package.
	hooks hooks
}

// hooks reach into the writer from tests; nil hooks do nothing.
type hooks struct {
	statement  func(query string) error // asked before each statement of a write transaction
	freeBytes  func(dir string) (uint64, error)
	keepLog    bool                     // no checkpoint at Close, as after a crash
	forceBatch bool                     // batches from two rows on, whatever the tables' sizes
	page       int64                    // rows of a page
	checkpoint func(took time.Duration) // told after each checkpoint
	merging    func()                   // told before Kuzu merges the log into the file
	copied     func()                   // told after each chunk of a backup
}

func (c Config) withDefaults() Config {
	c.BufferPoolBytes = cmp.Or(c.BufferPoolBytes, DefaultBufferPoolBytes)
	c.MaxDBBytes = cmp.Or(c.MaxDBBytes, DefaultMaxDBBytes)
	c.Readers = cmp.Or(c.Readers, DefaultReaders)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, DefaultReadTimeout)
	c.CheckpointRecords = cmp.Or(c.CheckpointRecords, DefaultCheckpointRecords)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.hooks.freeBytes == nil {
		c.hooks.freeBytes = freeBytes
	}
	return c
}

func (c Config) validate() error {
	var errs []error
	refuse := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s %v: want %s", field, value, want))
	}
	if c.BufferPoolBytes < MinBufferPoolBytes {
		refuse("BufferPoolBytes", c.BufferPoolBytes, fmt.Sprintf("at least %d", MinBufferPoolBytes))
	}
	if c.MaxDBBytes < MinMaxDBBytes || bits.OnesCount64(uint64(c.MaxDBBytes)) != 1 {
		refuse("MaxDBBytes", c.MaxDBBytes, fmt.Sprintf("a power of two, at least %d", MinMaxDBBytes))
	}
	if c.Readers < 1 || c.Readers > MaxReaders {
		refuse("Readers", c.Readers, fmt.Sprintf("1 to %d", MaxReaders))
	}
	if c.ReadTimeout < time.Millisecond {
		refuse("ReadTimeout", c.ReadTimeout, "at least 1ms")
	}
	if c.CheckpointRecords < 1 {
		refuse("CheckpointRecords", c.CheckpointRecords, "at least 1")
	}
	if len(errs) > 0 {
		return fmt.Errorf("kuzu config: %w", errors.Join(errs...))
	}
	return nil
}
