package child

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"
)

// Defaults of [Config].
const (
	DefaultQuarantineAfter = 2
	DefaultBackoffMin      = 100 * time.Millisecond
	DefaultBackoffMax      = 10 * time.Second
	DefaultBreakerCrashes  = 5
	DefaultBreakerWindow   = 2 * time.Minute
	DefaultBreakerPause    = time.Minute
	DefaultStartTimeout    = 30 * time.Second
	DefaultOpenTimeout     = 5 * time.Minute
	DefaultCloseTimeout    = 30 * time.Second
	DefaultAnswerWait      = 5 * time.Second
	DefaultApplyLimit      = 10 * time.Minute
	DefaultMemoryCheck     = time.Minute
	DefaultFileCheck       = time.Second
)

// MaxSocketDirBytes bounds the name of Config.SocketDir: the name of a socket has at most 107 bytes.
const MaxSocketDirBytes = 70

// Config says how a [Store] runs its child.
type Config struct {
	// Command is the program of the child and its arguments: normally this binary and the name of the command that calls
	// [Serve]. Required.
	Command []string
	// Env is added to this process's environment for the child.
	Env []string
	// Path is the graph file, as the store's open takes it. Required.
	Path string
	// SocketDir is where the directory with the socket is made, one per child, mode 0700. At most MaxSocketDirBytes long.
	// Defaults to os.TempDir.
	SocketDir string
	// Quarantine says what becomes of a graph that cannot be opened or is damaged.
	Quarantine QuarantinePolicy
	// Replaced says what becomes of a graph in whose place [Store.Replace] puts another.
	Replaced ReplacedPolicy
	// WaitForOwner is how long Start and restarts wait for another owner of the graph to let go before they answer with
	// ErrInUse. The child of a parent that was killed is one, until it has ended its transaction: ServeConfig.OrphanWait at
	// most. Defaults to 0: they do not wait.
	WaitForOwner time.Duration
	// FileCheck is how often it is looked whether the graph file is still the one that the child opened: one that was
	// removed or replaced by others is written to by nobody else, and lost. The child is killed then, what is left of the
	// graph is moved aside, and an empty one takes its place. A file that was not there when the store had opened it is not
	// looked for. Defaults to DefaultFileCheck.
	FileCheck time.Duration

	// HoldEmpty makes calls return [ErrEmptied] from when a graph was moved aside until [Store.AcceptEmpty] or a successful
	// [Store.Replace], and applies return [ErrUntrusted] from when a child has begun anew until [Store.Trust]. Without it the
	// next child takes calls at once, also those that were planned against a graph that it does not have.
	HoldEmpty bool

	// BackoffMin and BackoffMax bound the wait before a dead child is started again: it doubles with each failure and is
	// short again after a child that lived longer than BackoffMax. Default to DefaultBackoffMin and DefaultBackoffMax.
	BackoffMin, BackoffMax time.Duration
	// BreakerCrashes ends of the child within BreakerWindow stop it for BreakerPause. Default to DefaultBreakerCrashes,
	// DefaultBreakerWindow and DefaultBreakerPause.
	BreakerCrashes              int
	BreakerWindow, BreakerPause time.Duration

	// StartTimeout bounds how long a new process takes until it can be talked to, before it opens anything. Defaults to
	// DefaultStartTimeout.
	StartTimeout time.Duration
	// OpenTimeout bounds the opening of the graph; a child that exceeds it is killed, and the opening has failed. It must
	// leave time for a long log to be replayed. Defaults to DefaultOpenTimeout.
	OpenTimeout time.Duration
	// CloseTimeout bounds Close: the calls in flight, then the closing of the store. What is not done then is killed.
	// Defaults to DefaultCloseTimeout.
	CloseTimeout time.Duration
	// AnswerWait is how long an Apply whose context ended waits for the child to say whether it was committed. Defaults
	// to DefaultAnswerWait.
	AnswerWait time.Duration
	// ApplyLimit is how long an Apply may go unanswered, with the wait for its turn, before the child counts as hung and is
	// killed. It must leave time for the largest transaction and a checkpoint. Defaults to DefaultApplyLimit.
	ApplyLimit time.Duration

	// MemoryLimit is the resident memory, in bytes, beyond which the child is replaced by a new one, as [Store.Recycle]
	// does, if it is also more than MemoryGrowth times what the child was measured to need: the more of what it took
	// MemorySettle after its opening and at the end of its first load. It is looked at every MemoryCheck, where there is a
	// /proc file system. 0, the default: no limit.
	MemoryLimit int64
	// MemoryCheck defaults to DefaultMemoryCheck.
	MemoryCheck time.Duration

	// Errors must be the value that the child has in [ServeConfig].
	Errors Errors
	// Stderr gets what the child writes to its standard output and error. It must not block for long. Defaults to
	// os.Stderr.
	Stderr io.Writer
	// Logger gets the life of the child: starts, ends, quarantines. Defaults to slog.Default.
	Logger *slog.Logger
	// Hooks are told the same.
	Hooks Hooks

	// For tests of this package.
	settle time.Duration // instead of MemorySettle
	step   func()        // called before each step of a replacement
}

