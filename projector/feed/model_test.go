package feed

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/projectortest"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var modelHistories = flag.Int("model-histories", 8, "random histories that go through a stream and are compared with the model")

// random is a source that several goroutines use.
type random struct {
	mu sync.Mutex
	*rand.Rand
}

func (r *random) n(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.IntN(n)
}

// passage is one random history on its way through a stream into a graph.
type passage struct {
	t      *testing.T
	rng    *random
	model  *projectortest.Model
	spaces []graphstore.Space
	stream [][]byte // in order of publication
	bad    int      // messages of which there is a dead letter
	server string
	js     jetstream.JetStream
	store  *ledger
	starts int
	kills  int
}

// newPassage draws a history of some length, shuffles and repeats it, and puts between its events bad ones, ones with one
// bad fact, and ones that the store refuses for good.
func newPassage(t *testing.T, seed uint64) *passage {
	p := &passage{t: t, rng: &random{Rand: rand.New(rand.NewPCG(seed, 7))}, model: projectortest.NewModel(projectortest.SmallShape()), store: newLedger()}
	for _, user := range []string{"ann", "bob", "a"} {
		p.spaces = append(p.spaces, space(t, user))
	}
	var history projectortest.History
	for i := 0; len(history) < 60; i++ {
		history = projectortest.GenHistory(150, p.spaces...).Example(int(seed>>1) + i)
	}
	p.model.Add(history...)
	order := append(projectortest.History(nil), history...)
	for range len(history) / 3 {
		order = append(order, history[p.rng.n(len(history))])
	}
	p.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for i, ev := range order {
		payload, err := projector.Marshal(ev, projector.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		p.stream = append(p.stream, payload)
		if p.rng.n(10) == 0 {
			p.stream = append(p.stream, p.trouble(i))
		}
	}
	return p
}

// trouble returns a message that becomes a dead letter, at least in part.
func (p *passage) trouble(i int) []byte {
	p.bad++
	switch p.rng.n(4) {
	case 0:
		return []byte("bad")
	case 1:
		return event(fmt.Sprint("nobody ", i), "memory.user.forgotten.v1", map[string]any{"user_id": ""})
	case 2: // the store refuses it
		return factsEvent(fmt.Sprint("cursed", i), "ann", 1, "cursed")
	default: // its good fact counts; users of these histories are forgotten long before
		id, good := fmt.Sprint("half", i), projector.FactWrite{ID: "c", Op: projector.OpUpdate, AgentID: projector.Some("p"), Version: projector.Some[int64](1 << 60)}
		ev := projector.Event{ID: id, Space: p.spaces[1], Data: projector.FactsWritten{Facts: []projector.FactWrite{good}}}
		var err error
		if ev.Time, err = instantOfTests(); err != nil {
			p.t.Fatal(err)
		}
		p.model.Add(ev)
		return event(id, "memory.facts.written.v1", map[string]any{"user_id": "bob", "facts": []any{map[string]any{"id": "c", "op": "update", "agent_id": "p", "version": int64(1) << 60},
			map[string]any{"id": "", "op": "add"}}})
	}
}

// instantOfTests is the time that event gives every event.
func instantOfTests() (at graphstore.Instant, err error) {
	err = at.UnmarshalText([]byte("2026-11-30T12:00:00Z"))
	return at, err
}

// publish publishes the next messages, some of them twice: with an id by which the server drops the second, or without.
func (p *passage) publish(messages [][]byte) {
	for _, payload := range messages {
		ev, _, err := projector.Decode(payload, projector.Limits{})
		if err != nil || ev.ID == "" {
			publishRaw(p.t, p.js, "memory.events.x", payload, nil)
			continue
		}
		header := nats.Header{}
		header.Set(jetstream.MsgIDHeader, fmt.Sprint(ev.ID, p.rng.n(2)))
		for range 1 + p.rng.n(2) {
			publishRaw(p.t, p.js, projector.Subject(ev.Space.UserID(), ev.Type()), payload, header)
		}
	}
}

// feed returns a feed on a graph that is loaded from the store, as a new process has it; its commits fail at random, before
// and after the fact, and those of cursed facts always.
func (p *passage) feed(js jetstream.JetStream, hooks Hooks) (*Feed, *testGraph) {
	p.starts++
	g := graphOver(p.t, p.store)
	g.faults.set(onApply(func(c graphstoretest.Call) graphstoretest.Fault {
		switch n := p.rng.n(8); {
		case touches(c, "cursed"):
			return graphstoretest.Fault{Before: graphstore.ErrBadChange}
		case n == 0:
			return graphstoretest.Fault{Before: errors.New("busy")}
		case n == 1:
			return graphstoretest.Fault{After: errors.New("answer lost")}
		default:
			return graphstoretest.Fault{}
		}
	}))
	cfg := fastConfig()
	cfg.BatchSize, cfg.MarkInterval, cfg.AckWait, cfg.DrainTimeout = 1+p.rng.n(20), 5*time.Millisecond, 200*time.Millisecond, time.Duration(1+p.rng.n(40))*time.Millisecond
	cfg.Hooks, cfg.GraphID, cfg.Mark = hooks, "graph-1", p.store.mark(p.t)
	plan, err := projector.New(projectortest.SmallShape().Config())
	if err != nil {
		p.t.Fatal(err)
	}
	f, err := New(js, plan, g, cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	f.env.pullWait = 500 * time.Millisecond
	return f, g
}

// interrupted runs a feed for some batches and ends it: its connection is gone from one moment to the next, or it is
// stopped and has little time for what it has in hand, or enough.
func (p *passage) interrupted() {
	js, left := connectTo(p.t, p.server), 1+p.rng.n(4)
	enough := make(chan struct{})
	f, _ := p.feed(js, Hooks{Batch: func(BatchStats) {
		if left--; left == 0 {
			close(enough)
		}
	}})
	r := run(p.t, f)
	select {
	case <-enough:
	case <-time.After(2 * time.Second): // nothing more to do
	}
	if p.rng.n(3) > 0 {
		js.Conn().Close()
		p.kills++
	}
	_ = r.end() // a connection or a drain that was cut short is an error
}

// TestRandomHistoriesEndInTheGraphOfTheModel takes random histories of every event type through a real stream: shuffled and
// repeated, with duplicate publishes, commits that fail before and after the fact, feeds that are stopped and killed at
// random points and begin again from the store, batches of any size, and dead letters. The graph is the model's, by digest
// and record by record.
func TestRandomHistoriesEndInTheGraphOfTheModel(t *testing.T) {
	for i := range *modelHistories {
		seed := uint64(1)
		if i > 0 {
			seed = rand.Uint64()
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := newPassage(t, seed) // one after the other: generators make themselves ready at their first use
			t.Parallel()
			p.server = startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL()
			p.js = connectTo(t, p.server)
			if err := EnsureStreams(testContext(t), p.js, StreamsConfig{}); err != nil {
				t.Fatal(err)
			}
			for rest := p.stream; len(rest) > 0; {
				n := min(len(rest), 1+p.rng.n(60))
				p.publish(rest[:n])
				if rest = rest[n:]; p.rng.n(4) > 0 {
					p.interrupted()
				}
			}
			f, g := p.feed(p.js, Hooks{})
			r := run(t, f)
			r.applied(t)
			wantSettled(t, p.js)
			g.faults.none()
			eventually(t, "trouble is over", func() bool { return f.Status().Failures == 0 })
			r.stop(t)
			for _, space := range p.spaces {
				view, err := g.View(space)
				if err != nil {
					t.Fatal(err)
				}
				if diff := p.model.Diff(view); diff != "" {
					t.Errorf("user %s (-model +graph):\n%s", space, diff)
				}
			}
			if want := p.model.Digest().String(); g.Digest().String() != want || p.store.digest(t) != want {
				t.Errorf("digest %s, in the store %s: the model's is %s", g.Digest(), p.store.digest(t), want)
			}
			dead := map[uint64]bool{}
			for _, d := range deadLetters(t, p.js) {
				dead[d.Sequence] = true
			}
			if p.bad > len(dead) {
				t.Errorf("%d messages have a dead letter: want all %d bad ones, of which some were published twice", len(dead), p.bad)
			}
			t.Logf("%d messages, %d dead letters, %d transactions, %d starts, %d kills", len(p.stream), len(dead), len(p.store.entries()), p.starts, p.kills)
		})
	}
}
