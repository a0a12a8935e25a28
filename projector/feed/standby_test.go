package feed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// member is a service of a group: a feed with a graph and a connection of its own.
type member struct {
	*running
	js    jetstream.JetStream
	gate  *gate
	graph *testGraph
	id    string
	cfg   Config
}

// groupConfig has a TTL that a test can wait for and a loaded machine can keep.
func groupConfig(id string, g *testGraph, t testing.TB) Config {
	cfg := fastConfig()
	cfg.GraphID, cfg.Mark = id, g.store.mark(t)
	cfg.Standby = StandbyConfig{Group: "pair", TTL: 600 * time.Millisecond}
	cfg.StatusInterval = 20 * time.Millisecond
	return cfg
}

// join starts a member over a graph.
func join(t testing.TB, server jetstream.JetStream, id string, g *testGraph, adjust ...func(*Config)) *member {
	t.Helper()
	gate := newGate(t, server.Conn().ConnectedAddr())
	m := &member{js: connectTo(t, gate.url()), gate: gate, graph: g, id: id, cfg: groupConfig(id, g, t)}
	for _, a := range adjust {
		a(&m.cfg)
	}
	f := newFeed(t, m.js, g, m.cfg)
	f.env.pullWait = 500 * time.Millisecond
	m.running = run(t, f)
	return m
}

// kill cuts the member off in the middle of whatever it does, as the end of its process would, and returns its graph as a new
// process finds it.
func (m *member) kill(t testing.TB) *testGraph {
	t.Helper()
	m.js.Conn().Close()
	if err := <-m.result; err == nil {
		t.Error("run ended without an error although its connection was closed")
	}
	m.cancel()
	m.ended = true
	return graphOver(t, m.graph.store)
}

func (m *member) role() Role { return m.Status().Role }

func (m *member) becomes(t testing.TB, role Role) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is %s", m.id, role), func() bool { return m.role() == role })
}

// mixed returns n events of a user and how many dead letters they make: every fifth is no event, every seventh has a bad fact.
func publishMixed(t testing.TB, js jetstream.JetStream, user string, from, n int) (dead int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		switch {
		case i%5 == 4:
			publishRaw(t, js, "memory.events.x", []byte(fmt.Sprint("bad ", user, i)), nil)
			dead++
		case i%7 == 6:
			publishRaw(t, js, "memory.events.x", event(fmt.Sprint(user, i), "memory.facts.written.v1", map[string]any{"user_id": user, "facts": []any{
				map[string]any{"id": fmt.Sprint("f", i), "op": "add", "version": 1}, map[string]any{"id": "", "op": "add"}}}), nil)
			dead++
		default:
			publish(t, js, factsEvent(fmt.Sprint(user, i), user, 1, fmt.Sprint("f", i), fmt.Sprint("g", i/2)))
		}
	}
	return dead
}

// wantDead checks that as many messages are dead-lettered, each once.
func wantDead(t testing.TB, js jetstream.JetStream, want int) {
	t.Helper()
	seen := map[string]int{}
	for _, d := range deadLetters(t, js) {
		seen[d.MessageID()]++
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("dead letter %s is there %d times", id, n)
		}
	}
	if len(seen) != want {
		t.Errorf("%d dead letters, want %d", len(seen), want)
	}
}

// wantEqual checks that graphs are the same, and what is stored is what is in memory.
func wantEqual(t testing.TB, want string, graphs ...*testGraph) {
	t.Helper()
	for i, g := range graphs {
		if got := g.Digest().String(); got != want || g.store.digest(t) != want {
			t.Errorf("graph %d has digest %s, stored %s, want %s", i, got, g.store.digest(t), want)
		}
	}
}

// calmDigest projects the stream into a graph by one feed on another server.
func calmDigest(t testing.TB, js jetstream.JetStream) string {
	t.Helper()
	ctx, g := testContext(t), newGraph(t)
	other := newJS(t)
	stream, err := js.Stream(ctx, EventStream)
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		msg, err := stream.GetMsg(ctx, seq)
		if err != nil {
			t.Fatal(err)
		}
		publishRaw(t, other, msg.Subject, msg.Data, nil)
	}
	feedOnce(t, newFeed(t, other, g, fastConfig()))
	return g.Digest().String()
}