// QuarantinePolicy says what becomes of a graph that cannot be opened or is damaged. What the child's store reports as
// [graphstore.ErrDamaged] is moved aside at once, and so is what is left of a graph whose file is gone.
type QuarantinePolicy struct {
	// Off leaves it where it is; the child is then tried again and again. [Store.Quarantine] moves it all the same.
	Off bool
	// After is how many openings in a row must fail. A graph that opens is moved aside when one child more than this died
	// while it was loaded from, since a LoadAll succeeded last. Ends by SIGKILL do not count there, which is how the system
	// ends what takes too much memory. Defaults to DefaultQuarantineAfter.
	After int
	// Dir is where folders with quarantined files are made, on the same disk as the graph. Nothing in it is ever deleted by
	// this package. Defaults to Config.Path with ".quarantine" added.
	Dir string
}

// ReplacedPolicy says what becomes of a graph in whose place another was put.
type ReplacedPolicy struct {
	// Keep leaves it in a folder of its own, which nobody empties. Else it is removed once the new one has opened.
	Keep bool
	// Dir is where folders with replaced graphs are made, for a while also without Keep, on the same disk as the graph.
	// Defaults to Config.Path with ".replaced" added.
	Dir string
}

func (c Config) withDefaults() Config {
	c.SocketDir = cmp.Or(c.SocketDir, os.TempDir())
	c.Quarantine.After = cmp.Or(c.Quarantine.After, DefaultQuarantineAfter)
	c.BackoffMin = cmp.Or(c.BackoffMin, DefaultBackoffMin)
	c.BackoffMax = cmp.Or(c.BackoffMax, max(DefaultBackoffMax, c.BackoffMin))
	c.BreakerCrashes = cmp.Or(c.BreakerCrashes, DefaultBreakerCrashes)
	c.BreakerWindow = cmp.Or(c.BreakerWindow, DefaultBreakerWindow)
	c.BreakerPause = cmp.Or(c.BreakerPause, DefaultBreakerPause)
	c.StartTimeout = cmp.Or(c.StartTimeout, DefaultStartTimeout)
	c.OpenTimeout = cmp.Or(c.OpenTimeout, DefaultOpenTimeout)
	c.CloseTimeout = cmp.Or(c.CloseTimeout, DefaultCloseTimeout)
	c.AnswerWait = cmp.Or(c.AnswerWait, DefaultAnswerWait)
	c.ApplyLimit = cmp.Or(c.ApplyLimit, DefaultApplyLimit)
	c.MemoryCheck = cmp.Or(c.MemoryCheck, DefaultMemoryCheck)
	c.FileCheck = cmp.Or(c.FileCheck, DefaultFileCheck)
	c.settle = cmp.Or(c.settle, MemorySettle)
	if c.step == nil {
		c.step = func() {}
	}
	if c.Stderr == nil {
		c.Stderr = os.Stderr
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Hooks = c.Hooks.withDefaults()
	return c
}

func (c Config) validate() error {
	var errs []error
	refuse := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s %v: want %s", field, value, want))
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		refuse("Command", fmt.Sprintf("%q", c.Command), "the program of the child")
	}
	if c.Path == "" {
		refuse("Path", `""`, "the graph file")
	}
	if len(c.SocketDir) > MaxSocketDirBytes {
		refuse("SocketDir", fmt.Sprintf("%q (%d bytes)", c.SocketDir, len(c.SocketDir)), fmt.Sprintf("at most %d bytes", MaxSocketDirBytes))
	}
	if c.Quarantine.After < 1 {
		refuse("Quarantine.After", c.Quarantine.After, "at least 1")
	}
	if c.BackoffMax < c.BackoffMin {
		refuse("BackoffMax", c.BackoffMax, fmt.Sprintf("at least BackoffMin, %v", c.BackoffMin))
	}
	if c.BreakerCrashes < 1 {
		refuse("BreakerCrashes", c.BreakerCrashes, "at least 1")
	}
	for field, d := range map[string]time.Duration{"BackoffMin": c.BackoffMin, "BreakerWindow": c.BreakerWindow,
		"BreakerPause": c.BreakerPause, "StartTimeout": c.StartTimeout, "OpenTimeout": c.OpenTimeout,
		"CloseTimeout": c.CloseTimeout, "AnswerWait": c.AnswerWait, "ApplyLimit": c.ApplyLimit, "MemoryCheck": c.MemoryCheck, "FileCheck": c.FileCheck,
		"WaitForOwner": c.WaitForOwner} {
		if d < 0 {
			refuse(field, d, "a positive duration")
		}
	}
	if c.MemoryLimit < 0 {
		refuse("MemoryLimit", c.MemoryLimit, "0 for none, or a number of bytes")
	}
	if err := c.Errors.validate(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return fmt.Errorf("store child config: %w", errors.Join(errs...))
	}
	return nil
}
