package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/internal/server"
)

// oldCopies returns the graphs in the data directory that were moved aside: those that could not be trusted and those that
// a restore took the place of. What a compaction or a build is at is none of them.
func oldCopies(cfg config.Config) ([]server.OldCopy, error) {
	graph := graphPath(cfg)
	var dirs []string
	for _, pattern := range []string{graph + ".quarantine/*", graph + ".replaced-*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("list old copies: %w", err)
		}
		dirs = append(dirs, found...)
	}
	copies := make([]server.OldCopy, 0, len(dirs))
	for _, dir := range dirs {
		size, err := sizeBelow(dir)
		if err != nil {
			return nil, fmt.Errorf("list old copies: %w", err)
		}
		rel, err := filepath.Rel(cfg.DataDir, dir)
		if err != nil {
			return nil, fmt.Errorf("list old copies: %w", err)
		}
		copies = append(copies, server.OldCopy{Path: rel, Bytes: size})
	}
	return copies, nil
}

// sizeBelow adds up the sizes of the regular files below a path.
func sizeBelow(path string) (bytes int64, err error) {
	err = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return ignoreGone(err)
		}
		info, err := entry.Info()
		if err == nil {
			bytes += info.Size()
		}
		return ignoreGone(err)
	})
	return bytes, err
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeOldCopies removes them.
func removeOldCopies(cfg config.Config, copies []server.OldCopy) error {
	for i := range copies {
		if err := os.RemoveAll(filepath.Join(cfg.DataDir, copies[i].Path)); err != nil {
			return fmt.Errorf("remove old copy: %w", err)
		}
		copies[i].Erased = true
	}
	return syncDir(filepath.Dir(graphPath(cfg)))
}

// The classes of files in a data directory.
const (
	classGraph     = "graph"
	classOldCopies = "old copies of graphs"
	classBuilding  = "graphs being written"
	classVectors   = "vector store"
	classOther     = "other files"
)

// classOf names what a file of the data directory belongs to, from its path below that.
func classOf(path string) string {
	switch {
	case strings.HasPrefix(path, "graph/kith.kuzu.quarantine/"), strings.HasPrefix(path, "graph/kith.kuzu.replaced-"):
		return classOldCopies
	case strings.HasPrefix(path, "graph/kith.kuzu.re"), strings.HasPrefix(path, "graph/kith.kuzu.building"):
		return classBuilding
	case strings.HasPrefix(path, "graph/"):
		return classGraph
	case strings.HasPrefix(path, "vectors.db"):
		return classVectors
	case strings.HasPrefix(path, "nats/"):
		for part := range strings.SplitSeq(path, "/") {
			if strings.HasPrefix(part, "MEMORY_") {
				return "stream " + part
			}
		}
		return "NATS server"
	default:
		return classOther
	}
}
