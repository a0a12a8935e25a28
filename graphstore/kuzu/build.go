package kuzu

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
)

// Build makes a new graph file at path that holds exactly the records, and returns its head and what is in it. It is many
// times faster than applying them, because each table is copied at once from a file of staged rows.
//
// Records calls yield for each record, in a Put change; its error ends the build, and so does an error of yield, which
// records returns. Spaces may interleave, but each node comes before its edges, and no record comes twice: [graphstore.ErrBadChange]
// and [graphstore.ErrDangling] say which record is wrong. Nobody modifies a record after it was yielded. Nodes are numbered
// in the order in which they come, and a store reads ranges of numbers: a graph whose records come space by space is read
// faster later, one space at a time, than one whose spaces interleave.
//
// The file is there when Build returns nil, closed, synced and without a log, as Open would have left it; after an error or
// a crash there is nothing at path. A path where something is already is refused with [io/fs.ErrExist], one that a
// process owns with [ErrInUse], a disk that might not take the file with [ErrDisk]. Until the end the work is done beside
// path and in BuildConfig.TempDir, in files that are removed in every case: those of a process that died by the next Build of
// the same path and TempDir.
//
// In memory it holds a number for each node and each text and the identity of each edge, some 100 bytes per node, 80 per text
// and 30 per edge, and after them Kuzu's pool, at most 450 bytes per edge between facts. A context that ends stops the
// build between two statements, which can take seconds. Kuzu may end the process, as everywhere; what must not die builds in a process of its own.
func Build(ctx context.Context, path string, cfg BuildConfig,
	records func(yield func(graphstore.Change) error) error) (graphstore.Head, graphstore.Stats, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return graphstore.Head{}, graphstore.Stats{}, err
	}
	path, err := prepareDir(path)
	if err != nil {
		return graphstore.Head{}, graphstore.Stats{}, fmt.Errorf("build graph: %w", err)
	}
	owner, err := lock(path)
	if err != nil {
		return graphstore.Head{}, graphstore.Stats{}, fmt.Errorf("build graph: %w", err)
	}
	defer func() { _ = owner.Unlock() }() // by closing the lock file, which the system can hardly refuse
	files, err := newBuildFiles(path, cfg.TempDir)
	b := &build{ctx: ctx, cfg: cfg, files: files, records: records}
	if err == nil {
		err = b.run()
	}
	if err != nil {
		return graphstore.Head{}, graphstore.Stats{}, fmt.Errorf("build graph %s: %w", path, err)
	}
	return b.head, b.stats, nil
}

// build is one call of Build.
type build struct {
	ctx     context.Context //nolint:containedctx // lives as long as the call
	cfg     BuildConfig
	files   buildFiles
	records func(yield func(graphstore.Change) error) error
	head    graphstore.Head
	stats   graphstore.Stats
}

// run needs the lock of the path.
func (b *build) run() (err error) {
	if err := b.files.prepare(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.files.clear()) }() // also when records panics
	if err := b.make(); err != nil {
		return err
	}
	b.cfg.phase("publish")
	if err := b.files.publish(); err != nil {
		return err
	}
	b.stats.Bytes = fileSize(b.files.path)
	return nil
}

// make makes the file under its first name.
func (b *build) make() error {
	s, err := newStage(b.files.staging, b.room)
	defer func() { _ = s.close() }() // complete or not wanted
	if err != nil {
		return err
	}
	b.cfg.phase("stage")
	if err := b.take(s); err != nil {
		return err
	}
	if s.bytes > b.cfg.BufferPoolBytes {
		debug.FreeOSMemory() // what numbered the records is not needed any more, and Kuzu takes as much
	}
	c := &copier{stage: s, cfg: b.cfg, files: b.files}
	if err := c.run(b.ctx, b.head); err != nil {
		return err
	}
	if b.cfg.Verify {
		b.cfg.phase("verify")
		if err := verify(b.ctx, b.files.building, b.cfg.Config, b.head); err != nil {
			return fmt.Errorf("verify: %w", err)
		}
	}
	return b.ctx.Err()
}

// take stages all records.
func (b *build) take(s *stage) error {
	in := newIntake(b.ctx, s)
	defer in.digest.end()
	if err := b.records(in.take); err != nil || in.failed != nil {
		if in.failed != nil {
			return in.failed // whatever became of it
		}
		return err
	}
	b.stats, b.head = in.stats, graphstore.Head{ID: b.cfg.ID, Mark: b.cfg.Mark, Digest: in.digest.end()}
	if b.head.ID == "" {
		fresh, err := uuid.NewRandom()
		if err != nil {
			return fmt.Errorf("make id: %w", err)
		}
		b.head.ID = fresh.String()
	}
	return s.finish()
}

// What a build leaves free on the disk, and how many times the staged bytes the file takes at most, with what Kuzu needs for
// a moment.
const (
	buildMargin  = 64 << 20
	filePerStage = 2
)

// room wants space for the next rows where they are staged, and for the file where it is made.
func (b *build) room(staged int64) error {
	if err := b.free(b.files.staging, buildMargin); err != nil {
		return err
	}
	return b.free(filepath.Dir(b.files.building), filePerStage*uint64(staged)+buildMargin)
}

func (b *build) free(dir string, need uint64) error {
	free, err := b.cfg.hooks.freeBytes(dir)
	if err != nil {
		return err
	}
	if free < need {
		return fmt.Errorf("%w: a build needs %d MiB on the disk of %s, %d are free", ErrDisk, need>>20, dir, free>>20)
	}
	return nil
}
