package backfill

import (
	"testing"
	"time"
)

func TestTurnSize(t *testing.T) {
	s := newTurnSize(DefaultTurnTarget)
	for _, c := range []struct {
		facts int
		took  time.Duration
		want  int
	}{
		{256, 100 * time.Millisecond, 512}, // full, and within half of the target
		{100, 10 * time.Millisecond, 512},  // says nothing of a full one
		{512, 400 * time.Millisecond, 512}, // between half of the target and the target
		{512, time.Second, 256},
		{80, time.Second, 40}, // half of what took so long
		{40, time.Minute, 32}, // the least
		{32, time.Minute, 32},
	} {
		if s.took(c.facts, c.took); s.most != c.want {
			t.Errorf("after %d facts in %v: %d, want %d", c.facts, c.took, s.most, c.want)
		}
	}
}
