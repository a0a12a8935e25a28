package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/projector"
)

// A soak sends many events through all of the product while it is disturbed, and compares the graph's file with the graph
// that the same events make without any of it. Without -soak a small one runs, so that it cannot rot.
var (
	soakCount   = flag.Int("soak", 0, "events of the soak, as make soak gives them; 0 runs a small one")
	soakSeed    = flag.Uint64("soak-seed", 1, "other events and faults")
	soakFaults  = flag.Bool("soak-faults", true, "disturb the soak")
	soakSpine   = flag.Bool("soak-spine", false, "with the temporal spine")
	soakKeep    = flag.String("soak-transactions", "", "file to keep the transactions of the soak in, for the package that has the driver")
	soakProfile = flag.String("soak-profile", "", "directory for profiles of processor time of both processes")
)

const smallSoak = 2000

func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	n := *soakCount
	if n == 0 {
		n = smallSoak
	}
	r := soakReport{events: n, seed: *soakSeed}
	file := writeSoakFile(t, *soakSeed, n)
	s := newSoakPath(t, file, *soakSeed, *soakFaults)
	s.e.cfg.Project.TemporalSpine = *soakSpine
	began := time.Now()
	s.sent = file.publishAll(t, s.js, s.faults)
	r.publish = time.Since(began)

	every := 0
	if *soakFaults {
		every = 20 // one commit in twenty fails
		if s.small {
			every = 6
		}
	}
	t.Setenv(soakLogEnv, s.childLog())
	t.Setenv(soakFaultsEnv, fmt.Sprint(every))
	endProfile := profileSoak(t)
	self, children := cpuOf(t, syscall.RUSAGE_SELF), cpuOf(t, syscall.RUSAGE_CHILDREN)
	r.took = s.run()
	r.self = cpuOf(t, syscall.RUSAGE_SELF) - self
	endProfile()
	if !s.small {
		s.settle()
	}
	s.end(false)
	r.children = cpuOf(t, syscall.RUSAGE_CHILDREN) - children
	r.dead = s.deadLetters()
	s.close()
	r.path = s

	cfg := projector.Config{TemporalSpine: *soakSpine}
	want := file.expected(t, cfg, *soakSeed)
	r.verdict = judge(t, s.graph(), want)
	var batches []int
	for _, b := range s.seen.batches {
		batches = append(batches, b.Events-b.Unchanged)
	}
	replay := file.replay(t, cfg, batches)
	replayed := digestOfViews(replay.views)
	replay.views = nil
	r.replay = replay
	r.keep(t)
	self = cpuOf(t, syscall.RUSAGE_SELF)
	raw := replay.writeRaw(t)
	r.raw = cpuOf(t, syscall.RUSAGE_SELF) - self
	expected, model := digestOfViews(want), file.modelled(t, *soakSpine)
	if r.model = "equal"; model != expected {
		r.model = "DIFFERS"
	}
	r.print(t)

	if model != expected || r.verdict.digest != expected || replayed != expected || raw != expected {
		t.Errorf("digests: file %s, replay in order %s, raw %s, naive model %s: want %s", r.verdict.digest, replayed, raw, model, expected)
	}
	if r.verdict.lost != 0 || r.verdict.wrong != 0 {
		t.Errorf("%d records lost, %d wrong, the first: %s", r.verdict.lost, r.verdict.wrong, r.verdict.first)
	}
	if r.dead != s.sent.bad {
		t.Errorf("%d events among the dead letters: want the %d bad ones", r.dead, s.sent.bad)
	}
	if s.faults && (s.lossy.lost.Load() == 0 || s.seen.failed == 0 || s.seen.returned == 0 || s.seen.kills == 0) {
		t.Errorf("%d acknowledgements lost, %d commits failed, %d messages given back, %d kills: want some of each", s.lossy.lost.Load(),
			s.seen.failed, s.seen.returned, s.seen.kills)
	}
}

