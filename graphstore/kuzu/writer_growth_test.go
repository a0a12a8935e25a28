package kuzu

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// A measured run is go test ./graphstore/kuzu -run TestWriterGrowth -growth -growth-seconds 60 -v.
var (
	growth        = flag.Bool("growth", false, "measure how fast new facts are written to graphs of growing size")
	growthSeconds = flag.Int("growth-seconds", 60, "how long each row of the growth table is measured")
	growthFacts   = flag.String("growth-facts", "20000,200000", "facts stored before, for each row")
	growthBatches = flag.String("growth-batches", "500", "facts per transaction, for each row")
	growthCounts  = flag.Bool("growth-counters", true, "also update the counters of the entities and topics that new facts name")
)

const factsPerGrowthSpace = 222 // so that 200,000 facts are those of 901 users

// TestWriterGrowth prints how fast one writer commits new facts with three edges each, checkpoints included, by the size of
// the graph that is there. The facts are those of 901 users, interleaved.
func TestWriterGrowth(t *testing.T) {
	if !*growth {
		t.Skip("no -growth")
	}
	fmt.Println("load before:", loadAverage(), " counters:", *growthCounts)
	fmt.Println("facts stored | edges | file MB | facts/tx | facts/s | cpu us/fact | commit p50 ms | p99 | max | checkpoints | mean ms | x memory")
	for _, stored := range numbersOf(t, *growthFacts) {
		path := filepath.Join(t.TempDir(), "graph")
		head := buildGrowth(t, path, stored)
		for _, size := range numbersOf(t, *growthBatches) {
			r := measureGrowth(t, path, head, size)
			fmt.Println(r)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println("load after:", loadAverage())
}

func numbersOf(t *testing.T, list string) (out []int) {
	t.Helper()
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%q: want positive numbers with commas between", list)
		}
		out = append(out, n)
	}
	return out
}

func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}

// growthWriter makes transactions of new facts for spaces that are there.
type growthWriter struct {
	rng    *rand.Rand
	spaces []*growthSpace
	nodes  []graphstore.Change // all of those spaces
	next   int
}

type growthSpace struct {
	space    graphstore.Space
	facts    []string
	entities []graphstore.Entity
	topics   []graphstore.Topic
}

// buildGrowth makes a graph of this many facts, space by space, and returns what the writer needs of it.
func buildGrowth(t *testing.T, path string, facts int) *growthWriter {
	t.Helper()
	w := &growthWriter{rng: rand.New(rand.NewPCG(1, 1))}
	records := func(yield func(graphstore.Change) error) error {
		for i := range max(facts/factsPerGrowthSpace, 1) {
			gs := &growthSpace{space: graphstoretest.SpaceName(i)}
			kept := i <= 900
			if kept {
				w.spaces = append(w.spaces, gs)
			}
			for _, c := range graphstoretest.Graph(uint64(i), 1, factsPerGrowthSpace) {
				c.Space = gs.space
				if err := yield(c); err != nil {
					return err
				}
				if kept && c.Edge == nil {
					w.keep(gs, c)
				}
			}
		}
		return nil
	}
	if _, _, err := Build(t.Context(), path, BuildConfig{}, records); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *growthWriter) keep(gs *growthSpace, c graphstore.Change) {
	w.nodes = append(w.nodes, c)
	switch {
	case c.Fact != nil:
		gs.facts = append(gs.facts, c.Fact.ID)
	case c.Entity != nil:
		gs.entities = append(gs.entities, *c.Entity)
	default:
		gs.topics = append(gs.topics, *c.Topic)
	}
}

