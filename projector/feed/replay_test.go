package feed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// randomHistory returns n events of a few users, of every type, which contradict and repeat each other.
func randomHistory(rng *rand.Rand, n int) [][]byte {
	id := func() string { return fmt.Sprint("f", rng.IntN(12)) }
	name := func() map[string]any {
		return map[string]any{"name": fmt.Sprint("Name ", rng.IntN(6)), "type": []string{"person", "place", ""}[rng.IntN(3)]}
	}
	fact := func(fid string) map[string]any {
		return map[string]any{
			"id": fid, "op": []string{"add", "update"}[rng.IntN(2)], "version": rng.IntN(50), "source_id": fmt.Sprint("s", rng.IntN(4)),
			"tags": []string{fmt.Sprint("tag", rng.IntN(5))}, "entities": []any{name(), name()},
			"relations": []any{map[string]any{"to": id(), "type": "causes", "weight": .5}},
			"neighbors": []any{map[string]any{"id": id(), "score": .9}},
		}
	}
	var events [][]byte
	for i := range n {
		data := map[string]any{"user_id": fmt.Sprint("user ", rng.IntN(5)), "version": rng.IntN(50)}
		var typ string
		switch rng.IntN(14) {
		case 0:
			typ, data["fact_id"] = "memory.fact.deleted.v1", id()
		case 1:
			typ, data["fact_id"], data["by"] = "memory.fact.superseded.v1", "f0", "f1"
		case 2:
			typ, data["fact_id"] = "memory.fact.shadowed.v1", id()
		case 3:
			typ, data["fact_id"] = "memory.fact.restored.v1", id()
		case 4:
			typ, data["source_id"] = "memory.source.retracted.v1", fmt.Sprint("s", rng.IntN(4))
		case 5:
			typ, data["entity"], data["alias"] = "memory.entity.aliased.v1", name(), "Alias"
		case 6:
			typ, data["kept"], data["merged"] = "memory.entity.merged.v1", map[string]any{"name": "Name 0"}, map[string]any{"name": "Name 1", "type": "person"}
		case 7:
			typ, data["schema_id"], data["level"], data["title"] = "memory.schema.upserted.v1", "l", "l6", "Title"
			data["evidence"] = []string{"f1", "f2"}
		case 8:
			if rng.IntN(8) == 0 {
				typ = "memory.user.forgotten.v1"
				break
			}
			fallthrough
		default:
			typ, data["facts"] = "memory.facts.written.v1", []any{fact("f0"), fact(fmt.Sprint("g", rng.IntN(40)))}
			data["batch_id"] = fmt.Sprint("b", rng.IntN(20))
		}
		events = append(events, event(fmt.Sprint("e", i), typ, data))
	}
	return events
}

