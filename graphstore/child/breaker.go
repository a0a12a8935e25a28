package child

import "time"

// breaker counts the ends of children in a sliding window.
type breaker struct {
	limit   int
	window  time.Duration
	crashes []time.Time
}

// add counts one end and reports whether there are now too many. The count goes on after a pause: one more end within the
// window is too many again.
func (b *breaker) add(at time.Time) (open bool) {
	first := 0
	for first < len(b.crashes) && at.Sub(b.crashes[first]) >= b.window {
		first++
	}
	b.crashes = append(b.crashes[first:], at)
	if len(b.crashes) < b.limit {
		return false
	}
	b.crashes = b.crashes[len(b.crashes)-b.limit+1:]
	return true
}
