package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/sourcegraph/conc"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/natsserver"
	"github.com/kithgraph/kith/projector/feed"
)

// soakPath is the way of events through the product: an embedded NATS server, the feed, the projector, the live graph,
// the store's process and its file, put together as kith serve does it.
type soakPath struct {
	t      *testing.T
	e      *env
	rng    *rand.Rand
	file   *soakFile
	sent   *published
	nats   *natsserver.Server
	lossy  *lossyServer
	direct *nats.Conn // loses nothing
	js     jetstream.JetStream
	faults bool
	small  bool // a short run, without the time that the server waits for acknowledgements that do not come

	host *soakHost
	seen soakSeen
}

// soakSeen is what was seen of a run.
type soakSeen struct {
	sync.Mutex
	batches     []feed.BatchStats // committed
	failed      int               // batches
	deliveries  int
	again       int // deliveries of what had been delivered before
	returned    int // given back
	unchanged   int // events that changed nothing
	dead        map[uint64]bool
	kills       int // of the store's process
	cuts, stops int // of everything else
	deleted     int // consumers
	outages     []time.Time
	killed      time.Time // the latest kill
	parent      int64
	child       int64 // most resident bytes
}

// soakHost is one life of what kith serve runs for the graph.
type soakHost struct {
	*graphHost
	conn *nats.Conn
	stop context.CancelFunc
	done chan struct{}
}

func newSoakPath(t *testing.T, file *soakFile, seed uint64, faults bool) *soakPath {
	t.Helper()
	s := &soakPath{t: t, file: file, rng: rand.New(rand.NewPCG(seed, 2)), faults: faults, small: file.events() < 5_000}
	s.seen.dead = map[uint64]bool{}
	var defaults struct{ config.Config }
	parser, err := kong.New(&defaults)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"--data-dir", t.TempDir(), "--log-level=error"}); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	s.e = &env{ctx: t.Context(), cfg: defaults.Config, log: log, stderr: io.Discard}
	if s.nats, err = natsserver.Start(natsserver.Config{Dir: natsDir(s.e.cfg), Logger: log}); err != nil {
		t.Fatal(err)
	}
	s.lossy = &lossyServer{InProcessConnProvider: s.nats}
	if faults {
		s.lossy.every = 100
	}
	s.direct, s.js = s.connect(s.nats)
	return s
}

func (s *soakPath) connect(to nats.InProcessConnProvider) (*nats.Conn, jetstream.JetStream) {
	s.t.Helper()
	cfg := s.e.connectConfig("kith serve")
	cfg.InProcess = to
	conn, err := feed.Connect(s.t.Context(), "", cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		s.t.Fatal(err)
	}
	return conn, js
}

func (s *soakPath) close() {
	s.direct.Close()
	if err := s.nats.Shutdown(); err != nil {
		s.t.Error(err)
	}
}

// start begins a life of the graph.
func (s *soakPath) start() {
	s.t.Helper()
	host, err := s.e.newGraphHost(true, true)
	if err != nil {
		s.t.Fatal(err)
	}
	host.hooks = s.hooks()
	h := &soakHost{graphHost: host, done: make(chan struct{})}
	var js jetstream.JetStream
	h.conn, js = s.connect(s.lossy)
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go func() {
		defer close(h.done)
		host.run(ctx, js)
	}()
	s.seen.Lock()
	s.host = h
	s.seen.Unlock()
	<-host.fed
}

func (s *soakPath) killedWithin(d time.Duration) bool { return time.Since(s.seen.killed) < d }

// end is the end of a life: in order, or after the connection broke in the middle of whatever is going on.
func (s *soakPath) end(cut bool) {
	s.t.Helper()
	if cut {
		s.host.conn.Close()
		s.lossy.cut()
	}
	s.host.stop()
	<-s.host.done
	if err := s.host.close(); err != nil {
		// A store that was killed a moment ago may be so while it is closed, and says that it was.
		if !s.killedWithin(10 * time.Second) {
			s.t.Error(err)
		}
		s.t.Log(err)
	}
	s.host.conn.Close()
}

func (s *soakPath) status() feed.Status { return s.host.feed.Load().Status() }

func (s *soakPath) hooks() feed.Hooks {
	return feed.Hooks{
		Batch: func(b feed.BatchStats) {
			s.seen.Lock()
			defer s.seen.Unlock()
			switch {
			case b.Err != nil:
				s.seen.failed++
			case b.Changes > 0:
				s.seen.batches = append(s.seen.batches, b)
			}
			if b.Err == nil {
				s.seen.unchanged += b.Unchanged
			}
		},
		Message: func(m feed.MessageStats) {
			s.seen.Lock()
			defer s.seen.Unlock()
			s.seen.deliveries++
			if m.Deliveries > 1 {
				s.seen.again++
			}
			if m.Outcome == feed.Returned {
				s.seen.returned++
			}
		},
		Dead: func(d feed.DeadLetter) {
			s.seen.Lock()
			defer s.seen.Unlock()
			s.seen.dead[d.Sequence] = true
		},
	}
}

