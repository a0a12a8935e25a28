package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/server"
)

// killCase is a backfill that is killed.
type killCase struct {
	kind          string
	bulk, service bool
}

// noNeighbors reports whether the case does without neighbours: each search looks at every point of the test's server, of which
// a run that writes the graph anew has many.
func (k killCase) noNeighbors() bool { return k.bulk && k.kind == inWire }

func (k killCase) String() string {
	text := k.kind + ", pages"
	if k.bulk {
		text = k.kind + ", bulk"
	}
	if k.service {
		return text + ", in the service"
	}
	return text + ", on the files"
}

// TestBackfillKills kills backfills at random points and resumes them, each time: the graph at the end is that of a run that nobody
// disturbed.
func TestBackfillKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	seed := proofSeed(t)
	t.Run("all", func(t *testing.T) {
		for i, k := range []killCase{
			{inFile, false, false}, {inFile, true, true}, {inWire, false, true}, {inWire, true, false},
			{inWire, false, false}, {inFile, true, false}, {inWire, true, true}, {inFile, false, true},
		} {
			if i >= 3 && !*backfillProof {
				break
			}
			t.Run(k.String(), func(t *testing.T) {
				t.Parallel()
				k.run(t, rand.New(rand.NewPCG(seed, uint64(i))))
			})
		}
	})
}

// run kills at moments that are spread over the run: the first soon after the start of the process, when there may be no checkpoint yet,
// the others a random time after a random share of the points is noted, and of a run that writes the graph anew the last
// after all are, while it is written.
func (k killCase) run(t *testing.T, rng *rand.Rand) {
	c := collection{users: 5, points: proving(9_000, 600), dim: 16, group: 8}
	rate := proving(1_500, 600) // so that a run lasts
	if k.bulk {
		c.points, rate = proving(20_000, 10_000), proving(3_000, 8_000)
	} else if k.kind == inWire {
		c.points, rate = proving(1_500, 600), proving(250, 600)
	}
	s := c.storeIn(t, k.kind)
	began := time.Now()
	whole := s.dataDir(t)
	undisturbed := startGroup(t, whole, s.env, "backfill", "--json", fmt.Sprint("--no-neighbors=", k.noNeighbors())).account(t)
	if r := undisturbed.Report; r.Bulk != k.bulk || r.Changed != int64(c.points) || (r.Written["semantic_neighbor"] == 0) != k.noNeighbors() {
		t.Fatalf("undisturbed: %+v: want bulk %v, %d facts, no neighbours %v", r, k.bulk, c.points, k.noNeighbors())
	}
	w := &killed{t: t, dir: s.dataDir(t), env: s.env, killCase: k}
	kills, late := proving(10, 3), 0
	if k.bulk {
		late = proving(3, 1)
	}
	var at []string
	resumed, done := 0, false
	for i := 0; i < kills && !done; i++ {
		w.begin(rate)
		switch {
		case i == 0:
			w.sleep(rng, 600*time.Millisecond)
		case i < kills-late:
			// Less than three quarters: of four pages, which the short form has, the last is not noted.
			w.reach(int64((float64(i-1) + rng.Float64()) / float64(kills-late-1) * 0.7 * float64(c.points)))
			w.sleep(rng, 150*time.Millisecond)
		default:
			w.reach(int64(c.points))
			w.sleep(rng, time.Duration(c.points)*50*time.Microsecond)
		}
		w.g.killGroup()
		cp, ok := readProofCheckpoint(w.dir)
		if ok {
			resumed++
		} else if done = i > 0; done && i < kills-late {
			t.Fatalf("kill %d came too late:\n%s%s", i, w.g.out, w.g.log)
		}
		at = append(at, fmt.Sprint(cp.Report.Scanned))
	}
	end := undisturbed
	if !done { // else the graph was written before the last kill
		end = w.finish()
	}
	got, want := fileDigest(t, w.dir), fileDigest(t, whole)
	verdict := "equal"
	if got != want {
		verdict = "DIFFERS"
		t.Errorf("digest %s, undisturbed %s\n%+v", got, want, end.Report)
	}
	if r := end.Report; r.Scanned != int64(c.points) || r.Changed+r.Unchanged != int64(c.points) || r.Resumed > resumed || r.Bulk != k.bulk || (r.Resumed == 0) != done {
		t.Errorf("%+v: want each of %d points counted once, resumed at most %d times, bulk %v", r, c.points, resumed, k.bulk)
	}
	proofSays("%-40s %d points, killed %d times, when so many points were noted: %v; digest %s, %d facts changed, %d as they were, %.1fs", k, c.points, len(at), at, verdict,
		end.Report.Changed, end.Report.Unchanged, time.Since(began).Seconds())
}

