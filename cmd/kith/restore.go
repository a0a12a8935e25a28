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
		return err
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
	aside, err := c.clear(path)
	if err != nil {
		return err
	}
	if err := copyDurably(filepath.Join(c.Dir, backupGraph), path); err != nil {
		return fmt.Errorf("copy graph: %w", err)
	}
	if err := e.checkGraph(m); err != nil {
		return fmt.Errorf("restored graph is not what the backup says: %w", err)
	}
	if aside != "" {
		e.printf("the graph that was there is in %s now\n", aside)
	}
	e.printf("restored %s: %d facts of %d users, %d entities, %d topics, %d edges (%s)\n  digest %s\n", path, m.Facts, m.Users, m.Entities, m.Topics, m.Edges,
		time.Since(start).Round(time.Millisecond), m.Digest)
	e.printf("  every event up to stream sequence %d is in it; kith serve takes the later ones from the stream\n", m.Seq)
	return nil
}

// clear makes room for the graph: it moves what is there aside, or refuses.
func (c restoreCmd) clear(path string) (aside string, err error) {
	var there []string
	for _, suffix := range []string{"", ".wal", ".shadow"} {
		if _, err := os.Lstat(path + suffix); err == nil {
			there = append(there, path+suffix)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if len(there) == 0 {
		return "", nil
	}
	if !c.Replace {
		return "", &usageError{fmt.Errorf("there is a graph already: %s (--replace moves it aside)", there[0])}
	}
	aside = path + ".replaced-" + time.Now().UTC().Format("20060102T150405Z")
	if err := os.Mkdir(aside, 0o700); err != nil {
		return "", fmt.Errorf("move graph aside: %w", err)
	}
	for _, from := range there {
		if err := os.Rename(from, filepath.Join(aside, filepath.Base(from))); err != nil {
			return "", fmt.Errorf("move graph aside: %w", err)
		}
	}
	return aside, errors.Join(syncDir(aside), syncDir(filepath.Dir(path)))
}

// copyDurably copies a file to a name that is whole or not there.
func copyDurably(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	tmp := to + ".restoring"
	out, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := os.Rename(tmp, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// checkGraph reads the whole graph and compares it with the manifest. What does not fit is moved to the quarantine by the
// store, or left for the operator to see.
func (e *env) checkGraph(m manifest) (err error) {
	file, err := e.openGraph(child.Hooks{})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, file.Close()) }()
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	if _, err := file.start(ctx); err != nil {
		return err
	}
	if file.lost() {
		return graphstore.ErrDamaged
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
	return nil
}
