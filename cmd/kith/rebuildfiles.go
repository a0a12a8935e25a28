package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
	"github.com/kithgraph/kith/internal/server"
	"github.com/kithgraph/kith/vdb"
)

// rebuildFiles rebuilds on the files of a data directory that no service runs on. It returns what it did and whom the stream was
// asked from.
func (e *env) rebuildFiles(ctx context.Context, req server.RebuildRequest, state *rebuildState) (out server.Rebuild, via string, err error) {
	if req, err = rebuildRequest(req); err != nil {
		return out, "", &usageError{err}
	}
	space, err := rebuildSpace(req)
	if err != nil {
		return out, "", &usageError{err}
	}
	if _, err := os.Stat(e.cfg.DataDir); errors.Is(err, fs.ErrNotExist) {
		return out, "", &usageError{fmt.Errorf("no service runs on the data directory %s, and it does not exist (KITH_DATA_DIR, --data-dir)", e.cfg.DataDir)}
	}
	if err := e.somethingToRebuild(req); err != nil {
		return out, "", err
	}
	lock, err := lockData(e.cfg.DataDir)
	if err != nil {
		return out, "", err
	}
	defer func() { err = firstError(err, lock.unlock()) }()
	if err := errors.Join(sweepSockets(e.cfg.DataDir), sweepRebuild(e.cfg)); err != nil {
		e.log.Warn("files of earlier runs stay", "err", err)
	}
	js, via, done, err := e.openStream()
	if err != nil {
		return out, "", err
	}
	defer func() { err = firstError(err, done()) }()
	var store vdb.Store
	if req.From != server.RebuildFromLog {
		if store, err = e.openVectors(); err != nil {
			return out, "", err
		}
		defer func() { err = firstError(err, store.Close()) }()
		via += "; and the points in " + e.vectorsName()
	}
	file, err := e.openGraph(graphPath(e.cfg), child.Hooks{}, false)
	if err != nil {
		return out, "", err
	}
	defer func() { err = firstError(err, file.Close()) }()
	r, err := e.newRebuild(js, store, req, state)
	if err != nil {
		return out, "", err
	}
	defer r.close()
	out, err = r.onFile(ctx, file, space)
	return out, via, err
}

// somethingToRebuild is an error where the sources, or the graph of which one user's part is to be changed, are not there: before anything
// is opened, which would make them.
func (e *env) somethingToRebuild(req server.RebuildRequest) error {
	if _, err := os.Stat(graphPath(e.cfg)); req.UserID != "" && errors.Is(err, fs.ErrNotExist) {
		return &usageError{fmt.Errorf("there is no graph to change one user's part of: %w (without --user the whole is made)", err)}
	}
	_, err := os.Stat(natsDir(e.cfg))
	noStream := e.cfg.NATS.URL == "" && errors.Is(err, fs.ErrNotExist)
	switch {
	case req.From == server.RebuildFromLog && noStream:
		return &usageError{fmt.Errorf("there is no stream to rebuild from: NATS_URL is not set, and there is no %s", natsDir(e.cfg))}
	case req.From == server.RebuildFromStore, req.From == server.RebuildFromBoth && noStream:
		return e.someVectors()
	default:
		return nil
	}
}

// onFile does it on the graph's file.
func (r *rebuild) onFile(ctx context.Context, file *graphFile, space graphstore.Space) (server.Rebuild, error) {
	r.state.begin(r.req)
	err := r.ask(ctx)
	switch {
	case err != nil:
	case space.IsZero():
		err = r.fileWhole(ctx, file)
	default:
		err = r.fileUser(ctx, file, space)
	}
	r.out.TookMS = time.Since(r.start).Milliseconds()
	r.state.end(r.out, err)
	return r.out, err
}

// fileWhole makes a new file in the place of the one that is there. One that cannot be opened is moved aside.
func (r *rebuild) fileWhole(ctx context.Context, file *graphFile) error {
	path := graphPath(r.e.cfg)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make graph directory: %w", err)
	}
	unreadable := r.lookAt(ctx, file)
	foreign := errors.Is(unreadable, child.ErrForeign) || errors.Is(unreadable, child.ErrNewerSchema)
	if errors.Is(unreadable, child.ErrInUse) || ctx.Err() != nil || (foreign && !r.req.Force) {
		return unreadable
	}
	if err := r.scan(ctx); err != nil {
		return err
	}
	if unreadable == nil && r.out.Before.Facts > 0 {
		why, err := r.emptied(func() (bool, error) { return storedIn(ctx, file) })
		if r.out.Refused = why; err != nil || why != "" {
			return err
		}
	}
	b, err := r.build(ctx, file)
	if err != nil {
		return err
	}
	if why := r.loses(r.out.Before); why != "" && !r.req.Force && unreadable == nil {
		r.out.Refused = why + " (--force does it all the same)"
		return removeGraph(b.path)
	}
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), removeGraph(b.path))
	}
	r.state.swapping("putting the new graph in its place")
	start := time.Now()
	if err := dropCheckpoints(r.e.cfg); err != nil {
		return errors.Join(err, removeGraph(b.path))
	}
	if unreadable == nil {
		err = file.replace(ctx, b)
	} else {
		r.out.DigestError = unreadable.Error()
		if r.out.Aside, err = r.e.takePlace(b.path, path); err == nil {
			_, err = file.start(ctx)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("take up the rebuilt graph: %w", err), removeGraph(b.path))
	}
	r.settle(ctx, file, b, 0)
	r.out.Done, r.out.SwapMS = true, time.Since(start).Milliseconds()
	return nil
}

// lookAt notes what there is, or returns why that cannot be told.
func (r *rebuild) lookAt(ctx context.Context, file *graphFile) error {
	r.state.phase("opening the graph")
	if _, err := file.start(ctx); err != nil {
		return err
	}
	head, err := file.Head(ctx)
	if err != nil {
		return err
	}
	stats, err := file.Stats(ctx)
	if err != nil {
		return err
	}
	r.before(head, stats)
	return nil
}

// fileUser changes the graph of one user.
func (r *rebuild) fileUser(ctx context.Context, file *graphFile, space graphstore.Space) error {
	r.state.phase("opening the graph")
	if _, err := file.start(ctx); err != nil {
		return err
	}
	head, err := file.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head of graph: %w", err)
	}
	r.out.GraphID = head.ID
	if err := r.scan(ctx); err != nil {
		return err
	}
	r.state.phase("reading the stream")
	u := r.newUserReplay(space)
	start := time.Now()
	if err := r.readUser(ctx, u); err != nil {
		return err
	}
	r.out.ReadMS = time.Since(start).Milliseconds()
	old, err := loadSpace(ctx, file, space)
	if err != nil {
		return err
	}
	start = time.Now()
	changes, err := r.compareUser(u, old, head.Mark)
	if err != nil || r.out.Refused != "" {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.state.swapping("changing the graph")
	if err := dropCheckpoints(r.e.cfg); err != nil {
		return err
	}
	if err := file.Apply(context.WithoutCancel(ctx), changes); err != nil {
		return fmt.Errorf("change graph: %w", err)
	}
	r.out.Done, r.out.WriteMS = true, time.Since(start).Milliseconds()
	return nil
}

// loadSpace reads one user's graph.
func loadSpace(ctx context.Context, file *graphFile, space graphstore.Space) (*graphstore.Snapshot, error) {
	b := graphstore.NewBuilder(graphstore.NewSnapshot(space))
	if err := file.Load(ctx, space, b.Add); err != nil {
		return nil, fmt.Errorf("read graph of user: %w", err)
	}
	return b.Snapshot(), nil
}
