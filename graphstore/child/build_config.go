package child

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// DefaultStopWait is the default of BuildConfig.StopWait.
const DefaultStopWait = 10 * time.Second

// BuildConfig says how [Build] runs its child and what it asks of it.
type BuildConfig struct {
	// Command is the program of the child and its arguments, as in [Config]. Required.
	Command []string
	// Env is added to this process's environment for the child.
	Env []string
	// SocketDir is as in [Config]. Defaults to os.TempDir.
	SocketDir string
	// Path is the graph file to make. What is to become of one that is there already is the builder's to say. Required.
	Path string
	// ID and Mark are those of the graph's head. ID is required.
	ID   string
	Mark graphstore.Mark
	// StartTimeout is as in [Config]. Defaults to DefaultStartTimeout. The build itself is bounded by its context alone.
	StartTimeout time.Duration
	// StopWait is how long a child whose build is to end early has for leaving nothing behind; then it is killed. Defaults to
	// DefaultStopWait.
	StopWait time.Duration
	// Errors must be the value that the child has in [ServeConfig].
	Errors Errors
	// Stderr gets what the child writes to its standard output and error. It must not block for long. Defaults to
	// os.Stderr.
	Stderr io.Writer
}

func (c BuildConfig) withDefaults() BuildConfig {
	c.SocketDir = cmp.Or(c.SocketDir, os.TempDir())
	c.StartTimeout = cmp.Or(c.StartTimeout, DefaultStartTimeout)
	c.StopWait = cmp.Or(c.StopWait, DefaultStopWait)
	if c.Stderr == nil {
		c.Stderr = os.Stderr
	}
	return c
}

// process returns what starting a child needs.
func (c BuildConfig) process() Config {
	return Config{Command: c.Command, Env: c.Env, SocketDir: c.SocketDir, StartTimeout: c.StartTimeout, Errors: c.Errors,
		Stderr: c.Stderr}
}

func (c BuildConfig) validate() error {
	var errs []error
	refuse := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s %v: want %s", field, value, want))
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		refuse("Command", fmt.Sprintf("%q", c.Command), "the program of the child")
	}
	if len(c.SocketDir) > MaxSocketDirBytes {
		refuse("SocketDir", fmt.Sprintf("%q (%d bytes)", c.SocketDir, len(c.SocketDir)), fmt.Sprintf("at most %d bytes", MaxSocketDirBytes))
	}
	if c.Path == "" {
		refuse("Path", `""`, "the graph file to make")
	}
	if c.ID == "" {
		refuse("ID", `""`, "the id of the graph")
	}
	if c.StartTimeout < 0 {
		refuse("StartTimeout", c.StartTimeout, "a positive duration")
	}
	if c.StopWait < 0 {
		refuse("StopWait", c.StopWait, "a positive duration")
	}
	if err := c.Errors.validate(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return fmt.Errorf("build child config: %w", errors.Join(errs...))
	}
	return nil
}
