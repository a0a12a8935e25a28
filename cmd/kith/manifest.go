package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// The files of a backup. The manifest is written last: a directory without one is no backup.
const (
	backupGraph    = "graph.kuzu"
	backupManifest = "manifest.json"
)

// manifestFormat is the version of the manifest.
const manifestFormat = 1

// manifest says what a backup holds.
type manifest struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	Version string    `json:"version"` // of kith

	GraphID string `json:"graph_id"`
	Log     string `json:"log"` // the incarnation of the event stream
	Seq     uint64 `json:"seq"` // every event up to here is in the backup
	Digest  string `json:"digest"`

	Users    int `json:"users"`
	Facts    int `json:"facts"`
	Entities int `json:"entities"`
	Topics   int `json:"topics"`
	Edges    int `json:"edges"`

	Bytes  int64  `json:"bytes"`  // of the graph's file
	SHA256 string `json:"sha256"` // of the graph's file, as hexadecimal digits
}

func newManifest(head graphstore.Head, st graphstore.Stats) manifest {
	return manifest{
		Format: manifestFormat, Created: time.Now().UTC(), Version: buildVersion(),
		GraphID: head.ID, Log: head.Mark.Log, Seq: head.Mark.Seq, Digest: head.Digest.String(),
		Users: st.Spaces, Facts: st.Facts, Entities: st.Entities, Topics: st.Topics, Edges: st.Edges,
	}
}

// write completes the backup: what is in the directory is durable when it returns.
func (m manifest) write(dir string) (manifest, error) {
	var err error
	if m.SHA256, m.Bytes, err = sumFile(filepath.Join(dir, backupGraph)); err != nil {
		return m, err
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	return m, writeDurably(filepath.Join(dir, backupManifest), append(data, '\n'))
}

// readManifest reads the manifest of a backup and checks the graph's file against it.
func readManifest(dir string) (manifest, error) {
	var m manifest
	data, err := os.ReadFile(filepath.Join(dir, backupManifest))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s: no %s: not a backup, or one that was not completed", dir, backupManifest)
	}
	if err != nil {
		return m, fmt.Errorf("read backup: %w", err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read backup: %s: %w", backupManifest, err)
	}
	if m.Format != manifestFormat {
		return m, fmt.Errorf("read backup: %s: format %d: this version knows %d", backupManifest, m.Format, manifestFormat)
	}
	sum, bytes, err := sumFile(filepath.Join(dir, backupGraph))
	if err != nil {
		return m, fmt.Errorf("read backup: %w", err)
	}
	if sum != m.SHA256 || bytes != m.Bytes {
		return m, fmt.Errorf("read backup: %s has %d bytes with SHA-256 %s, the manifest says %d and %s: the backup is damaged",
			backupGraph, bytes, sum, m.Bytes, m.SHA256)
	}
	return m, nil
}

func sumFile(path string) (sum string, bytes int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if bytes, err = io.Copy(h, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), bytes, nil
}

// writeDurably writes a small file so that it is whole or not there, also after a loss of power.
func writeDurably(path string, data []byte) error {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