// trouble is something that goes wrong when a share of the events has been taken.
type trouble struct {
	at  float64
	now func(*soakPath)
}

func (s *soakPath) troubles() []trouble {
	kill := func(s *soakPath) {
		if h, ok := s.host.file.health(); ok && h.PID > 0 && syscall.Kill(h.PID, syscall.SIGKILL) == nil {
			s.seen.kills++
			s.seen.killed = time.Now()
			s.seen.outages = append(s.seen.outages, s.seen.killed)
		}
	}
	again := func(s *soakPath, cut bool) {
		s.seen.outages = append(s.seen.outages, time.Now())
		s.end(cut)
		s.start()
	}
	cut := func(s *soakPath) { again(s, true); s.seen.cuts++ }
	stop := func(s *soakPath) { again(s, false); s.seen.stops++ }
	forget := func(s *soakPath) {
		if err := s.js.DeleteConsumer(s.t.Context(), feed.EventStream, feed.Durable); err != nil {
			s.t.Error(err)
		}
		s.seen.deleted++
	}
	list := []trouble{{.1, forget}, {.25, kill}, {.4, cut}, {.55, kill}, {.7, stop}, {.85, kill}}
	if s.small {
		list = []trouble{{.1, forget}, {.4, kill}, {.7, stop}}
	}
	copies := s.file.events() / 100 / len(list)
	for i := range list {
		now := list[i].now
		list[i].now = func(s *soakPath) {
			s.file.publishCopies(s.t, s.js, s.rng, copies)
			s.sent.copies += copies
			now(s)
		}
	}
	if !s.faults {
		return nil
	}
	return list
}

// run takes the events from the stream until the last one is in the graph, and returns how long that took.
func (s *soakPath) run() time.Duration {
	s.t.Helper()
	ctx, end := context.WithCancel(s.t.Context())
	var beside conc.WaitGroup
	defer beside.Wait()
	defer end()
	beside.Go(func() { s.sample(ctx) })
	start := time.Now()
	s.start()
	for _, tr := range s.troubles() {
		s.await(uint64(tr.at * float64(s.file.events())))
		s.t.Logf("%s: at %.2f of the events", time.Since(start).Round(time.Millisecond), tr.at)
		tr.now(s)
	}
	stream, err := s.js.Stream(s.t.Context(), feed.EventStream)
	if err != nil {
		s.t.Fatal(err)
	}
	s.await(stream.CachedInfo().State.LastSeq)
	return time.Since(start)
}

// await waits until the events up to a sequence are in the graph or among the dead letters.
func (s *soakPath) await(seq uint64) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Hour)
	defer cancel()
	if err := s.host.feed.Load().WaitApplied(ctx, seq); err != nil {
		s.t.Fatalf("event %d of the stream: %v; %+v", seq, err, s.status())
	}
}

// settle waits until the server has an answer for every message.
func (s *soakPath) settle() {
	s.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		consumer, err := s.js.Consumer(s.t.Context(), feed.EventStream, feed.Durable)
		if err == nil {
			if i := consumer.CachedInfo(); i.NumPending == 0 && i.NumAckPending == 0 {
				return
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("messages are left without an answer: %v, %+v", err, s.status())
		}
	}
}

// sample watches the memory of both processes until ctx ends.
func (s *soakPath) sample(ctx context.Context) {
	for ctx.Err() == nil {
		s.seen.Lock()
		s.seen.parent = max(s.seen.parent, residentBytes(os.Getpid()))
		if s.host != nil {
			if h, ok := s.host.file.health(); ok && h.PID > 0 {
				s.seen.child = max(s.seen.child, residentBytes(h.PID))
			}
		}
		s.seen.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// deadLetters counts the letters that the stream of the dead has, each event once.
func (s *soakPath) deadLetters() int {
	s.t.Helper()
	stream, err := s.js.Stream(s.t.Context(), feed.DeadStream)
	if err != nil {
		s.t.Fatal(err)
	}
	seqs := map[string]bool{}
	for seq := stream.CachedInfo().State.FirstSeq; seq <= stream.CachedInfo().State.LastSeq && seq > 0; seq++ {
		msg, err := stream.GetMsg(s.t.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			s.t.Fatal(err)
		}
		seqs[msg.Header.Get("Kith-Dead-Sequence")] = true
	}
	return len(seqs)
}

func (s *soakPath) graph() string { return graphPath(s.e.cfg) }

func (s *soakPath) childLog() string { return filepath.Join(s.e.cfg.DataDir, "commits.jsonl") }

func (s *soakPath) describe() string {
	return fmt.Sprintf("%d kills of the store's process, %d restarts of all else (%d without notice), consumer deleted %d times",
		s.seen.kills, s.seen.cuts+s.seen.stops, s.seen.cuts, s.seen.deleted)
}
