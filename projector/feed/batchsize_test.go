package feed

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBatchSize(t *testing.T) {
	const target = 250 * time.Millisecond
	for name, c := range map[string]struct {
		now  int
		full bool
		took time.Duration
		err  error
		want int
	}{
		"full and fast doubles":                         {256, true, 20 * time.Millisecond, nil, 512},
		"full, just so fast that twice is within":       {256, true, 125 * time.Millisecond, nil, 512},
		"full, and twice might not be within":           {256, true, 126 * time.Millisecond, nil, 256},
		"full, at the target":                           {256, true, 250 * time.Millisecond, nil, 256},
		"slower than the target halves":                 {256, true, 251 * time.Millisecond, nil, 128},
		"slower than the target halves, full or not":    {256, false, time.Second, nil, 128},
		"not full: there is no backlog to grow for":     {256, false, time.Millisecond, nil, 256},
		"a failure halves":                              {256, true, time.Millisecond, errors.New("out of memory"), 128},
		"no more than the most":                         {1500, true, time.Millisecond, nil, 2048},
		"no less than the least":                        {50, true, time.Second, nil, 32},
		"at the least it stays":                         {32, true, time.Second, nil, 32},
		"at the most it stays":                          {2048, true, time.Millisecond, nil, 2048},
		"an outage at the least leaves it at the least": {32, true, time.Second, errors.New("down"), 32},
	} {
		b := newBatchSize(2048, target)
		b.now = c.now
		if b.committed(c.full, c.took, c.err); b.now != c.want {
			t.Errorf("%s: %d, want %d", name, b.now, c.want)
		}
	}
}

func TestBatchSizeOfFewMessages(t *testing.T) {
	for most, want := range map[int][2]int{1: {1, 1}, 20: {20, 20}, 32: {32, 32}, 100: {100, 32}, 2048: {256, 32}} { // at first, and at the least
		b := newBatchSize(most, time.Second)
		first := b.now
		for range 20 {
			b.committed(true, time.Minute, nil)
		}
		if got := [2]int{first, b.now}; got != want {
			t.Errorf("at most %d: begins with %d and shrinks to %d, want %v", most, got[0], got[1], want)
		}
	}
}

// TestBatchSizeConverges lets a store take a fixed time and one for each event, as long as there is a backlog.
func TestBatchSizeConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 10_000).Draw(t, "most")
		target := time.Duration(rapid.IntRange(1, 1000).Draw(t, "target ms")) * time.Millisecond
		fixed := time.Duration(rapid.IntRange(0, 500_000).Draw(t, "fixed us")) * time.Microsecond
		each := time.Duration(rapid.IntRange(0, 20_000).Draw(t, "each us")) * time.Microsecond
		cost := func(n int) time.Duration { return fixed + time.Duration(n)*each }

		b := newBatchSize(most, target)
		for range rapid.IntRange(0, 50).Draw(t, "troubled") { // whatever was before
			var err error
			if rapid.Bool().Draw(t, "fails") {
				err = errors.New("down")
			}
			b.committed(rapid.Bool().Draw(t, "full"), time.Duration(rapid.IntRange(0, 2000).Draw(t, "took ms"))*time.Millisecond, err)
			if b.now < min(MinBatchSize, most) || b.now > most {
				t.Fatalf("size %d: want %d to %d", b.now, min(MinBatchSize, most), most)
			}
		}
		for range 9 { // 32 to 10,000 is less than nine doublings
			b.committed(true, cost(b.now), nil)
		}
		settled := b.now
		b.committed(true, cost(b.now), nil)
		switch {
		case b.now != settled:
			t.Fatalf("size goes on from %d to %d", settled, b.now)
		case b.now > min(MinBatchSize, most) && cost(b.now) > target:
			t.Fatalf("commits of %d take %s, more than the target of %s", b.now, cost(b.now), target)
		case b.now < most && cost(b.now) <= target/2:
			t.Fatalf("commits of %d take %s, and the target is %s: want larger ones", b.now, cost(b.now), target)
		}
	})
}
