package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// TestBackfillOutages stops the Qdrant in the middle of a backfill for a while, refuses scrolls half way, and has one never answered: the
// run waits, and ends in the graph of one that nothing happened to.
func TestBackfillOutages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	seed := proofSeed(t)
	for i, k := range []killCase{{inWire, false, false}, {inWire, true, false}, {inWire, false, true}} {
		if i > 0 && !*backfillProof {
			break
		}
		t.Run(k.String(), func(t *testing.T) { k.runThroughOutages(t, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
}

func (k killCase) runThroughOutages(t *testing.T, rng *rand.Rand) {
	c, rate := collection{users: 5, points: proving(2_000, 600), dim: 16, group: 8}, proving(300, 150)
	if k.bulk {
		c.points, rate = 12_000, 2_000
	}
	down := time.Duration(proving(5_000, 1_000)) * time.Millisecond
	s := c.storeIn(t, inWire)
	began := time.Now()
	whole := s.dataDir(t)
	want := (&killed{t: t, dir: whole, env: s.env, killCase: killCase{kind: k.kind, bulk: k.bulk}}).finish()
	w := &killed{t: t, dir: s.dataDir(t), env: append(s.env, "QDRANT_TIMEOUT=1s"), killCase: k}
	w.begin(rate)
	share := func(of float64) { w.reach(int64((of + 0.2*rng.Float64()) * float64(c.points))) }
	share(0.1)
	before := s.srv.Calls("Scroll")
	s.srv.Stop()
	time.Sleep(down)
	if err := s.srv.Restart(); err != nil {
		t.Fatal(err)
	}
	share(0.3)
	refused := 12 // more than the driver asks again by itself
	s.srv.Inject(wire.Fault{Method: "Scroll", Times: refused, Code: codes.Unavailable, Message: "half way"})
	share(0.45)
	s.srv.Inject(wire.Fault{Method: "Scroll", Times: 1, Drop: true})
	s.srv.Inject(wire.Fault{Method: "Scroll", Times: 1, Code: codes.Internal, Message: "Service internal error: shard is being recovered"})
	share(0.6)
	if got := s.srv.Calls("Scroll"); got < before+refused+2 {
		t.Errorf("%d scrolls after %d: want all faults met", got, before)
	}
	end := w.end()
	got, verdict := fileDigest(t, w.dir), "equal"
	if undisturbed := fileDigest(t, whole); got != undisturbed {
		verdict = "DIFFERS"
		t.Errorf("digest %s, undisturbed %s\n%+v", got, undisturbed, end.Report)
	}
	if r := end.Report; r.Scanned != int64(c.points) || r.Changed != int64(c.points) || r.Bulk != k.bulk || want.Report.Bulk != k.bulk {
		t.Errorf("%+v: want each of %d points counted once, bulk %v", r, c.points, k.bulk)
	}
	proofSays("%s, %d points, Qdrant stopped for %s in the middle, %d scrolls refused, one never answered, one broken: digest %s, %.1fs", k, c.points, down, refused, verdict, time.Since(began).Seconds())
}