func TestStandbyKeepsUpAndSettlesNothing(t *testing.T) {
	js := newJS(t)
	a := join(t, js, "graph-a", newGraph(t))
	dead := publishMixed(t, js, userA, 0, 40)
	a.applied(t)
	a.becomes(t, RoleActive)
	b := join(t, js, "graph-b", newGraph(t)) // with all of the stream before it
	dead += publishMixed(t, js, "bob", 0, 40)
	a.applied(t)
	b.applied(t)
	if b.role() != RoleStandby || a.role() != RoleActive {
		t.Errorf("roles %q and %q", a.role(), b.role())
	}
	want := calmDigest(t, js)
	wantEqual(t, want, a.graph, b.graph)
	wantDead(t, js, dead)
	wantSettled(t, js)
	s := b.Status()
	if s.Dead != 0 || s.DeadFacts != 0 || s.Takeovers != 0 || s.Left != 0 || s.Skipped != 0 || s.LastApplied != 80 || s.Pending != 0 || s.Unsettled != 0 {
		t.Errorf("standby %+v: want all 80 applied and nothing settled by it", s)
	}
	if got := consumerOf(t, js).Config; got.Metadata[graphKey] != "group:pair" || got.PriorityPolicy != jetstream.PriorityPolicyPinned {
		t.Errorf("consumer %+v: want it to be pinned for the group", got)
	}
}

func TestStandbyTakesOverFromOneThatWasKilled(t *testing.T) {
	js := newJS(t)
	a := join(t, js, "graph-a", newGraph(t))
	dead := publishMixed(t, js, userA, 0, 20)
	a.applied(t)
	b := join(t, js, "graph-b", newGraph(t))
	b.applied(t)
	decide, waiting, release := held() // it dies with a batch in hand, good and bad events in it
	a.graph.faults.set(decide)
	dead += publishMixed(t, js, "bob", 0, 20)
	<-waiting
	a.cancel()
	a.js.Conn().Close()
	close(release)
	_ = a.end() // a killed process says nothing
	start := time.Now()
	dead += publishMixed(t, js, "cy", 0, 20)
	b.becomes(t, RoleActive)
	t.Logf("took over after %s", time.Since(start))
	b.applied(t)
	wantSettled(t, js)
	wantEqual(t, calmDigest(t, js), b.graph)
	wantDead(t, js, dead)

	again := join(t, js, "graph-a", graphOver(t, a.graph.store)) // the one that was killed comes back
	dead += publishMixed(t, js, "dan", 0, 20)
	b.applied(t)
	again.applied(t)
	if again.role() != RoleStandby || b.role() != RoleActive {
		t.Errorf("roles %q and %q: want who came back to stand by", again.role(), b.role())
	}
	wantEqual(t, calmDigest(t, js), b.graph, again.graph)
	wantDead(t, js, dead)
}

func TestStandbyTakesOverAtOnceAfterACleanStop(t *testing.T) {
	js := newJS(t)
	long := func(c *Config) { c.Standby.TTL = 30 * time.Second }
	a := join(t, js, "graph-a", newGraph(t), long)
	dead := publishMixed(t, js, userA, 0, 20)
	a.applied(t)
	b := join(t, js, "graph-b", newGraph(t), long)
	b.applied(t)
	a.stop(t)
	start := time.Now()
	dead += publishMixed(t, js, "bob", 0, 20)
	b.becomes(t, RoleActive)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took over after %s: want it at once, not after the TTL", took)
	}
	b.applied(t)
	wantSettled(t, js)
	wantEqual(t, calmDigest(t, js), b.graph)
	wantDead(t, js, dead)
	b.stop(t)
	for info := range consumersOf(t, js) {
		if strings.HasPrefix(info, followerPrefix) {
			t.Errorf("consumer %s is left behind", info)
		}
	}
}

func consumersOf(t testing.TB, js jetstream.JetStream) map[string]bool {
	t.Helper()
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	names, list := map[string]bool{}, stream.ConsumerNames(testContext(t))
	for name := range list.Name() {
		names[name] = true
	}
	if list.Err() != nil {
		t.Fatal(list.Err())
	}
	return names
}

// TestFrozenServiceFindsThatItHasLostItsPin freezes the active one with a batch in hand, whose dead letters it has not stored
// yet. When it comes back, what it had sent arrives all the same.
func TestFrozenServiceFindsThatItHasLostItsPin(t *testing.T) {
	js := newJS(t)
	a := join(t, js, "graph-a", newGraph(t))
	dead := publishMixed(t, js, userA, 0, 20)
	a.applied(t)
	b := join(t, js, "graph-b", newGraph(t))
	b.applied(t)
	decide, waiting, release := held()
	a.graph.faults.set(decide)
	dead += publishMixed(t, js, "bob", 0, 20)
	<-waiting
	a.gate.freeze()
	dead += publishMixed(t, js, "cy", 0, 20)
	b.becomes(t, RoleActive)
	a.graph.faults.none()
	close(release)
	if err := b.WaitApplied(testContext(t), 60); err != nil { // what a has in hand comes to b after the ack wait
		t.Fatal(err)
	}
	a.gate.thaw()
	a.becomes(t, RoleStandby)
	dead += publishMixed(t, js, "dan", 0, 20)
	a.applied(t)
	b.applied(t)
	if b.role() != RoleActive {
		t.Errorf("role %q: want who took over to stay the active one", b.role())
	}
	wantSettled(t, js)
	wantEqual(t, calmDigest(t, js), a.graph, b.graph)
	wantDead(t, js, dead)
}

