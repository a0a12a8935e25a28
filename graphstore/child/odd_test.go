package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// odd is a store in memory that does on demand what stores should not. It obeys the ids of facts.
type odd struct {
	*graphstoretest.Memory
	yielded      atomic.Int64
	how          string // the content of its file, which LoadAll obeys
	checkpointed chan struct{}
	leaks        [][]byte
}

// oddOpen names the environment variable that says how opening fails; unset: it does not.
const oddOpen = "KITH_TEST_OPEN"

func openOdd(path string) (graphstore.Store, error) {
	content, _ := os.ReadFile(path) // no file: nothing to fail of
	how := os.Getenv(oddOpen)
	if len(content) > 0 {
		how = string(content)
	}
	switch how {
	case "panic":
		panic("odd opening")
	case "kill":
		die()
	case "error":
		return nil, errOfTheStore
	case "space":
		return nil, fmt.Errorf("write: %w", syscall.ENOSPC)
	case "permission":
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	case "hang":
		select {}
	case "in use":
		return nil, fmt.Errorf("%w: process 4711", kuzu.ErrInUse)
	case "in use for a second":
		if time.Since(began) < time.Second {
			return nil, fmt.Errorf("%w: process 4711", kuzu.ErrInUse)
		}
	case "damaged":
		return nil, fmt.Errorf("open: %w", graphstore.ErrDamaged)
	case "foreign":
		return nil, kuzu.ErrForeign
	}
	return &odd{Memory: graphstoretest.NewMemory(), how: how, checkpointed: make(chan struct{})}, nil
}

// began is when this process did.
var began = time.Now()

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (o *odd) Apply(ctx context.Context, changes []graphstore.Change) error {
	return o.ApplyMarked(ctx, changes, graphstore.Mark{})
}

func (o *odd) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	err := o.Memory.ApplyMarked(ctx, changes, mark)
	for _, c := range changes {
		if c.Fact == nil {
			continue
		}
		switch c.Fact.ID {
		case "panic":
			panic("odd apply")
		case "kill":
			die()
		case "damaged":
			return fmt.Errorf("apply: %w", graphstore.ErrDamaged)
		case "leak":
			leak := make([]byte, 64<<20)
			for i := range leak {
				leak[i] = 1
			}
			o.leaks = append(o.leaks, leak)
		case "after the checkpoint":
			fmt.Fprintln(os.Stderr, "waiting")
			<-o.checkpointed
		case "special":
			return fmt.Errorf("apply: %w", errOfTheStore)
		case "wait for the end of the context":
			fmt.Fprintln(os.Stderr, "waiting")
			<-ctx.Done()
			return ctx.Err()
		case "commit at the end of the context":
			fmt.Fprintln(os.Stderr, "waiting")
			<-ctx.Done()
			return nil
		case "hang":
			fmt.Fprintln(os.Stderr, "waiting")
			<-make(chan struct{})
		case "deadline":
			if _, has := ctx.Deadline(); !has {
				return fmt.Errorf("no deadline")
			}
		}
		// "until FILE": stay in the transaction until there is such a file, then leave another
		if name, is := strings.CutPrefix(c.Fact.ID, "until "); is {
			fmt.Fprintln(os.Stderr, "waiting")
			for _, err := os.Stat(name); err != nil; _, err = os.Stat(name) {
			}
			_ = os.WriteFile(name+".done", nil, 0o600)
		}
	}
	return err
}

// Checkpoint lasts until the end of the context.
func (o *odd) Checkpoint(ctx context.Context) error {
	fmt.Fprintln(os.Stderr, "waiting")
	<-ctx.Done()
	close(o.checkpointed)
	return ctx.Err()
}

// Backup writes the id of the graph.
func (o *odd) Backup(ctx context.Context, path string) (graphstore.Head, graphstore.Stats, error) {
	h, err := o.Head(ctx)
	if err != nil {
		return h, graphstore.Stats{}, err
	}
	st, err := o.Memory.Stats(ctx)
	return h, st, errors.Join(err, os.WriteFile(path, []byte(h.ID), 0o600))
}

func (o *odd) Leaked() int64 { return int64(len(o.leaks)) << 26 }

func (o *odd) LoadAll(ctx context.Context, yield func(graphstore.Change) error) error {
	switch o.how {
	case "panic at load":
		panic("odd load")
	case "kill at load":
		die()
	case "damaged at load":
		return fmt.Errorf("load: %w", graphstore.ErrDamaged)
	}
	return o.Memory.LoadAll(ctx, func(c graphstore.Change) error {
		o.yielded.Add(1)
		return yield(c)
	})
}

// Stats says how much loads yielded so far.
func (o *odd) Stats(context.Context) (graphstore.Stats, error) {
	return graphstore.Stats{Facts: int(o.yielded.Load())}, nil
}
