package kuzu

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// A measured build is go test -run BuildPhases -v -build-facts 200000.
var (
	buildFacts  = flag.Int("build-facts", 0, "facts of the build that is measured by phase; 0 measures none")
	buildSpaces = flag.Int("build-spaces", 901, "spaces of the build that is measured by phase")
	buildTimes  = flag.Int("build-times", 1, "how many times these facts come, each time in other spaces, in the build that is measured by phase")
	buildPool   = flag.Int64("build-pool", 0, "BufferPoolBytes of the build that is measured by phase; 0: the default")
)

func TestBuildPhases(t *testing.T) {
	if *buildFacts == 0 {
		t.Skip("no -build-facts")
	}
	all := graphstoretest.Graph(1, *buildSpaces, *buildFacts / *buildSpaces)
	path := filepath.Join(t.TempDir(), "graph")
	start := time.Now()
	var phase string
	began, beganCPU := start, cpuTime(t)
	next := func(name string) {
		now, cpu := time.Now(), cpuTime(t)
		if phase != "" {
			t.Logf("%-18s %6.2f s %6.2f s of cpu   peak memory of the process %s", phase, now.Sub(began).Seconds(),
				(cpu - beganCPU).Seconds(), peakMemory(t))
		}
		phase, began, beganCPU = name, now, cpu
	}
	cfg := BuildConfig{Config: Config{BufferPoolBytes: *buildPool}, phase: next}
	_, st, err := Build(t.Context(), path, cfg, repeated(all, *buildTimes))
	next("")
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start).Seconds()
	t.Logf("%d facts, %d edges, %d MiB in %.2f s: %.0f facts and edges/s", st.Facts, st.Edges, st.Bytes>>20, took,
		float64(st.Facts+st.Edges)/took)
	start = time.Now()
	s := mustOpen(t, path, Config{})
	t.Logf("open %.2f s", time.Since(start).Seconds())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// cpuTime returns what the process has had of the processors, which others may be using too.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory returns what the system says of this process.
func peakMemory(t testing.TB) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	return string(regexp.MustCompile(`VmHWM:\s*(.*)`).FindSubmatch(status)[1])
}

// BenchmarkBuild builds a graph of 20,000 facts with about five edges each. x-apply is how many times longer the same takes
// in transactions of 500 facts, with the records that belong to them.
func BenchmarkBuild(b *testing.B) {
	all := graphstoretest.Graph(1, 90, 222)
	start := time.Now()
	s := mustOpen(b, filepath.Join(b.TempDir(), "applied"), Config{})
	for piece := range slices.Chunk(all, 500*len(all)/20_000) {
		if err := s.Apply(b.Context(), piece); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	baseline := time.Since(start)
	var st graphstore.Stats
	for b.Loop() {
		b.StopTimer()
		path := filepath.Join(b.TempDir(), "built")
		b.StartTimer()
		var err error
		if _, st, err = Build(b.Context(), path, BuildConfig{}, recordsOf(all)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	perOp := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(st.Facts+st.Edges)/perOp.Seconds(), "facts+edges/s")
	b.ReportMetric(float64(baseline)/float64(perOp), "x-apply")
}

// repeated yields a slice again and again, each time in other spaces: a graph that would not fit memory.
func repeated(all []graphstore.Change, times int) func(func(graphstore.Change) error) error {
	return func(yield func(graphstore.Change) error) error {
		for i := range times {
			spaces := make(map[graphstore.Space]graphstore.Space)
			for _, c := range all {
				s, ok := spaces[c.Space]
				if !ok {
					var err error
					if s, err = graphstore.NewSpace(fmt.Sprint(c.Space, "-", i)); err != nil {
						return err
					}
					spaces[c.Space] = s
				}
				c.Space = s
				if err := yield(c); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// recordsOf yields a slice.
func recordsOf(all []graphstore.Change) func(func(graphstore.Change) error) error {
	return func(yield func(graphstore.Change) error) error {
		for _, c := range all {
			if err := yield(c); err != nil {
				return err
			}
		}
		return nil
	}
}