// profileSoak profiles this process until the returned function is called, and has the store's processes profile themselves.
func profileSoak(t *testing.T) (end func()) {
	t.Helper()
	if *soakProfile == "" {
		return func() {}
	}
	t.Setenv(soakProfileEnv, filepath.Join(*soakProfile, "child.prof"))
	f, err := os.Create(filepath.Join(*soakProfile, "parent.prof"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		t.Fatal(err)
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// cpuOf returns the processor time that this process, or all its children that have ended, have taken.
func cpuOf(t *testing.T, who int) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// soakReport is what a run has shown.
type soakReport struct {
	events  int
	seed    uint64
	publish time.Duration
	took    time.Duration
	dead    int

	self, children, raw time.Duration // of processors

	path    *soakPath
	replay  *soakReplay
	verdict soakVerdict
	model   string
}

// keep writes the transactions, and beside them what the path took for them.
func (r *soakReport) keep(t *testing.T) {
	t.Helper()
	if *soakKeep == "" {
		return
	}
	f, err := os.Create(*soakKeep)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(f)
	w := graphstoretest.NewTransactionWriter(out)
	for _, changes := range r.replay.transactions {
		if err := w.Write(changes); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Flush(), f.Close(), os.WriteFile(*soakKeep+".took", fmt.Appendln(nil, r.events, r.took.Nanoseconds()), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func (r *soakReport) print(t *testing.T) {
	t.Helper()
	s, rep := r.path, r.replay
	say := func(format string, args ...any) { fmt.Printf("soak: "+format+"\n", args...) }
	bytes := r.path.file.starts[r.events]
	say("%d events of %d bytes on average, %d facts, %d users, seed %d; load %s", r.events, bytes/int64(r.events), rep.facts,
		len(newSoakEvents(1, r.events).users), r.seed, loadNow())
	say("published at %.0f events/s", float64(r.events)/r.publish.Seconds())
	say("faults: %d repeats of a message id, %d copies under a new one, %d bad events, %d acknowledgements lost, %d commits failed; %s", s.sent.repeats,
		s.sent.copies, s.sent.bad, s.lossy.lost.Load(), s.seen.failed, s.describe())
	say("deliveries: %d, %d of them again, %d given back, %d events that changed nothing, %d dead letters", s.seen.deliveries, s.seen.again, s.seen.returned,
		s.seen.unchanged, r.dead)
	say("graph: %d records, %d lost, %d wrong; digest of the naive model: %s", r.verdict.records, r.verdict.lost, r.verdict.wrong, r.model)
	rate, raw := float64(r.events)/r.took.Seconds(), float64(r.events)/rep.raw.Seconds()
	say("path: %.0f events/s, %.0f facts/s, in %s", rate, float64(rep.facts)/r.took.Seconds(), r.took.Round(time.Millisecond))
	say("raw:  %.0f events/s, the same %d transactions by the driver alone in %s", raw, len(rep.transactions), rep.raw.Round(time.Millisecond))
	say("ratio to raw: %.2f (wanted: 0.70)", rate/raw)
	r.split(say)
	if out := outagesOf(s.seen.outages, readSoakCommits(s.t, s.childLog())); len(out) > 0 {
		up := r.took - sum(out)
		say("after a kill or a restart the next commit began after %s, at most %s, %s in all; without these times %.0f events/s, ratio to raw %.2f",
			at(out, .5), at(out, 1), sum(out).Round(time.Millisecond), float64(r.events)/up.Seconds(), rep.raw.Seconds()/up.Seconds())
	}
	say("memory: this process with NATS at most %d MiB resident, the store's process %d MiB", s.seen.parent>>20, s.seen.child>>20)
}

// split says where the time went.
func (r *soakReport) split(say func(string, ...any)) {
	s, rep := r.path, r.replay
	var inBatches, inCommits time.Duration
	var sizes []int
	for _, b := range s.seen.batches {
		inBatches += b.Took
		sizes = append(sizes, b.Events)
	}
	var times []time.Duration
	for _, c := range readSoakCommits(s.t, s.childLog()) {
		inCommits += c.Took
		times = append(times, c.Took)
	}
	each := func(d time.Duration) string {
		return fmt.Sprintf("%.0f us", float64(d.Microseconds())/float64(r.events))
	}
	say("per event in the path: %s, of which planning and committing %s, of which the store's commits %s", each(r.took), each(inBatches), each(inCommits))
	say("per event in one goroutine: decode %s, plan %s, coalesce %s, snapshot %s; raw commit %s", each(rep.decode), each(rep.plan), each(rep.coalesce),
		each(rep.snapshot), each(rep.raw))
	say("processor time per event: this process with NATS %s, the store's processes %s, raw %s", each(r.self), each(r.children), each(r.raw))
	slices.Sort(sizes)
	say("%d commits of %d to %d events, half of them at most %d; p50 %s, p99 %s in the store, raw p50 %s, p99 %s", len(sizes), sizes[0], sizes[len(sizes)-1],
		sizes[len(sizes)/2], at(times, .5), at(times, .99), at(rep.commits, .5), at(rep.commits, .99))
}

// outagesOf returns how long it took from each moment to the next commit.
func outagesOf(from []time.Time, commits []soakCommit) (out []time.Duration) {
	for _, start := range from {
		next := slices.IndexFunc(commits, func(c soakCommit) bool { return c.At.After(start) })
		if next >= 0 {
			out = append(out, commits[next].At.Sub(start))
		}
	}
	return out
}

func sum(times []time.Duration) (total time.Duration) {
	for _, d := range times {
		total += d
	}
	return total
}

func at(times []time.Duration, share float64) time.Duration {
	times = slices.Sorted(slices.Values(times))
	if len(times) == 0 {
		return 0
	}
	return times[int(share*float64(len(times)-1))].Round(100 * time.Microsecond)
}

func loadNow() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}