// TestManyTakeovers kills, stops and freezes services at random while events flow, and starts them again on the graphs they
// left.
func TestManyTakeovers(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	js := newJS(t)
	short := func(c *Config) { c.AckWait = time.Second; c.Standby.TTL = 300 * time.Millisecond }
	members := []*member{join(t, js, "graph-a", newGraph(t), short), join(t, js, "graph-b", newGraph(t), short)}
	dead := 0
	for round := range 8 {
		user := fmt.Sprint("user-", round%3)
		dead += publishMixed(t, js, user, 20*round, 10)
		i := rng.IntN(2)
		m := members[i]
		if rng.IntN(2) == 0 { // somewhere in the middle
			m.applied(t)
		}
		switch what := rng.IntN(3); what {
		case 0:
			members[i] = join(t, js, m.id, m.kill(t), short)
		case 1:
			m.stop(t)
			members[i] = join(t, js, m.id, graphOver(t, m.graph.store), short)
		default:
			m.gate.freeze()
			dead += publishMixed(t, js, user, 20*round+10, 10)
			members[1-i].becomes(t, RoleActive)
			m.gate.thaw()
		}
	}
	want := calmDigest(t, js)
	for _, m := range members {
		m.applied(t)
	}
	wantSettled(t, js)
	wantEqual(t, want, members[0].graph, members[1].graph)
	wantDead(t, js, dead)
}

// TestConsumerOfOneServiceBecomesTheGroups turns the standby on over a consumer that has settled half of the stream, for the
// graph that it fed and for another one.
func TestConsumerOfOneServiceBecomesTheGroups(t *testing.T) {
	for name, id := range map[string]string{"the same graph": "graph-a", "another graph": "graph-b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js, g := newJS(t), newGraph(t)
			dead := publishMixed(t, js, userA, 0, 20)
			feedOnce(t, boundFeed(t, js, g, "graph-a"))
			if id != "graph-a" {
				g = newGraph(t)
			}
			dead += publishMixed(t, js, "bob", 0, 20)
			m := join(t, js, id, g)
			m.applied(t)
			wantSettled(t, js)
			wantEqual(t, calmDigest(t, js), g)
			wantDead(t, js, dead)
			if got := consumerOf(t, js).Config; got.Metadata[graphKey] != "group:pair" || got.PriorityPolicy != jetstream.PriorityPolicyPinned || got.OptStartSeq != 21 {
				t.Errorf("consumer %+v: want it to be the group's, from event 21 on", got)
			}
		})
	}
}

// A service that is none of the group is refused while one of them runs, and the other way round; both errors name the setting.
func TestStrangersAreRefused(t *testing.T) {
	t.Run("by a group", func(t *testing.T) {
		t.Parallel()
		js := newJS(t)
		a := join(t, js, "graph-a", newGraph(t))
		publish(t, js, numbered(userA, 3)...)
		a.applied(t)
		b := run(t, boundFeed(t, js, newGraph(t), "graph-b"))
		eventually(t, "it is refused", func() bool { return refused(b) != nil })
		if text := refused(b).Error(); !strings.Contains(text, "KITH_STANDBY=true and KITH_STANDBY_GROUP=pair") {
			t.Errorf("%q does not name the setting", text)
		}
	})
	t.Run("by one alone", func(t *testing.T) {
		t.Parallel()
		js := newJS(t)
		a := run(t, boundFeed(t, js, newGraph(t), "graph-a"))
		publish(t, js, numbered(userA, 3)...)
		a.applied(t)
		b := join(t, js, "graph-b", newGraph(t))
		eventually(t, "it is refused", func() bool { return refused(b.running) != nil })
		if text := refused(b.running).Error(); !strings.Contains(text, "KITH_STANDBY=true for both") {
			t.Errorf("%q does not name the setting", text)
		}
	})
}

