package feed_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/live"
	"github.com/kithgraph/kith/internal/natsserver"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/projector/feed"
	"github.com/nats-io/nats.go/jetstream"
)

// A whole service in one process: a NATS server, a publisher, and a feed into a graph in memory.
func Example() {
	if err := wholeService(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// stored at sequence 1, again: false
	// stored at sequence 1, again: true
	// present facts: 2
	// stopped
}

func wholeService() error {
	dir, err := os.MkdirTemp("", "feed-example")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the example is over
	quiet := slog.New(slog.DiscardHandler)
	server, err := natsserver.Start(natsserver.Config{Dir: dir, Logger: quiet})
	if err != nil {
		return err
	}
	defer server.Shutdown() //nolint:errcheck // the example is over

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	nc, err := feed.Connect(ctx, "", feed.ConnectConfig{InProcess: server, Logger: quiet})
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	graph := live.New(graphstoretest.NewMemory(), live.Config{Logger: quiet})
	if err := graph.Load(ctx); err != nil {
		return err
	}
	proj, err := projector.New(projector.Config{})
	if err != nil {
		return err
	}
	f, err := feed.New(js, proj, graph, feed.Config{Logger: quiet})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- f.Run(running) }()

	if err := feed.EnsureStreams(ctx, js, feed.StreamsConfig{}); err != nil {
		return err
	}
	if err := publishTwice(ctx, js, f); err != nil {
		return err
	}
	space, err := graphstore.NewSpace("asha")
	if err != nil {
		return err
	}
	view, err := graph.View(space)
	if err != nil {
		return err
	}
	fmt.Println("present facts:", view.Present())
	stop()
	if err := <-done; err != nil {
		return err
	}
	fmt.Println("stopped")
	return nil
}

func publishTwice(ctx context.Context, js jetstream.JetStream, f *feed.Feed) error {
	p, err := feed.NewPublisher(js, feed.PublisherConfig{})
	if err != nil {
		return err
	}
	defer p.Close()
	event := []byte(`{"specversion": "1.0", "id": "write-1", "type": "memory.facts.written.v1", "time": "2026-11-30T12:00:00Z",
		"data": {"user_id": "asha", "facts": [{"id": "f1", "op": "add"}, {"id": "f2", "op": "add"}]}}`)
	for range 2 {
		receipt, err := p.Publish(ctx, event)
		if err != nil {
			return err
		}
		fmt.Printf("stored at sequence %d, again: %t\n", receipt.Sequence, receipt.Duplicate)
		if err := f.WaitApplied(ctx, receipt.Sequence); err != nil { // now reads see the write
			return err
		}
	}
	return nil
}
