package server

import (
	"sync"
	"time"
)

// windowSlots is how finely the window moves on.
const windowSlots = 30

// errorWindow counts events and failures of the latest while, in slots that are used in turn.
type errorWindow struct {
	slot time.Duration // of one slot
	now  func() time.Time
	mu   struct {
		sync.Mutex
		slots [windowSlots]windowSlot
	}
}

type windowSlot struct {
	number      int64 // slots since the epoch; another one means that the slot's counts are old
	all, failed int
}

func newErrorWindow(size time.Duration, now func() time.Time) *errorWindow {
	return &errorWindow{slot: size / windowSlots, now: now}
}

func (w *errorWindow) add(failed bool) {
	number := w.now().UnixNano() / int64(w.slot)
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.mu.slots[number%windowSlots]
	if s.number != number {
		*s = windowSlot{number: number}
	}
	s.all++
	if failed {
		s.failed++
	}
}

// share returns the share of failures and the number of events, of the slots that are not older than the window.
func (w *errorWindow) share() (share float64, events int) {
	number := w.now().UnixNano() / int64(w.slot)
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := 0
	for _, s := range w.mu.slots {
		if s.number > number-windowSlots {
			events += s.all
			failed += s.failed
		}
	}
	if events == 0 {
		return 0, 0
	}
	return float64(failed) / float64(events), events
}
