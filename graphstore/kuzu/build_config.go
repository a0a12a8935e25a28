package kuzu

import (
	"errors"
	"fmt"

	"github.com/kithgraph/kith/graphstore"
)

// BuildConfig says what [Build] makes. The zero value is the recommended configuration.
type BuildConfig struct {
	// Config is the one that the file will be opened with. BufferPoolBytes grows to about six times the staged edges.
	Config
	// ID is the identity that the graph gets: 1 to graphstore.MaxIDBytes bytes. Defaults to a new random UUID.
	ID string
	// Mark says how far in the log of events the records reach.
	Mark graphstore.Mark
	// TempDir is the directory for the staging files, which take about as much of the disk as the graph file. It must be
	// there. Defaults to the directory of the graph file.
	TempDir string
	// Verify reads the finished file and compares the digest of what is in it with that of the records, which takes about
	// as long as building it. The numbers of records are compared in any case.
	Verify bool

	phase func(name string) // told what begins, by tests
}

func (c BuildConfig) withDefaults() BuildConfig {
	c.Config = c.Config.withDefaults()
	if c.phase == nil {
		c.phase = func(string) {}
	}
	return c
}

func (c BuildConfig) validate() error {
	errs := []error{c.Config.validate()}
	if c.ID != "" {
		if err := graphstore.CheckID(c.ID); err != nil {
			errs = append(errs, fmt.Errorf("kuzu build config: ID %w", err))
		}
	}
	if err := graphstore.CheckText(c.Mark.Log); err != nil {
		errs = append(errs, fmt.Errorf("kuzu build config: Mark.Log %w", err))
	}
	return errors.Join(errs...)
}
