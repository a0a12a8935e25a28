package kuzu

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/kithgraph/kith/graphstore"
)

// TestLogThatDoesNotFitThePoolIsReplayed writes, with a large pool and no checkpoint, updates that hold more memory than
// the smallest pool has: each transaction touches every vector of a column, and each of these costs 16 KiB until a
// checkpoint. 15 vectors in 350 transactions make 84 MiB of a log of a few hundred KiB.
func TestLogThatDoesNotFitThePoolIsReplayed(t *testing.T) {
	const topics, perVector, transactions = 30_000, 2048, 350
	cfg := testConfig()
	cfg.BufferPoolBytes, cfg.CheckpointRecords, cfg.hooks.keepLog = 1<<30, 1<<30, true
	s := mustOpen(t, filepath.Join(t.TempDir(), "graph"), cfg)
	var want graphstore.Digest
	var all []graphstore.Change
	for i := range topics {
		topic := graphstore.Topic{ID: fmt.Sprint(i)}
		all = append(all, graphstore.PutTopic(ada, topic))
		if i%perVector == 0 {
			topic.Facts = transactions
		}
		want.Add(graphstore.PutTopic(ada, topic))
	}
	mustApply(t, s, all...)
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range transactions {
		var tx []graphstore.Change
		for i := 0; i < topics; i += perVector {
			tx = append(tx, graphstore.PutTopic(ada, graphstore.Topic{ID: fmt.Sprint(i), Facts: n + 1}))
		}
		onWriter(t, s, s.budget.reset) // the store itself would have made checkpoints
		mustApply(t, s, tx...)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	cfg = testConfig()
	cfg.BufferPoolBytes = MinBufferPoolBytes
	if e, err := openEngine(s.path, cfg.withDefaults(), &s.leaked); err == nil {
		e.close()
		t.Fatal("the log fits the smallest pool: the test shows nothing")
	}
	again := mustOpen(t, s.path, cfg)
	defer again.Close()
	if got := digestOf(t, again); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := fileSize(again.path + walSuffix); n != 0 {
		t.Errorf("%d bytes of log are left after the start", n)
	}
}
