package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/projector/feed"
)

// rebuildIn runs the command on a data directory and returns its account.
func rebuildIn(t *testing.T, dir string, args ...string) (server.Rebuild, int, string) {
	t.Helper()
	return rebuiltFrom(t, dir, append([]string{"--from-log"}, args...)...)
}

// mustRebuild is rebuildIn that must succeed.
func mustRebuild(t *testing.T, dir string, args ...string) server.Rebuild {
	t.Helper()
	return mustRebuildFrom(t, dir, append([]string{"--from-log"}, args...)...)
}

// wantFile compares the graph's file with a digest, on a data directory without a service.
func wantFile(t *testing.T, dir string, want graphstore.Digest) {
	t.Helper()
	code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "digest")
	if code != exitOK || strings.TrimSpace(out) != want.String() {
		t.Errorf("digest of the file: %d %s%s: want %s", code, out, errs, want)
	}
}

// tamper changes the graph's file behind everybody's back, as an error in an earlier version might have.
func (w *world) tamper(user string, change func(s *graphstore.Snapshot) []graphstore.Change) {
	w.t.Helper()
	e := &env{ctx: context.Background(), stderr: os.Stderr}
	e.cfg.DataDir, e.cfg.LogLevel, e.cfg.LogFormat = w.dir, "warn", "text"
	e.log = logger(e.cfg, os.Stderr)
	file, err := e.openGraph(w.graph(), child.Hooks{}, false)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := file.start(e.ctx); err != nil {
		w.t.Fatal(err)
	}
	space, err := graphstore.NewSpace(user)
	if err != nil {
		w.t.Fatal(err)
	}
	old, err := loadSpace(e.ctx, file, space)
	if err == nil {
		err = file.Apply(e.ctx, change(old))
	}
	if err := firstError(err, file.Close()); err != nil {
		w.t.Fatal(err)
	}
}

// drift removes a fact with its edges and what only it was on, changes another one, and adds one that nobody wrote: seven
// records at least.
func drift(s *graphstore.Snapshot) []graphstore.Change {
	var out []graphstore.Change
	for _, e := range s.EdgesOf("f4") {
		out = append(out, graphstore.DeleteKey(s.Space(), e.Key()))
	}
	out = append(out, graphstore.DeleteKey(s.Space(), graphstore.Fact{ID: "f4"}.Key()))
	f, _ := s.Fact("f6")
	f.AgentID = "somebody"
	return append(out, graphstore.PutFact(s.Space(), f), graphstore.PutFact(s.Space(), graphstore.Fact{ID: "nobody's", State: graphstore.StateActive}))
}

// eventStream connects to the embedded server's stream of a data directory.
func (w *world) eventStream() (jetstream.Stream, jetstream.JetStream, func()) {
	w.t.Helper()
	nc, js := jetStreamOf(w.t, w.dir)
	stream, err := js.Stream(context.Background(), feed.EventStream)
	if err != nil {
		w.t.Fatal(err)
	}
	return stream, js, nc.Close
}