// TestConsumerThatCannotBeChanged names the setting of a consumer that nobody can change, and goes on when it is deleted.
func TestConsumerThatCannotBeChanged(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*jetstream.ConsumerConfig)
		want  string
	}{
		"ack policy":     {func(c *jetstream.ConsumerConfig) { c.AckPolicy = jetstream.AckAllPolicy }, "its ack_policy is AckAll, want AckExplicit"},
		"deliver policy": {func(c *jetstream.ConsumerConfig) { c.DeliverPolicy = jetstream.DeliverNewPolicy }, "its deliver_policy is new, want all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, js, g := testContext(t), newJS(t), newGraph(t)
			cfg := newFeed(t, js, g, groupConfig("graph-a", g, t)).consumerConfig()
			c.spoil(&cfg)
			if _, err := js.CreateConsumer(ctx, EventStream, cfg); err != nil {
				t.Fatal(err)
			}
			publish(t, js, numbered(userA, 3)...)
			m := join(t, js, "graph-a", g)
			eventually(t, "it says what is wrong", func() bool {
				err := m.Status().LastError
				return err != nil && strings.Contains(err.Error(), c.want)
			})
			if err := js.DeleteConsumer(ctx, EventStream, Durable); err != nil {
				t.Fatal(err)
			}
			m.applied(t)
			g.wantFacts(t, userA, 3)
		})
	}
}

// TestStandbyIsNotHeldUpByWhatItAloneCannotProject has one event that only the standby's store cannot take: it leaves it, says
// so, and takes over all the same.
func TestStandbyIsNotHeldUpByWhatItAloneCannotProject(t *testing.T) {
	js := newJS(t)
	a := join(t, js, "graph-a", newGraph(t))
	publish(t, js, numbered("cy", 1)...)
	a.becomes(t, RoleActive)
	g := newGraph(t)
	g.faults.set(onApply(func(c graphstoretest.Call) graphstoretest.Fault {
		for _, change := range c.Changes {
			if change.Fact != nil && change.Fact.ID == "f5" {
				return graphstoretest.Fault{Before: errors.New("store crashed")}
			}
		}
		return graphstoretest.Fault{}
	}))
	b := join(t, js, "graph-b", g, func(c *Config) { c.PoisonAfter = 2 })
	publish(t, js, numbered(userA, 30)...)
	n := 0
	eventually(t, "the event is skipped", func() bool { // that it fails counts only where others do not
		n++
		publish(t, js, factsEvent(fmt.Sprint("more", n), "dan", 1, fmt.Sprint("m", n)))
		return b.Status().Skipped == 1
	})
	a.applied(t)
	b.applied(t)
	if s := b.Status(); s.Left != 0 || s.Dead != 0 {
		t.Errorf("standby %+v: want nothing left or dead", s)
	}
	a.graph.wantFacts(t, userA, 30)
	g.wantFacts(t, userA, 29)
	g.wantFacts(t, "dan", n)
	wantDead(t, js, 0)
	a.kill(t)
	publish(t, js, numbered("bob", 5)...)
	b.becomes(t, RoleActive)
	b.applied(t)
	g.wantFacts(t, "bob", 5)
}

func TestStandbyConfig(t *testing.T) {
	js := connectTo(t, "nats://"+freeAddress(t))
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"no graph":   {Config{Standby: StandbyConfig{Group: "pair"}}, `standby group "pair" without a graph id`},
		"bad name":   {Config{GraphID: "g", Standby: StandbyConfig{Group: "a.b"}}, `standby group "a.b": want 1 to 16`},
		"long name":  {Config{GraphID: "g", Standby: StandbyConfig{Group: strings.Repeat("x", 17)}}, "want 1 to 16"},
		"no time":    {Config{Standby: StandbyConfig{TTL: time.Millisecond}}, "standby ttl 1ms: want 100ms or more"},
		"minus time": {Config{Standby: StandbyConfig{TTL: -1}}, "standby ttl -1ns"},
	} {
		if _, err := New(js, newProjector(t), newGraph(t), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v does not say %q", name, err, c.want)
		}
	}
}

// TestStandbyHasNoAdvisoryTrouble: what a service could not hear as the active one is over when it stands by.
func TestStandbyHasNoAdvisoryTrouble(t *testing.T) {
	js, g := newJS(t), newGraph(t)
	f := newFeed(t, js, g, groupConfig("g", g, t))
	_ = f.health.advise(errors.New("of a time when it was active"))
	r := run(t, f)
	eventually(t, "the trouble is over", func() bool { return r.Status().AdvisoryTrouble == nil })
	if role := r.Status().Role; role != RoleStandby { // nothing was published that could make it active
		t.Errorf("role %s, want %s", role, RoleStandby)
	}
}
