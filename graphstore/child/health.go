package child

import "time"

// Phase is what a [Store] is doing.
type Phase string

// The phases.
const (
	PhaseRunning    Phase = "running"    // calls are answered
	PhaseRestarting Phase = "restarting" // calls wait for the child
	PhaseBreaker    Phase = "breaker"    // calls return ErrBreakerOpen
	PhaseRefused    Phase = "refused"    // the graph must be left alone; calls return why; it is tried again
	PhaseClosed     Phase = "closed"
)

// Health is an account of a [Store] for readiness, metrics and people.
type Health struct {
	Phase       Phase
	Since       time.Time // of the phase
	PID         int       // of the child that answers; 0 when none does
	Restarts    int       // children that took over from another
	Crashes     int       // ends of children that should not have ended, and starts that failed
	Quarantines int       // graphs moved aside; each time the store began empty
	LastReason  string    // of the last crash or refusal; empty if there was none
	LastCrash   time.Time
	Until       time.Time // the end of the pause, in PhaseBreaker
}

// Health returns the store's account. It never waits.
func (s *Store) Health() Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.health
}

// phaseLocked begins a phase: which process takes calls, or the error that they get at once, or neither: they wait.
func (s *Store) phaseLocked(phase Phase, p *process, refusal error) {
	s.mu.process, s.mu.refusal = p, refusal
	h := &s.mu.health
	if h.Phase != phase {
		h.Phase, h.Since = phase, time.Now()
	}
	h.PID, h.Until = 0, time.Time{}
	if p != nil {
		h.PID = p.pid
	}
	close(s.mu.changed)
	s.mu.changed = make(chan struct{})
}