// Without a service: from nothing, over a graph that is there, over one that is broken. The service that starts then has
// nothing left to project.
func TestRebuildOnFiles(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(1, 1)), 300)
	r := mustRebuild(t, w.dir)
	if r.After.Digest != w.want.String() || r.UpToSeq != 300 || !r.Stream.Complete || r.Users != 5 || r.Bad != 0 || r.Before.Records != 0 {
		t.Errorf("from nothing: %+v", r)
	}
	for user, want := range w.byUser {
		if i := slices.IndexFunc(r.PerUser, func(u server.RebuildUser) bool { return u.UserID == user }); i < 0 || r.PerUser[i].Digest != want.String() || r.PerUser[i].Events != 60 {
			t.Errorf("user %s: %+v", user, r.PerUser)
		}
	}
	wantFile(t, w.dir, w.want)
	w.start()
	w.caughtUp()
	if st, err := w.stats(); err != nil || st.Feed.Applied != 0 || st.Feed.Rewound != 0 {
		t.Errorf("after the rebuild the service projected %+v, %v", st.Feed, err)
	}
	w.p.terminate(t)

	again := mustRebuild(t, w.dir)
	if again.Before.Digest != w.want.String() || again.After.Digest != w.want.String() || again.GraphID != r.GraphID {
		t.Errorf("again: %+v", again)
	}
	if err := os.WriteFile(w.graph(), []byte(strings.Repeat("this is no graph\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, code, errs := rebuildIn(t, w.dir); code != exitFailed || !strings.Contains(errs, "not a graph") {
		t.Errorf("over a foreign file: %d %s: want it left alone", code, errs)
	}
	if r := mustRebuild(t, w.dir, "--force"); r.Aside == "" || r.After.Digest != w.want.String() {
		t.Errorf("over a foreign file, forced: %+v", r)
	}
	wantFile(t, w.dir, w.want)
}

// The graph's directory is deleted under the running service and rebuilt from the log, while events are published and searches
// are made; then it is rebuilt once more, undisturbed.
func TestRebuildUnderTheService(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(2, 2)), 1_000)
	w.start()
	w.caughtUp()
	var o outcome
	probe := w.probe(2 * time.Millisecond)
	if err := os.RemoveAll(filepath.Join(w.dir, "graph")); err != nil {
		t.Fatal(err)
	}
	more := writeUsers(t, 5, 40)
	stop := w.trickle(more, 50)
	forward := w.watchApplied()
	first := mustRebuild(t, w.dir)
	published := stop()
	w.events += published
	w.want, w.byUser = expectedGraph(t, w.file, firstLines(t, more, published))
	w.caughtUp()
	if got := digestOf(t, w.cl); got != w.want.String() {
		t.Errorf("digest %s after the rebuild, want %s", got, w.want)
	}
	second := mustRebuild(t, w.dir)
	probe.end(t, &o)
	forward()
	if second.After.Digest != w.want.String() || second.Before.Digest != w.want.String() || second.UpToSeq != uint64(w.events) {
		t.Errorf("second: %+v, want digest %s", second, w.want)
	}
	t.Logf("%d searches (%d ranked, %d failed), %d events published meanwhile; %d ms and %d ms", o.searches, o.ranked, o.failedSearches, published, first.TookMS, second.TookMS)
	if o.failedSearches > 0 || o.searches == 0 || o.ranked < o.searches*9/10 {
		t.Errorf("searches: %+v", o)
	}
	w.compare(&o)
	if !o.equal {
		t.Error("the file is not the expected graph")
	}
}

// watchApplied searches until it is stopped, and fails the test if the graph that searches see goes back.
func (w *world) watchApplied() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for last := uint64(0); ctx.Err() == nil; {
			a, err := w.cl.search(ctx, searchRequest("user-0"))
			if err == nil && a.AppliedSeq < last {
				w.t.Errorf("searches see the graph of event %d after that of %d", a.AppliedSeq, last)
			}
			last = max(last, a.AppliedSeq)
		}
	}()
	return func() { cancel(); <-done }
}

// A graph that does not fit into memory is made in passes and taken up; searches are answered.
func TestRebuildBeyondMemory(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(3, 3)), 2_000, "KITH_GRAPH_MEMORY=1048576")
	w.start()
	w.caughtUp()
	var o outcome
	probe := w.probe(2 * time.Millisecond)
	r := mustRebuild(t, w.dir)
	probe.end(t, &o)
	t.Logf("%d passes, %d searches, %d ranked, %d failed", r.Passes, o.searches, o.ranked, o.failedSearches)
	if r.Passes < 2 || r.After.Digest != w.want.String() || o.failedSearches > 0 || o.searches == 0 {
		t.Errorf("%+v, %+v", r, o)
	}
	w.settled(&o)
	if !o.equal {
		t.Error("not the expected graph")
	}
}

// One user's graph has drifted: it alone is changed back, by the running service and on the file.
func TestRebuildOneUser(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(4, 4)), 300)
	w.start()
	w.caughtUp()
	w.p.terminate(t)
	check := func(r server.Rebuild) {
		t.Helper()
		c := r.Replaced
		if r.Before.Digest == r.After.Digest || r.After.Digest != w.byUser["user-1"].String() || c == nil || c.Changed["fact"] != 1 || c.Gone["fact"] != 1 || c.New["fact"] != 1 ||
			r.Events["memory.facts.written.v1"] == 0 || r.PerUser[0].Events != 60 {
			t.Errorf("%+v", r)
		}
	}
	w.tamper("user-1", drift)
	// A fact that no event of the stream made goes when that is said, and not before: it may be of an earlier stream.
	if r, code, _ := rebuildIn(t, w.dir, "--user=user-1"); code != exitFailed || r.Done || !strings.Contains(r.Refused, "1 facts, schemas, decisions or tombstones") {
		t.Errorf("%d %+v: want it refused", code, r)
	}
	check(mustRebuild(t, w.dir, "--user=user-1", "--force"))
	wantFile(t, w.dir, w.want)

	w.tamper("user-1", drift)
	w.start()
	w.caughtUp()
	if got := digestOf(t, w.cl); got == w.want.String() {
		t.Fatal("the drift is not there")
	}
	check(mustRebuild(t, w.dir, "--user=user-1", "--force"))
	if got := digestOf(t, w.cl); got != w.want.String() {
		t.Errorf("digest %s after the rebuild, want %s", got, w.want)
	}
	if r := mustRebuild(t, w.dir, "--user=user-1"); r.Replaced.Equal != r.After.Records || r.Before != r.After {
		t.Errorf("again: %+v", r)
	}
	if r := mustRebuild(t, w.dir, "--user=a stranger"); r.After.Records != 0 || r.Replaced.Equal != 0 {
		t.Errorf("a stranger: %+v", r)
	}
	var o outcome
	w.settled(&o)
	if !o.equal {
		t.Error("not the expected graph")
	}
}

