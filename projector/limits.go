package projector

import (
	"cmp"
	"errors"
	"fmt"
)

// The defaults and bounds of [Limits].
const (
	DefaultMaxEventBytes = 1 << 20
	DefaultMaxFacts      = 1000

	minEventBytes   = 1 << 10
	maxEventBytes   = 64 << 20
	maxFactsCeiling = 100_000
)

// maxDepth is the deepest nesting of arrays and objects; the contract itself needs seven levels.
const maxDepth = 32

// Limits bounds what [Decode] and [Marshal] accept.
type Limits struct {
	// MaxBytes is the size of one event in bytes, between 1 KiB and 64 MiB. Defaults to [DefaultMaxEventBytes].
	MaxBytes int
	// MaxFacts is the number of facts that one event writes, or names as evidence, between 1 and 100,000. Defaults to
	// [DefaultMaxFacts].
	MaxFacts int
}

// WithDefaults returns the limits with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	return Limits{MaxBytes: cmp.Or(l.MaxBytes, DefaultMaxEventBytes), MaxFacts: cmp.Or(l.MaxFacts, DefaultMaxFacts)}
}

// Validate reports every field outside its bounds. A zero field is valid: it means the default.
func (l Limits) Validate() error {
	l = l.WithDefaults()
	var errs []error
	if l.MaxBytes < minEventBytes || l.MaxBytes > maxEventBytes {
		errs = append(errs, fmt.Errorf("max event bytes %d: want %d to %d", l.MaxBytes, minEventBytes, maxEventBytes))
	}
	if l.MaxFacts < 1 || l.MaxFacts > maxFactsCeiling {
		errs = append(errs, fmt.Errorf("max facts %d: want 1 to %d", l.MaxFacts, maxFactsCeiling))
	}
	return errors.Join(errs...)
}
