package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/kithgraph/kith/graphstore"
)

// DefaultOrphanWait is how long a child whose parent is gone gives the transaction in hand.
const DefaultOrphanWait = time.Minute

// ErrNotChild is returned by [Serve] in a process that no parent of this package started.
var ErrNotChild = errors.New("store child: this command is started by the program itself, not by hand")

// ServeConfig says how a child serves. The zero value is sound.
type ServeConfig struct {
	// Errors must be the value that the parent has in [Config].
	Errors Errors
	// OrphanWait bounds how long the child finishes the transaction in hand when its parent is gone. Ending in the middle
	// of one is as safe as a crash. Defaults to DefaultOrphanWait.
	OrphanWait time.Duration
	// Build writes a new graph at path from the records, which it may ask for once, with the id and the mark for its head.
	// What it returns is returned by [Build] in the parent. It must end soon after ctx does, and leave nothing at path when
	// it returns an error. Nil: this child builds nothing.
	Build func(ctx context.Context, path string, id string, mark graphstore.Mark, records func(yield func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error)
	// Logger gets what cannot be answered. It must not write to os.Stdout. Defaults to slog.Default.
	Logger *slog.Logger
}

// Serve is the child's side: it answers the calls of the parent that started this process, on the store that open returns
// for the path the parent names (or by building a graph, if that is what the parent wants), and returns when the parent is done with it. The caller then ends the process with 0 for
// nil. When the parent is gone Serve ends the process itself.
//
// Signals that are meant for a whole group of processes (interrupt, terminate, hang-up) are ignored: the parent decides
// when the child ends, and a child that outlives its parent ends by itself.
//
// What the store can do beyond the contract ([Store.Backup], [Store.Checkpoint], [Store.Account]) is found by its methods.
//
// A panic of the store ends the process, as it should: nobody knows what state it left.
func Serve(open func(path string) (graphstore.Store, error), cfg ServeConfig) error {
	if os.Getenv(cookieKey) != cookieValue {
		return ErrNotChild
	}
	cfg.OrphanWait = cmp.Or(cfg.OrphanWait, DefaultOrphanWait)
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if err := cfg.Errors.validate(); err != nil {
		return fmt.Errorf("store child: %w", err)
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// Without a parent the output has no reader. A write to it must fail, not end the process in a transaction.
	signal.Ignore(syscall.SIGPIPE)
	lifeline, err := openLifeline()
	if err != nil {
		return fmt.Errorf("store child: %w", err)
	}
	s := newService(open, cfg)
	go func() {
		lifeline.await()
		s.orphaned()
		removeSocket()
		os.Exit(0)
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake(),
		Plugins:         plugin.PluginSet{pluginName: &bridge{service: s}},
		GRPCServer:      newServer,
		Logger:          hclog.NewNullLogger(),
	})
	return s.finish()
}

func newServer(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts, grpc.ForceServerCodecV2(newCodec()), grpc.StaticStreamWindowSize(windowBytes),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))...)
}