// Bad events are counted by a rebuild and buried by the feed, once each: those that no feed has seen when the service
// starts, those that were buried before a rebuild not again.
func TestRebuildBuriesNothing(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(8, 8)), 100)
	w.start("MEMORY_GRAPH_WRITE=false")
	_, js, done := w.eventStream()
	publishBad := func() {
		t.Helper()
		if _, err := js.Publish(context.Background(), "memory.events.nobody", []byte("no event")); err != nil {
			t.Fatal(err)
		}
	}
	publishBad() // 101
	done()
	w.p.terminate(t)
	r := mustRebuild(t, w.dir)
	if r.Bad != 1 || len(r.Problems) != 1 || r.Problems[0].Seq != 101 || r.UpToSeq != 100 || r.After.Digest != w.want.String() {
		t.Errorf("%+v: want one bad event, after the mark", r)
	}
	w.start()
	w.events++
	w.caughtUp()
	if h, err := w.health(); err != nil || h.Dead != 1 {
		t.Errorf("%+v, %v: want it buried by the feed", h, err)
	}
	r = mustRebuild(t, w.dir)
	if r.Bad != 1 || r.UpToSeq != 101 {
		t.Errorf("%+v: want one bad event that is settled", r)
	}
	var stream jetstream.Stream
	stream, js, done = w.eventStream()
	defer done()
	publishBad()
	w.events++
	w.caughtUp()
	if dead, err := js.Stream(context.Background(), feed.DeadStream); err != nil || dead.CachedInfo().State.Msgs != 2 {
		t.Errorf("dead letters: %v: want 2", err)
	}
	if info, err := stream.Info(context.Background()); err != nil || info.State.Consumers != 1 {
		t.Errorf("%v: %+v: want the feed's consumer alone", err, info)
	}
	w.p.terminate(t)
}

