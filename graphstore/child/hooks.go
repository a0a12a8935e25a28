package child

import "time"

// Hooks tell the owner what happened. They are called by the goroutine that watches the child, one at a time; while one
// runs, nothing is started. A hook must not call the store. Nil hooks do nothing.
type Hooks struct {
	// Crashed: a child ended that should not have, or a start failed.
	Crashed func(Crash)
	// Restarted: calls are taken again, after a crash or a replacement in order.
	Restarted func(Restart)
	// Quarantined: the graph was moved aside, and the next child begins with an empty one. It is called before the empty
	// graph takes any call, also by [Start]. The owner marks the graph as to be rebuilt here: what was acknowledged is no
	// longer in it.
	Quarantined func(Quarantine)
	// BreakerOpen: the child is not started for a while. Restarted follows when it runs again.
	BreakerOpen func(Break)
}

// Crash describes one end of a child.
type Crash struct {
	PID    int // 0 if there was no process
	Phase  CrashPhase
	Reason string // how the process ended and the last of what it wrote; for the log
	At     time.Time
}

// CrashPhase says what the child was at.
type CrashPhase string

// The phases.
const (
	CrashedStarting CrashPhase = "starting" // before it was asked to open the graph
	CrashedOpening  CrashPhase = "opening"  // before it said that the graph is open
	CrashedRunning  CrashPhase = "running"
)

// Restart describes the end of an interruption.
type Restart struct {
	PID      int
	Attempts int           // starts that it took
	Down     time.Duration // since the last child ended
}

// Quarantine describes a graph that was moved aside.
type Quarantine struct {
	Dir    string   // the folder that now holds the files
	Files  []string // their names in it
	Reason string   // why the graph could not be opened
	At     time.Time
}

// Break describes an opening of the breaker.
type Break struct {
	Crashes int       // within Config.BreakerWindow
	Until   time.Time // when the child is started again
	Reason  string    // of the last crash
}

func (h Hooks) withDefaults() Hooks {
	if h.Crashed == nil {
		h.Crashed = func(Crash) {}
	}
	if h.Restarted == nil {
		h.Restarted = func(Restart) {}
	}
	if h.Quarantined == nil {
		h.Quarantined = func(Quarantine) {}
	}
	if h.BreakerOpen == nil {
		h.BreakerOpen = func(Break) {}
	}
	return h
}
