package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/kithgraph/kith/internal/server"
)

type backupCmd struct {
	Dir string `arg:"" type:"path" help:"Directory for the backup; made if need be, must be empty. On the machine of the service."`
}

// Run writes a backup of the graph, by the running service or from the files.
func (c backupCmd) Run(e *env) (err error) {
	cl, err := e.newClient()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cl.close()) }()
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	var b server.Backup
	if err := cl.call(e.ctx, http.MethodPost, "/v1/admin/backup", server.BackupRequest{Dir: dir}, &b); err != nil {
		return err
	}
	e.printf("asked %s\n", cl.via)
	e.printf("backup %s: %d facts of %d users, %d entities, %d topics, %d edges, %s, in %s\n",
		b.Dir, b.Facts, b.Users, b.Entities, b.Topics, b.Edges, bytesText(b.Bytes), time.Duration(b.TookMS)*time.Millisecond)
	e.printf("  digest %s\n  every event up to stream sequence %d is in it; a restored graph takes the later ones from the stream\n", b.Digest, b.Seq)
	return nil
}

// Backup writes a backup of the graph into a directory.
func (s *service) Backup(ctx context.Context, dir string) (server.Backup, error) {
	if s.host == nil {
		return server.Backup{}, fmt.Errorf("%w: %s", server.ErrNoGraph, s.sw.RerankRule)
	}
	if _, err := s.host.View(probeSpace()); err != nil {
		return server.Backup{}, fmt.Errorf("%w: %w", server.ErrNoGraph, err)
	}
	start := time.Now()
	var m manifest
	err := s.host.maintenance.try("backup", func() (err error) {
		if err := s.e.prepareBackupDir(dir); err != nil {
			return err
		}
		m, err = s.host.backup(ctx, dir)
		return err
	})
	if err != nil {
		return server.Backup{}, err
	}
	s.e.log.Info("backup written", "dir", dir, "facts", m.Facts, "edges", m.Edges, "seq", m.Seq, "took", time.Since(start))
	return server.Backup{
		Dir: dir, GraphID: m.GraphID, Digest: m.Digest, Log: m.Log, Seq: m.Seq, Users: m.Users, Facts: m.Facts,
		Entities: m.Entities, Topics: m.Topics, Edges: m.Edges, Bytes: m.Bytes, TookMS: time.Since(start).Milliseconds(),
	}, nil
}

// prepareBackupDir makes the directory. One that holds anything is refused: nothing is overwritten. So is one in the data
// directory, where it would be in the way of the graph and go with it.
func (e *env) prepareBackupDir(dir string) error {
	data, err := filepath.Abs(e.cfg.DataDir)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(data, dir); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("%w: directory %s is in the data directory %s: want one outside", server.ErrBadRequest, dir, data)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: make directory: %w", server.ErrBadRequest, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", server.ErrBadRequest, err)
	}
	if len(entries) == 1 && entries[0].Name() == backupGraph+".partial" {
		return nil // of an earlier attempt whose store died; it is made anew
	}
	if len(entries) > 0 {
		return fmt.Errorf("%w: directory %s is not empty: it has %s", server.ErrBadRequest, dir, entries[0].Name())
	}
	return nil
}

// backup has the store copy itself, and describes the copy.
func (h *graphHost) backup(ctx context.Context, dir string) (manifest, error) {
	store, err := h.file.started()
	if err != nil {
		return manifest{}, fmt.Errorf("%w: %w", server.ErrNoGraph, err)
	}
	copied := filepath.Join(dir, backupGraph)
	head, stats, err := store.Backup(ctx, copied)
	if err != nil {
		return manifest{}, fmt.Errorf("copy graph: %w", err)
	}
	m, err := newManifest(head, stats).write(dir)
	if err != nil {
		err = fmt.Errorf("describe backup: %w", err)
		if rerr := os.Remove(copied); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return m, err
}
