package child

import (
	"sync"
	"time"
)

// patience decides when a call has gone unanswered for too long. The time of calls that may take long does not count:
// others wait behind them.
type patience struct {
	mu struct {
		sync.Mutex
		suspended int       // long calls in flight
		since     time.Time // the last of them ended
	}
}

// suspend begins a long call; the function returned ends it.
func (p *patience) suspend() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.suspended++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.mu.suspended--
		p.mu.since = time.Now()
	}
}

// left returns how much of the limit a call has left that began at a time.
func (p *patience) left(limit time.Duration, began time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.suspended > 0 {
		return limit
	}
	if p.mu.since.After(began) {
		began = p.mu.since
	}
	return limit - time.Since(began)
}

// vigil watches one call.
type vigil struct {
	mu struct {
		sync.Mutex
		timer *time.Timer
		over  bool
	}
}

// watch calls hung when a call that begins now has used up the limit, unless its end comes first.
func (p *patience) watch(limit time.Duration, hung func()) *vigil {
	v, began := &vigil{}, time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.timer = time.AfterFunc(limit, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.mu.over {
			return
		}
		if left := p.left(limit, began); left > 0 {
			v.mu.timer.Reset(left)
			return
		}
		hung()
	})
	return v
}

// end ends the watch.
func (v *vigil) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mu.over = true
	v.mu.timer.Stop()
}
