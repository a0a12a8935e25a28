package feed

import (
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

func TestWaiting(t *testing.T) {
	js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	want := func(n uint64, mark graphstore.Mark) {
		t.Helper()
		if got, err := Waiting(testContext(t), js, StreamsConfig{}, mark); err != nil || got != n {
			t.Errorf("%d events wait after %+v, %v: want %d", got, mark, err, n)
		}
	}
	want(0, graphstore.Mark{}) // and the streams are there
	publish(t, js, numbered(userA, 10)...)
	want(10, graphstore.Mark{})
	g := newGraph(t)
	feedOnce(t, boundFeed(t, js, g, "graph-1"))
	want(0, g.store.mark(t))
	publish(t, js, numbered("bob", 4)...)
	want(4, g.store.mark(t))
	want(14, graphstore.Mark{Log: "another stream", Seq: 10})
	stream, err := js.Stream(testContext(t), EventStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(testContext(t)); err != nil {
		t.Fatal(err)
	}
	want(0, g.store.mark(t))
	publish(t, js, numbered("cy", 2)...)
	want(2, g.store.mark(t)) // the four of bob are gone
}