// transaction returns new facts of random spaces, each with an edge to an entity, a topic and a fact that are there.
func (w *growthWriter) transaction(facts int) (changes []graphstore.Change) {
	counters := make(map[string]graphstore.Change)
	for range facts {
		gs := w.spaces[w.rng.IntN(len(w.spaces))]
		w.next++
		id := fmt.Sprintf("5a0a5a7e-0000-4000-8000-%012d", w.next)
		by := graphstore.Asserter{Kind: graphstore.ByFact, ID: id}
		f := graphstore.Fact{ID: id, State: graphstore.StateActive, AgentID: "agent", SourceID: fmt.Sprintf("message-%09d", w.next),
			MemoryAt: graphstore.Instant(1_767_225_600_000_000 + w.next), RecordedAt: graphstore.Instant(1_767_225_600_000_000 + w.next)}
		f.Registers.Base = graphstore.Stamp{Version: int64(w.next), Rank: graphstore.RankAdd, EventID: id, At: f.RecordedAt, Source: f.SourceID}
		f.Registers.State = f.Registers.Base
		entity, topic := w.rng.IntN(len(gs.entities)), w.rng.IntN(len(gs.topics))
		changes = append(changes, graphstore.PutFact(gs.space, f),
			graphstore.PutEdge(gs.space, graphstore.Edge{Source: id, Target: gs.entities[entity].ID, Type: graphstore.Mentions, Asserter: by, Weight: 1}),
			graphstore.PutEdge(gs.space, graphstore.Edge{Source: id, Target: gs.topics[topic].ID, Type: graphstore.TaggedWith, Asserter: by, Weight: 1}),
			graphstore.PutEdge(gs.space, graphstore.Edge{Source: id, Target: gs.facts[w.rng.IntN(len(gs.facts))], Type: graphstore.Elaborates,
				Asserter: by, Weight: 0.5}))
		if *growthCounts {
			gs.entities[entity].Mentions++
			gs.topics[topic].Facts++
			counters[fmt.Sprint(gs.space, "e", entity)] = graphstore.PutEntity(gs.space, gs.entities[entity])
			counters[fmt.Sprint(gs.space, "t", topic)] = graphstore.PutTopic(gs.space, gs.topics[topic])
		}
	}
	for _, c := range counters {
		changes = append(changes, c)
	}
	return changes
}

// growthRow is one row of the table.
type growthRow struct {
	before, after graphstore.Stats
	size, written int
	took, cpu     time.Duration
	memory        time.Duration
	commits       []time.Duration
	checkpoints   []time.Duration
}

func measureGrowth(t *testing.T, path string, w *growthWriter, size int) (r growthRow) {
	t.Helper()
	cfg := Config{}
	cfg.hooks.checkpoint = func(d time.Duration) { r.checkpoints = append(r.checkpoints, d) }
	s := mustOpen(t, path, cfg)
	defer s.Close()
	model := graphstoretest.NewMemory()
	if err := model.Apply(t.Context(), w.nodes); err != nil {
		t.Fatal(err)
	}
	r.size, r.before = size, s.index.stats()
	r.before.Bytes = fileSize(path)
	for r.took < time.Duration(*growthSeconds)*time.Second {
		tx := w.transaction(size)
		start, cpu := time.Now(), cpuTime(t)
		if err := s.Apply(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		onWriter(t, s, func() {}) // with the checkpoint that may follow
		d := time.Since(start)
		r.cpu += cpuTime(t) - cpu
		r.took += d
		r.commits = append(r.commits, d)
		r.written += size
		start = time.Now()
		if err := model.Apply(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		r.memory += time.Since(start)
	}
	r.after = s.index.stats()
	if want := r.before.Edges + 3*r.written; r.after.Edges != want {
		t.Errorf("%d edges, want %d", r.after.Edges, want)
	}
	r.after.Bytes = fileSize(path)
	return r
}

func (r growthRow) String() string {
	slices.Sort(r.commits)
	at := func(share float64) float64 { return ms(r.commits[int(share*float64(len(r.commits)-1))]) }
	var sum time.Duration
	for _, d := range r.checkpoints {
		sum += d
	}
	return fmt.Sprintf("%9d | %9d | %d to %d | %5d | %6.0f | %4.0f | %6.1f | %6.1f | %6.1f | %3d | %5.0f | %.0f", r.before.Facts, r.before.Edges,
		r.before.Bytes>>20, r.after.Bytes>>20, r.size, float64(r.written)/r.took.Seconds(), float64(r.cpu.Microseconds())/float64(r.written),
		at(0.5), at(0.99), at(1), len(r.checkpoints), ms(sum)/float64(max(len(r.checkpoints), 1)), float64(r.took)/float64(r.memory))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