func newReplay(t testing.TB, js jetstream.JetStream, cfg ReplayConfig) *Replay {
	t.Helper()
	r, err := NewReplay(js, newProjector(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func extent(t testing.TB, r *Replay) Extent {
	t.Helper()
	ext, err := r.Extent(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return ext
}

// replayAll replays everything and returns the digest of all and that of each user.
func replayAll(t testing.TB, r *Replay, ext Extent) (string, map[string]string, *Replayed) {
	t.Helper()
	var all graphstore.Digest
	users := map[string]string{}
	out, err := r.All(testContext(t), ext, func(u *ReplayedUser) error {
		d := u.Snapshot.Digest()
		all.Merge(d)
		if _, twice := users[u.Space.UserID()]; twice {
			t.Errorf("user %s comes twice", u.Space.UserID())
		}
		users[u.Space.UserID()] = d.String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String(), users, out
}

// TestReplayIsWhatTheFeedMakes projects random histories by a feed in random batches, and by replays of the same stream before, in
// the middle and at the end, of all users at once and of few at a time. All must be what planning one event after the
// other gives.
func TestReplayIsWhatTheFeedMakes(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 7))
			events := randomHistory(rng, 600)
			js, g := newJS(t), newGraph(t)
			cfg := fastConfig()
			cfg.BatchSize, cfg.GraphID = 1+rng.IntN(40), "g"
			half := len(events) / 2
			publish(t, js, events[:half]...)
			f := run(t, newFeed(t, js, g, cfg))
			f.applied(t)
			f.stop(t)
			r := newReplay(t, js, ReplayConfig{})
			if got, _, _ := replayAll(t, r, extent(t, r)); got != g.Digest().String() || got != inOrder(t, events[:half]).String() {
				t.Errorf("half way: replay %s, feed %s, in order %s", got, g.Digest(), inOrder(t, events[:half]))
			}
			publish(t, js, events[half:]...) // the consumer stands half way
			want := inOrder(t, events).String()
			ext := extent(t, r)
			publish(t, js, numbered("later", 3)...) // beyond the extent
			got, byUser, out := replayAll(t, r, ext)
			if got != want || out.Passes != 1 || out.Bad != 0 || out.Mark(0) != (graphstore.Mark{Log: ext.Log, Seq: uint64(len(events))}) {
				t.Errorf("replay %s, in order %s; %+v", got, want, out)
			}
			if ext.Settled != uint64(half) || !ext.Whole() {
				t.Errorf("extent %+v: want %d settled and all there", ext, half)
			}
			few, _, out := replayAll(t, newReplay(t, js, ReplayConfig{MaxBytes: 1}), ext)
			if few != want || out.Passes < 5 || sum(out.Events) != len(events) {
				t.Errorf("one user at a time: %s in %d passes, %d events; want %s and %d", few, out.Passes, sum(out.Events), want, len(events))
			}
			for user, want := range byUser {
				u := r.User(space(t, user))
				early := ext
				early.Last = uint64(half)
				for _, ext := range []Extent{early, ext} {
					if err := u.Read(testContext(t), ext); err != nil {
						t.Fatal(err)
					}
				}
				if made, _ := u.Result(); made.Snapshot.Digest().String() != want {
					t.Errorf("user %s alone in two steps: %s, want %s", user, made.Snapshot.Digest(), want)
				}
			}
		})
	}
}

func sum(counts map[projector.Type]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// TestReplayTellsWhatIsMissingAndBad has a stream whose beginning is gone, with gaps, and with all that can be wrong with an event.
func TestReplayTellsWhatIsMissingAndBad(t *testing.T) {
	js := newJS(t)
	publish(t, js, numbered(userA, 20)...) // 1 to 20
	good := projector.Subject(userA, projector.TypeFactsWritten)
	bad := []uint64{
		publishRaw(t, js, good, []byte("no json"), nil),                                                                            // 21
		publishRaw(t, js, good, nil, nats.Header{"Status": {"404"}}),                                                               // 22: the client swallows it
		publishRaw(t, js, good, factsEvent("other", "somebody else", 1, "x"), nil),                                                 // 23: contradicts its subject
		publishRaw(t, js, "memory.events.free", []byte(`{}`), nil),                                                                 // 24: nobody's
		publishRaw(t, js, good, event("two", "memory.facts.written.v1", map[string]any{"user_id": userA, "facts": []any{7}}), nil), // 25: a bad fact
	}
	publishRaw(t, js, "memory.events.free", factsEvent("free", userA, 1, "free"), nil) // 26: good, on a subject of nobody
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(testContext(t), jetstream.WithPurgeSequence(4)); err != nil { // 1 to 3
		t.Fatal(err)
	}
	for _, seq := range []uint64{7, 8, 15} {
		if err := stream.DeleteMsg(testContext(t), seq); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int64{0, 1} {
		r := newReplay(t, js, ReplayConfig{MaxBytes: limit})
		ext := extent(t, r)
		if ext.First != 4 || ext.Last != 26 || ext.Dropped != 3 || ext.Deleted != 3 || ext.Whole() || ext.FirstTime.IsZero() {
			t.Errorf("extent %+v", ext)
		}
		var facts int
		out, err := r.All(testContext(t), ext, func(u *ReplayedUser) error {
			if u.Space.UserID() == userA {
				facts = u.Snapshot.Facts()
				if u.Events != 14+2 || u.Bad != 3 || u.BadFacts != 1 { // 17 less 3; those of a bad fact and of a free subject; 21 to 23
					t.Errorf("%+v", *u)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if facts != 15 || out.Bad != 4 || out.BadFacts != 1 || out.Events[projector.TypeFactsWritten] != 16 {
			t.Errorf("%d facts, %+v", facts, out)
		}
		if out.Gapped != 3 || !slices.Equal(out.Gaps, []Range{{7, 8}, {15, 15}}) {
			t.Errorf("gaps %v", out.Gaps)
		}
		var seqs []uint64
		for _, p := range out.Problems {
			seqs = append(seqs, p.Seq)
		}
		if !slices.Equal(seqs, bad) {
			t.Errorf("problems of %v, want %v", seqs, bad)
		}
		// A feed that has settled up to 22 has buried the first two.
		for settled, want := range map[uint64]uint64{0: 20, 20: 20, 22: 22, 23: 23, 24: 24, 25: 26, 90: 26} {
			if got := out.Mark(settled); got.Seq != want {
				t.Errorf("settled %d: mark %d, want %d", settled, got.Seq, want)
			}
		}
	}
}

// TestReplayLeavesNothingBehind looks for consumers, dead letters and moved floors.
func TestReplayLeavesNothingBehind(t *testing.T) {
	js := newJS(t)
	publish(t, js, numbered(userA, 5)...)
	publishRaw(t, js, "memory.events.free", nil, nil)
	r := newReplay(t, js, ReplayConfig{})
	ext := extent(t, r)
	replayAll(t, r, ext)
	stop := errors.New("enough")
	if _, err := r.All(testContext(t), ext, func(*ReplayedUser) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v, want the error of yield", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.All(ctx, ext, func(*ReplayedUser) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Consumers; n != 0 {
		t.Errorf("%d consumers are left", n)
	}
	if letters := deadLetters(t, js); len(letters) != 0 {
		t.Errorf("%d dead letters", len(letters))
	}
}

func TestReplayOfEmptyStream(t *testing.T) {
	js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	r := newReplay(t, js, ReplayConfig{})
	if _, err := r.Extent(testContext(t)); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("no stream: %v", err)
	}
	if err := EnsureStreams(testContext(t), js, StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	check := func(want uint64) {
		t.Helper()
		ext := extent(t, r)
		_, users, out := replayAll(t, r, ext)
		if ext.First != want+1 || ext.Last != want || len(users) != 0 || out.Mark(0).Seq != want {
			t.Errorf("extent %+v, %d users: want none after %d", ext, len(users), want)
		}
	}
	check(0)
	publish(t, js, numbered(userA, 3)...)
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(testContext(t)); err != nil {
		t.Fatal(err)
	}
	check(3)
}

// TestPassesStayWithinTheBound makes 40 users of one size with room for about a tenth of them.
func TestPassesStayWithinTheBound(t *testing.T) {
	js := newJS(t)
	var one int64
	for u := range 40 {
		publish(t, js, numbered(fmt.Sprint("user ", u), 10)...)
	}
	if _, err := newReplay(t, js, ReplayConfig{}).All(testContext(t), extent(t, newReplay(t, js, ReplayConfig{})), func(u *ReplayedUser) error {
		one = u.Snapshot.Bytes()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	limit, most := 4*one, int64(0)
	r := newReplay(t, js, ReplayConfig{MaxBytes: limit, Progress: func(p ReplayProgress) { most = max(most, p.Bytes) }})
	_, users, out := replayAll(t, r, extent(t, r))
	if len(users) != 40 || out.Passes < 10 || out.Passes > 60 || sum(out.Events) != 400 {
		t.Errorf("%d users, %d events in %d passes: want all, in 10 to 60", len(users), sum(out.Events), out.Passes)
	}
	if most > limit+one {
		t.Errorf("%d bytes at most, the bound is %d", most, limit)
	}
	t.Logf("%d passes, %d of %d bytes", out.Passes, most, limit)
}

func TestReplayConfigIsChecked(t *testing.T) {
	if _, err := NewReplay(nil, newProjector(t), ReplayConfig{MaxBytes: -1}); err == nil {
		t.Error("a negative bound is accepted")
	}
	if _, err := NewReplay(nil, newProjector(t), ReplayConfig{Limits: projector.Limits{MaxFacts: -1}}); err == nil {
		t.Error("bad limits are accepted")
	}
}

// TestReplayReadsWhatTheClientWouldNot: on a stream with direct reads the client takes a message that looks like the server's
// answer for just that, and headers that cannot be read for an error. Neither must be passed over, nor end the replay.
func TestReplayReadsWhatTheClientWouldNot(t *testing.T) {
	ctx, js := testContext(t), connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	cfg := StreamsConfig{}.withDefaults().events()
	cfg.AllowDirect = true
	stream, err := js.CreateStream(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := EnsureStreams(ctx, js, StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	good := projector.Subject(userA, projector.TypeFactsWritten)
	publish(t, js, numbered(userA, 1)...)                                                // 1
	forged := publishRaw(t, js, good, nil, nats.Header{"Status": {"404"}})               // 2
	publish(t, js, factsEvent("after", userA, 1, "after"))                               // 3
	malformed := publishMalformed(t, js, EventStream, "memory.events.x")                 // 4
	if _, err := stream.GetMsg(ctx, forged); !errors.Is(err, jetstream.ErrMsgNotFound) { // else nothing is tested
		t.Fatalf("the client reads the forged answer: %v", err)
	}
	r := newReplay(t, js, ReplayConfig{})
	_, users, out := replayAll(t, r, extent(t, r))
	var seqs []uint64
	for _, p := range out.Problems {
		seqs = append(seqs, p.Seq)
	}
	if len(users) != 1 || out.Bad != 2 || !slices.Equal(seqs, []uint64{forged, malformed}) || out.Gapped != 0 {
		t.Errorf("problems of %v, %+v: want one user, problems of %d and %d, and nothing missing", seqs, out, forged, malformed)
	}
	// Each read by its own sequence, as after a gap.
	var took []uint64
	one := &reader{js: js, next: forged, to: malformed, take: func(m stored) error { took = append(took, m.seq); return nil }}
	for one.next <= one.to {
		if err := one.one(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(took, []uint64{2, 3, 4}) {
		t.Errorf("read %v one by one, want 2, 3 and 4", took)
	}
	if err := stream.DeleteMsg(ctx, malformed); err != nil {
		t.Fatal(err)
	}
	one.next, one.to = malformed, malformed+5
	if err := one.one(ctx); err != nil || one.next <= one.to || len(took) != 3 {
		t.Errorf("behind the last: %v, next %d: want the end", err, one.next)
	}
}
