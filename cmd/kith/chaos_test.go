package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// The chaos tests break a running service in every way that its store can be broken, and look whether anything was lost and
// whether searches went on. Without -chaos they run in a short form, so that they cannot rot.
var (
	chaosFull = flag.Bool("chaos", false, "run the chaos tests at full length, as make chaos does")
	chaosSeed = flag.Uint64("chaos-seed", 0, "repeat the chaos of an earlier run; 0 takes a new seed")
)

// outcome is what became of one kind of fault.
type outcome struct {
	injected, survived int
	lost               int  // records of the expected graph that are not there at the end
	equal              bool // the digest is that of the expected graph
	effects            int  // faults of which an effect was seen: without one nothing was tried
	failedSearches     int
	searches, ranked   int
	note               string
}

// chaosCase is one kind of fault.
type chaosCase struct {
	name string
	run  func(t *testing.T, rng *rand.Rand) outcome
}

// full returns the number of rounds at full length, or of the short form.
func full(atFull, short int) int {
	if *chaosFull {
		return atFull
	}
	return short
}

func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("chaos takes its time")
	}
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	fmt.Printf("chaos: seed %d (repeat with -chaos-seed)\n", seed)
	start := time.Now()
	t.Run("faults", func(t *testing.T) { // as many at a time as there are processors: most of it is waiting
		for i, c := range chaosCases() {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				o := c.run(t, rand.New(rand.NewPCG(seed, uint64(i))))
				o.print(c.name, time.Since(began))
				if o.survived != o.injected || o.lost != 0 || !o.equal || o.failedSearches != 0 || o.effects == 0 || o.searches == 0 {
					t.Errorf("%s: %+v", c.name, o)
				}
			})
		}
	})
	fmt.Printf("chaos: %d kinds of fault in %s\n", len(chaosCases()), time.Since(start).Round(time.Second))
}

func (o outcome) print(name string, took time.Duration) {
	digest := "equal"
	if !o.equal {
		digest = "DIFFERS"
	}
	fmt.Printf("chaos: %-46s injected %3d (%d seen to bite)  survived %3d  lost %d  digest %s  searches %5d (%d failed, %d ranked)  %5.1fs  %s\n",
		name, o.injected, o.effects, o.survived, o.lost, digest, o.searches, o.failedSearches, o.ranked, took.Seconds(), o.note)
}

func chaosCases() []chaosCase {
	return []chaosCase{
		{"kill -9 of the store's process or the service", chaosKills},
		{"store's process dies too often and has to rest", chaosBreaker},
		{"log of the store cut short", chaosTornLog},
		{"log cut short under the running service", chaosTornLogHot},
		{"bytes flipped in a closed file or log", chaosFlippedCold},
		{"bytes flipped under the running service", chaosFlippedHot},
		{"file deleted under the running service", chaosDeletedFile},
		{"directory deleted under the running service", chaosDeletedDirectory},
		{"foreign file in the place of the graph", chaosForeignFile},
		{"disk full during commits and checkpoints", chaosFullDisk},
		{"directory read-only at start", chaosReadOnly},
		{"users evicted and read again in rotation", chaosEviction},
		{"store's process hangs (SIGSTOP)", chaosHang},
	}
}