// killed is a backfill that is killed, of the command or in the service.
type killed struct {
	killCase
	t   *testing.T
	dir string
	env []string

	resumed int // how often the present run has been
	g       *grouped
	cl      *client
	begun   server.Backfill // of the service
}

// begin begins a backfill, or goes on where the checkpoint says.
func (w *killed) begin(rate int) {
	w.t.Helper()
	cp, resume := readProofCheckpoint(w.dir)
	w.resumed = cp.Report.Resumed
	if resume {
		w.resumed++
	}
	if !w.service {
		args := []string{"backfill", "--json", fmt.Sprint("--rate=", rate), fmt.Sprint("--no-neighbors=", w.noNeighbors())}
		if resume {
			args = append(args, "--resume")
		}
		w.g = startGroup(w.t, w.dir, w.env, args...)
		return
	}
	w.g, w.cl = serveGroup(w.t, w.dir, w.env...)
	w.begun = w.post(backfill.Request{Rate: rate, Resume: resume, NoNeighbors: w.noNeighbors()})
}

// post begins a backfill in the running service and returns what that says of it.
func (w *killed) post(req backfill.Request) (b server.Backfill) {
	w.t.Helper()
	if err := w.cl.call(context.Background(), http.MethodPost, "/v1/backfills", req, &b); err != nil {
		w.t.Fatalf("begin %+v: %v\n%s", req, err, w.g.log)
	}
	return b
}

// wait waits for a backfill of the running service to end.
func (w *killed) wait(b server.Backfill) server.Backfill {
	w.t.Helper()
	eventually(w.t, &w.g.process, func() bool {
		next := server.Backfill{}
		if err := w.cl.call(context.Background(), http.MethodGet, "/v1/backfills/"+b.Report.ID, nil, &next); err != nil {
			w.t.Fatal(err)
		}
		b = next
		return !b.Running
	})
	if b.Error != "" || !b.Report.Done {
		w.t.Fatalf("%+v\n%s", b, w.g.log)
	}
	return b
}

// finish goes on at full speed and to the end.
func (w *killed) finish() server.Backfill {
	w.t.Helper()
	w.begin(0)
	return w.end()
}

// end waits for the end of the run, and stops its service.
func (w *killed) end() server.Backfill {
	w.t.Helper()
	if !w.service {
		return w.g.account(w.t)
	}
	b := w.wait(w.begun)
	w.g.stopGroup(w.t)
	return b
}

func (w *killed) sleep(rng *rand.Rand, most time.Duration) {
	time.Sleep(time.Duration(rng.Int64N(int64(most)))) // the moment is what is random
}

// reach waits until the present run is at work and the checkpoint notes so many points.
func (w *killed) reach(points int64) {
	w.t.Helper()
	eventually(w.t, &w.g.process, func() bool {
		select {
		case <-w.g.ended:
			w.t.Fatalf("it ended before %d points were noted: %v\n%s%s", points, w.g.err, w.g.out, w.g.log)
		default:
		}
		cp, ok := readProofCheckpoint(w.dir)
		return ok && cp.Report.Resumed >= w.resumed && cp.Report.Scanned >= points
	})
}

// proofCheckpoint is what the proofs look at of a checkpoint.
type proofCheckpoint struct {
	Report struct {
		Scanned int64
		Resumed int
	}
}

func readProofCheckpoint(dir string) (cp proofCheckpoint, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, "backfills", "all.json"))
	return cp, err == nil && json.Unmarshal(data, &cp) == nil
}