// What the stream no longer holds is not lost without being told to.
func TestRebuildFromPartOfTheLog(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(5, 5)), 300)
	w.start()
	w.caughtUp()
	stream, _, done := w.eventStream()
	if err := stream.Purge(context.Background(), jetstream.WithPurgeSequence(151)); err != nil {
		t.Fatal(err)
	}
	if err := stream.DeleteMsg(context.Background(), 200); err != nil {
		t.Fatal(err)
	}
	done()
	for _, args := range [][]string{nil, {"--user=user-2"}} {
		r, code, errs := rebuildIn(t, w.dir, args...)
		if code != exitFailed || r.Done || r.Refused == "" || r.Stream.First != 151 || r.Stream.Dropped != 150 || r.Stream.Deleted != 1 || r.Stream.Complete ||
			len(r.Stream.Gaps) != 1 || r.Stream.Gaps[0] != (server.SeqGap{From: 200, To: 200}) {
			t.Errorf("%v: %d %s %+v", args, code, errs, r)
		}
		if got := digestOf(t, w.cl); got != w.want.String() {
			t.Errorf("%v: digest %s after a refusal, want %s", args, got, w.want)
		}
	}
	// The rest of the events makes this.
	data, err := os.ReadFile(w.file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	rest := filepath.Join(t.TempDir(), "rest.jsonl")
	if err := os.WriteFile(rest, []byte(strings.Join(slices.Delete(lines, 199, 200)[150:], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	want, byUser := expectedGraph(t, rest)
	r := mustRebuild(t, w.dir, "--user=user-2", "--force")
	if r.After.Digest != byUser["user-2"].String() || r.Replaced.Gone["fact"] == 0 {
		t.Errorf("forced: %+v", r)
	}
	if r := mustRebuild(t, w.dir, "--force"); r.After.Digest != want.String() {
		t.Errorf("forced: %+v, want %s", r, want)
	}
	if got := digestOf(t, w.cl); got != want.String() {
		t.Errorf("digest %s, want %s", got, want)
	}
	w.p.terminate(t)
}

// kill -9 of a rebuild, on files and under a service, at random moments: the graph is the old one or the new one, whole, and
// the service that starts then ends in the expected graph.
func TestKilledRebuild(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 6))
	w := newWorld(t, rng, 1_500)
	took := time.Duration(mustRebuild(t, w.dir).TookMS) * time.Millisecond
	for round := range full(20, 3) {
		p := command(t, w.dir, w.env, "rebuild", "--from-log")
		time.Sleep(time.Duration(rng.Int64N(int64(took + took/4)))) // a kill is not to be in step with anything
		p.kill()
		code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=error", "digest")
		if code != exitOK || strings.TrimSpace(out) != w.want.String() {
			t.Fatalf("round %d: %d %s%s: want %s\n%s", round, code, out, errs, w.want, p.log)
		}
	}
	for round := range full(20, 2) {
		w.start()
		w.caughtUp()
		done := make(chan error, 1)
		go func() {
			var r server.Rebuild
			done <- w.cl.call(context.Background(), "POST", "/v1/admin/rebuild", server.RebuildRequest{From: server.RebuildFromLog}, &r)
		}()
		time.Sleep(time.Duration(rng.Int64N(int64(took + took/4)))) // likewise
		w.killAll()
		t.Logf("round %d: killed, or just done: %v", round, <-done)
		w.start()
		w.caughtUp()
		if got := digestOf(t, w.cl); got != w.want.String() {
			t.Fatalf("round %d: digest %s, want %s", round, got, w.want)
		}
		w.p.terminate(t)
	}
}

// An interrupted command, and maintenance that excludes other maintenance.
func TestRebuildIsInterruptedAndAlone(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(7, 7)), 1_500)
	w.start()
	w.caughtUp()
	p := command(t, w.dir, w.env, "rebuild", "--from-log")
	eventually(t, w.p, func() bool {
		s, err := w.cl.rebuildState(context.Background())
		return err == nil && s.Running
	})
	if code, _, errs := kith(t, "--data-dir", w.dir, "compact"); code != exitFailed || !strings.Contains(errs, rebuildName) {
		t.Errorf("a compaction meanwhile: %d %s", code, errs)
	}
	if err := p.stop(); err == nil || !strings.Contains(p.log.String(), "interrupted") {
		t.Errorf("interrupted: %v\n%s", err, p.log)
	}
	eventually(t, w.p, func() bool {
		s, err := w.cl.rebuildState(context.Background())
		return err == nil && !s.Running
	})
	if _, err := os.Stat(w.graph() + ".rebuilt"); err == nil {
		t.Error("the file that was begun is still there")
	}
	var o outcome
	w.settled(&o)
	if !o.equal {
		t.Error("not the expected graph")
	}
}

func TestRebuildBadCommands(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	for _, tc := range []struct {
		dir  string
		args []string
		code int
		says string
	}{
		{t.TempDir(), []string{"--from-log", "--from-store"}, exitUsage, "give neither"},
		{t.TempDir(), []string{"--from-log", "--no-neighbors"}, exitUsage, "--no-neighbors"},
		{missing, nil, exitUsage, missing},
		{missing, []string{"--from-log"}, exitUsage, missing},
		{t.TempDir(), []string{"--from-log"}, exitUsage, "no stream to rebuild from"},
		{t.TempDir(), []string{"--user=ann"}, exitUsage, "there is no graph to change"},
		{t.TempDir(), []string{"--from-store"}, exitUsage, "there is no vector store"},
		{t.TempDir(), nil, exitUsage, "there is no vector store"},
		{t.TempDir(), []string{"--user=" + strings.Repeat("x", 600)}, exitUsage, "600"},
	} {
		if code, _, errs := kith(t, append([]string{"--data-dir", tc.dir, "rebuild"}, tc.args...)...); code != tc.code || !strings.Contains(errs, tc.says) {
			t.Errorf("%v: %d %s: want %d and %q", tc.args, code, errs, tc.code, tc.says)
		}
		if left, err := filepath.Glob(filepath.Join(tc.dir, "*")); err != nil || len(left) > 0 {
			t.Errorf("%v: left behind: %v %v", tc.args, left, err)
		}
	}
}
