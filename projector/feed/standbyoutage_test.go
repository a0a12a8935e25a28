package feed

import "testing"

// TestGroupOutlivesItsServer restarts the server under a group: the consumers by which standbys read are gone then, the pin too.
func TestGroupOutlivesItsServer(t *testing.T) {
	dir, addr := t.TempDir(), freeAddress(t)
	server := startServer(t, dir, addr)
	js := connectTo(t, server.ClientURL())
	if err := EnsureStreams(testContext(t), js, StreamsConfig{}); err != nil {
		t.Fatal(err)
	}
	a := join(t, js, "graph-a", newGraph(t))
	dead := publishMixed(t, js, userA, 0, 20)
	a.applied(t)
	b := join(t, js, "graph-b", newGraph(t))
	b.applied(t)
	if err := server.Shutdown(); err != nil {
		t.Fatal(err)
	}
	startServer(t, dir, addr)
	eventually(t, "the connection is back", js.Conn().IsConnected)
	dead += publishMixed(t, js, "bob", 0, 20)
	a.applied(t)
	b.applied(t)
	wantSettled(t, js)
	wantEqual(t, calmDigest(t, js), a.graph, b.graph)
	wantDead(t, js, dead)
	if (a.role() == RoleActive) == (b.role() == RoleActive) {
		t.Errorf("roles %q and %q: want one active", a.role(), b.role())
	}
}

// TestActiveOneWhoseStoreIsDownYields: the other one settles, and the one with the trouble catches up when it is over.
func TestActiveOneWhoseStoreIsDownYields(t *testing.T) {
	js := newJS(t)
	a := join(t, js, "graph-a", newGraph(t))
	dead := publishMixed(t, js, userA, 0, 20)
	a.applied(t)
	b := join(t, js, "graph-b", newGraph(t))
	b.applied(t)
	a.graph.faults.set(down)
	dead += publishMixed(t, js, "bob", 0, 20)
	b.becomes(t, RoleActive)
	b.applied(t)
	wantSettled(t, js)
	wantDead(t, js, dead)
	if s := a.Status(); s.Role != RoleStandby || s.Failures == 0 && s.LastApplied >= 40 {
		t.Errorf("status %+v: want it to stand by, in trouble", s)
	}
	a.graph.faults.none()
	a.applied(t)
	dead += publishMixed(t, js, "cy", 0, 20)
	a.applied(t)
	b.applied(t)
	wantEqual(t, calmDigest(t, js), a.graph, b.graph)
	wantDead(t, js, dead)
}

// TestGroupOutlivesItsConsumer deletes the durable consumer: it is made again and delivers all, which changes nothing, and the
// dead letters that come again are recognised.
func TestGroupOutlivesItsConsumer(t *testing.T) {
	ctx, js := testContext(t), newJS(t)
	a := join(t, js, "graph-a", newGraph(t))
	dead := publishMixed(t, js, userA, 0, 20)
	a.applied(t)
	b := join(t, js, "graph-b", newGraph(t))
	b.applied(t)
	if err := js.DeleteConsumer(ctx, EventStream, Durable); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the consumer is there again", func() bool {
		_, err := js.Consumer(ctx, EventStream, Durable)
		return err == nil
	})
	dead += publishMixed(t, js, "bob", 0, 20)
	a.applied(t)
	b.applied(t)
	wantSettled(t, js)
	wantEqual(t, calmDigest(t, js), a.graph, b.graph)
	wantDead(t, js, dead)
}
