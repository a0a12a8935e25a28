package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/graphstore/kuzu"
)

// What the store's process of a soak run is told by its environment.
const (
	soakLogEnv     = "KITH_SOAK_COMMITS" // file to which it adds an account of each commit; makes it one of these processes
	soakFaultsEnv  = "KITH_SOAK_FAULTS"  // every so many commits one fails; 0: none
	soakProfileEnv = "KITH_SOAK_PROFILE" // file for a profile of its processor time
)

// errSoak is the trouble of a store that has none of its own.
var errSoak = errors.New("injected: the store failed")

// soakCommit is the account of one commit.
type soakCommit struct {
	At      time.Time
	Took    time.Duration
	Changes int
	Failed  string // before, after, or nothing
}

// soakStore is the store of the graph's process with commits that fail: one in every fails, in turns before anything
// happened and after it was committed.
type soakStore struct {
	*kuzu.Store
	every, n int
	log      *json.Encoder
	profile  *os.File
}

// soakChild serves such a store instead of the plain one, if this process was started for it.
func soakChild() bool {
	path := os.Getenv(soakLogEnv)
	if path == "" || len(os.Args) < 2 || os.Args[1] != graphChildName {
		return false
	}
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "soak child:", err)
			os.Exit(exitFailed)
		}
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	fail(err)
	every, err := strconv.Atoi(os.Getenv(soakFaultsEnv))
	fail(err)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	s := &soakStore{every: every, log: json.NewEncoder(log)}
	if path := os.Getenv(soakProfileEnv); path != "" {
		s.profile, err = os.Create(fmt.Sprintf("%s.%d", path, os.Getpid()))
		fail(err)
		fail(pprof.StartCPUProfile(s.profile))
	}
	open := func(path string) (graphstore.Store, error) {
		var err error
		if s.Store, err = kuzu.Open(path, kuzu.Config{Logger: quiet}); err != nil {
			return nil, err // not the store: without the other it is none
		}
		return s, nil
	}
	fail(child.Serve(open, child.ServeConfig{Errors: graphErrors(), OrphanWait: orphanWait, Build: buildGraph(kuzu.Config{Logger: quiet}), Logger: quiet}))
	return true
}

// ApplyMarked implements [graphstore.Store].
func (s *soakStore) ApplyMarked(ctx context.Context, changes []graphstore.Change, mark graphstore.Mark) error {
	c := soakCommit{At: time.Now(), Changes: len(changes)}
	if len(changes) > 0 {
		s.n++
	}
	if len(changes) > 0 && s.every > 0 && s.n%s.every == s.every/2 {
		c.Failed = "before"
		if s.n/s.every%2 == 1 {
			c.Failed = "after"
		}
	}
	var err error
	if c.Failed != "before" {
		err = s.Store.ApplyMarked(ctx, changes, mark)
		c.Took = time.Since(c.At)
	}
	if err == nil && c.Failed != "" {
		err = errSoak
	}
	return errors.Join(err, s.log.Encode(c))
}

// Close implements [graphstore.Store].
func (s *soakStore) Close() error {
	if s.profile != nil {
		pprof.StopCPUProfile()
	}
	return s.Store.Close()
}

// readSoakCommits returns the account of all processes. The last line of one that was killed may be cut short.
func readSoakCommits(t *testing.T, path string) (commits []soakCommit) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var c soakCommit
		if err := json.Unmarshal([]byte(line), &c); err == nil && c.Changes > 0 {
			commits = append(commits, c)
		}
	}
	return commits
}
