package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/internal/natsserver"
	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// quietLog is for tests that provoke what is logged.
var quietLog = slog.New(slog.DiscardHandler)

// lines keeps the level and message of each line logged above debug.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level > slog.LevelDebug }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *lines) WithGroup(string) slog.Handler                    { return l }
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, r.Level.String()+" "+r.Message)
	return nil
}

// count returns how many lines begin like this.
func (l *lines) count(prefix string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.text {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// testContext ends the test's waits before the test binary's own timeout does.
func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// startServer runs a NATS server in dir on addr ("127.0.0.1:0" for any port).
func startServer(t testing.TB, dir, addr string) *natsserver.Server {
	t.Helper()
	s, err := natsserver.Start(natsserver.Config{Dir: dir, Listen: addr, Logger: quietLog})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// connectTo connects to a URL that need not answer yet.
func connectTo(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	nc, err := Connect(testContext(t), url, ConnectConfig{Logger: quietLog, ReconnectWait: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return newJetStream(t, nc)
}

func newJetStream(t testing.TB, nc *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// freeAddress returns an address that nothing listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// newJS returns a connection to a server of the test's own with both streams.
func newJS(t testing.TB) jetstream.JetStream {
	t.Helper()
	js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	if err := EnsureStreams(testContext(t), js, StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	return js
}

// faults decides what goes wrong with the graph; it may be changed while the feed runs.
type faults struct {
	mu     sync.Mutex
	decide func(graphstoretest.Call) graphstoretest.Fault
}

func (f *faults) set(decide func(graphstoretest.Call) graphstoretest.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decide = decide
}

func (f *faults) none() { f.set(nil) }

func (f *faults) ask(c graphstoretest.Call) graphstoretest.Fault {
	f.mu.Lock()
	decide := f.decide
	f.mu.Unlock()
	if decide == nil {
		return graphstoretest.Fault{}
	}
	return decide(c)
}

// onApply returns a decision for each commit.
func onApply(fault func(graphstoretest.Call) graphstoretest.Fault) func(graphstoretest.Call) graphstoretest.Fault {
	return func(c graphstoretest.Call) graphstoretest.Fault {
		if c.Method != graphstoretest.MethodApply {
			return graphstoretest.Fault{}
		}
		return fault(c)
	}
}

// testGraph is the live graph over a store in memory that fails on demand.
type testGraph struct {
	*live.Graph
	store  *ledger
	faulty *graphstoretest.Faulty
	faults *faults
}

func newGraph(t testing.TB) *testGraph { return graphOver(t, newLedger()) }

// graphOver loads the graph that a store holds, as a start does.
func graphOver(t testing.TB, store *ledger) *testGraph {
	t.Helper()
	g := &testGraph{store: store, faults: &faults{}}
	g.faulty = graphstoretest.NewFaulty(g.store, g.faults.ask)
	g.Graph = live.New(g.faulty, live.Config{Logger: quietLog})
	if err := g.Load(testContext(t)); err != nil {
		t.Fatal(err)
	}
	return g
}

// commits returns how many transactions were tried.
func (g *testGraph) commits() int { return g.faulty.Calls(graphstoretest.MethodApply) }

// wantFacts checks which facts of a user are present.
func (g *testGraph) wantFacts(t testing.TB, user string, want int) {
	t.Helper()
	view, err := g.View(space(t, user))
	if err != nil {
		t.Fatal(err)
	}
	if got := view.Present(); got != want {
		t.Errorf("user %s has %d facts, want %d", user, got, want)
	}
}

func space(t testing.TB, user string) graphstore.Space {
	t.Helper()
	s, err := graphstore.NewSpace(user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newProjector(t testing.TB) *projector.Projector {
	t.Helper()
	p, err := projector.New(projector.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fastConfig is for tests: short pauses, and redelivery after two seconds.
func fastConfig() Config {
	return Config{
		BatchWait: 5 * time.Millisecond, AckWait: 2 * time.Second, RetryMin: 5 * time.Millisecond, RetryMax: 40 * time.Millisecond,
		Logger: quietLog,
	}
}

func newFeed(t testing.TB, js jetstream.JetStream, g Graph, cfg Config) *Feed {
	t.Helper()
	f, err := New(js, newProjector(t), g, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// running is a feed in its own goroutine.
type running struct {
	*Feed
	cancel context.CancelFunc
	result chan error
	ended  bool
}

// run runs a feed until the test ends or stops it; it fails the test if Run returns an error.
func run(t testing.TB, f *Feed) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Feed: f, cancel: cancel, result: make(chan error, 1)}
	go func() { r.result <- f.Run(ctx) }()
	t.Cleanup(func() {
		if !r.ended {
			r.stop(t)
		}
	})
	return r
}

// stop asks the feed to stop and waits for it.
func (r *running) stop(t testing.TB) {
	t.Helper()
	if err := r.end(); err != nil {
		t.Errorf("run: %v", err)
	}
}

// end stops the feed and returns what Run returned, once.
func (r *running) end() error {
	r.cancel()
	r.ended = true
	return <-r.result
}

// attached waits until the feed has its consumer.
func (r *running) attached(t testing.TB) {
	t.Helper()
	eventually(t, "the feed has its consumer", func() bool { return r.Status().Attached })
}

// applied waits until everything published so far is settled.
func (r *running) applied(t testing.TB) {
	t.Helper()
	if err := r.WaitCaughtUp(testContext(t)); err != nil {
		t.Fatalf("%v; status %+v", err, r.Status())
	}
}

// eventually polls a condition that no event announces.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("never: %s", what)
		}
	}
}

// factsEvent returns a write event of a user with one fact per id, all of one version.
func factsEvent(eventID, user string, version int64, factIDs ...string) []byte {
	facts := make([]map[string]any, len(factIDs))
	for i, id := range factIDs {
		facts[i] = map[string]any{"id": id, "op": "add", "version": version, "tags": []string{"tag"}}
	}
	return event(eventID, "memory.facts.written.v1", map[string]any{"user_id": user, "facts": facts})
}

func event(id, typ string, data any) []byte {
	payload, err := json.Marshal(map[string]any{
		"specversion": "1.0", "id": id, "source": "test", "type": typ, "time": "2026-11-30T12:00:00Z", "data": data,
	})
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	return payload
}

// publishRaw publishes any bytes on the event stream, without the publisher's checks.
func publishRaw(t testing.TB, js jetstream.JetStream, subject string, payload []byte, header nats.Header) uint64 {
	t.Helper()
	ack, err := js.PublishMsg(testContext(t), &nats.Msg{Subject: subject, Data: payload, Header: header})
	if err != nil {
		t.Fatal(err)
	}
	return ack.Sequence
}

// publish publishes good events.
func publish(t testing.TB, js jetstream.JetStream, payloads ...[]byte) {
	t.Helper()
	for _, payload := range payloads {
		ev, _, err := projector.Decode(payload, projector.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		publishRaw(t, js, projector.Subject(ev.Space.UserID(), ev.Type()), payload, nil)
	}
}

// numbered returns n write events of a user, one fact each: facts f0, f1, ...
func numbered(user string, n int) [][]byte {
	events := make([][]byte, n)
	for i := range events {
		events[i] = factsEvent(fmt.Sprintf("%s-%d", user, i), user, 1, fmt.Sprintf("f%d", i))
	}
	return events
}

// deadLetters returns all dead letters in order.
func deadLetters(t testing.TB, js jetstream.JetStream) []DeadLetter {
	t.Helper()
	var letters []DeadLetter
	for _, msg := range deadMessages(t, js) {
		d, err := ParseDeadLetter(msg.Header, msg.Data)
		if err != nil {
			t.Fatal(err)
		}
		letters = append(letters, d)
	}
	return letters
}

func deadMessages(t testing.TB, js jetstream.JetStream) []*jetstream.RawStreamMsg {
	t.Helper()
	ctx := testContext(t)
	stream, err := js.Stream(ctx, DeadStream)
	if err != nil {
		t.Fatal(err)
	}
	var msgs []*jetstream.RawStreamMsg
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		msg, err := stream.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, msg)
	}
	return msgs
}

// wantSettled checks that the server has nothing left to deliver or to wait for.
func wantSettled(t testing.TB, js jetstream.JetStream) {
	t.Helper()
	eventually(t, "the server knows every message as settled", func() bool {
		consumer, err := js.Consumer(testContext(t), EventStream, Durable)
		if err != nil {
			t.Fatal(err)
		}
		info := consumer.CachedInfo()
		return info.NumPending == 0 && info.NumAckPending == 0
	})
}
