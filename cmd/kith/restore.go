package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/child"
)

type restoreCmd struct {
	Dir     string `arg:"" type:"existingdir" help:"Directory of the backup."`
	Replace bool   `help:"Move a graph that is in the data directory aside, into a folder beside it; without this it is an error."`
}

// Run puts the graph of a backup into the data directory, on which no service may run, and reads it whole to see that it is
// what the backup says. The next service takes up the events since from the stream.
func (c restoreCmd) Run(e *env) (err error) {
	lock, err := lockData(e.cfg.DataDir)
	if err != nil {
		return fmt.Errorf("%w: stop it first", err)
	}
	defer func() { err = firstError(err, lock.unlock()) }()
	start := time.Now()
	m, err := readManifest(c.Dir)
	if err != nil {
		return err
	}
	path := graphPath(e.cfg)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make graph directory: %w", err)
	}
	if there := graphFiles(path); len(there) > 0 && !c.Replace {
		return &usageError{fmt.Errorf("there is a graph already: %s (--replace moves it aside)", there[0])}
	}
	copied := path + ".restoring"
	if err := copyDurably(filepath.Join(c.Dir, backupGraph), copied); err != nil {
		return fmt.Errorf("copy graph (nothing was changed): %w", err)
	}
	if err := e.checkGraph(copied, m); err != nil {
		return errors.Join(fmt.Errorf("the copy is not what the backup says (nothing was changed): %w", err), removeGraph(copied))
	}
	if err := dropCheckpoints(e.cfg); err != nil {
		return errors.Join(err, removeGraph(copied))
	}
	aside, err := e.takePlace(copied, path)
	if err != nil {
		return err
	}
	if aside != "" {
		e.printf("the graph that was there is in %s now\n", aside)
	}
	e.printf("restored %s: %d facts of %d users, %d entities, %d topics, %d edges (%s)\n  digest %s\n", path, m.Facts, m.Users, m.Entities, m.Topics, m.Edges,
		time.Since(start).Round(time.Millisecond), m.Digest)
	e.printf("  every event up to stream sequence %d is in it; kith serve takes the later ones from the stream\n", m.Seq)
	return nil
}

// graphFiles returns those that are there.
func graphFiles(path string) []string {
	var there []string
	for _, suffix := range child.FileSuffixes() {
		if _, err := os.Lstat(path + suffix); err == nil {
			there = append(there, path+suffix)
		}
	}
	return there
}

// removeGraph removes the files of a graph and its lock file.
func removeGraph(path string) error {
	var errs []error
	for _, file := range append(graphFiles(path), path+".lock") {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// takePlace puts a checked graph in its place and what was there aside, under the lock of the graph: the store's process of a
// service that was killed may still be at its last transaction.
func (e *env) takePlace(from, path string) (aside string, err error) {
	ctx, cancel := context.WithTimeout(e.ctx, 2*orphanWait)
	defer cancel()
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err == nil && !got {
		e.log.Info("waiting for the store's process of a service that has ended to let go of the graph", "at most", 2*orphanWait)
	}
	if got, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil || !got {
		return "", fmt.Errorf("the graph in %s is in use by another process: %w", path, errors.Join(err, ctx.Err()))
	}
	defer func() { err = firstError(err, lock.Unlock()) }()
	if there := graphFiles(path); len(there) > 0 {
		if aside, err = moveAside(path, there); err != nil {
			return "", err
		}
	}
	err = errors.Join(os.Rename(from, path), syncDir(filepath.Dir(path)))
	if err != nil {
		return "", fmt.Errorf("put graph in its place (what was there is in %s): %w", aside, err)
	}
	return aside, removeGraph(from)
}

func moveAside(path string, there []string) (aside string, err error) {
	aside = path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Mkdir(aside, 0o700); err != nil {
		return "", fmt.Errorf("move graph aside: %w", err)
	}
	for _, from := range there {
		if err := os.Rename(from, filepath.Join(aside, filepath.Base(from))); err != nil {
			return "", fmt.Errorf("move graph aside, into %s: %w", aside, err)
		}
	}
	return aside, errors.Join(syncDir(aside), syncDir(filepath.Dir(path)))
}

// copyDurably copies a file; after an error there is no copy.
func copyDurably(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// checkGraph reads a whole graph and compares it with the manifest.
func (e *env) checkGraph(path string, m manifest) (err error) {
	file, err := e.openGraph(path, child.Hooks{}, false)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, file.Close()) }()
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	if _, err := file.start(ctx); err != nil {
		return err
	}
	var d graphstore.Digest
	if err := file.LoadAll(ctx, func(c graphstore.Change) error { d.Add(c); return nil }); err != nil {
		return err
	}
	head, err := file.Head(ctx)
	if err != nil {
		return err
	}
	if got := d.String(); got != m.Digest || head.ID != m.GraphID {
		return fmt.Errorf("digest %s of graph %s: want %s of %s", got, head.ID, m.Digest, m.GraphID)
	}
	if want := (graphstore.Mark{Log: m.Log, Seq: m.Seq}); head.Mark != want {
		return fmt.Errorf("it goes up to %+v: want %+v", head.Mark, want)
	}
	return nil
}
