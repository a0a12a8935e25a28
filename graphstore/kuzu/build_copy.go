package kuzu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/kithgraph/kith/graphstore"
)

// copier makes a graph file of staged rows: each table with one statement, while it is empty. (A copy into a table that has
// rows and fails takes the whole process with it.)
type copier struct {
	*stage
	cfg   BuildConfig
	files buildFiles
}

// Edges are sorted by their ends, which pays on two threads. Nodes keep the order of their numbers, on one.
const (
	threadsForNodes = 1
	threadsForEdges = 2
)

// run makes the file with this head and closes it. What it copied is removed from the stage at once.
func (c *copier) run(ctx context.Context, head graphstore.Head) error {
	cfg := c.cfg.Config
	cfg.BufferPoolBytes = c.pool()
	var leaked atomic.Int64
	e, err := openEngine(c.files.building, cfg, &leaked)
	if err != nil {
		return err
	}
	defer e.close()
	if err := makeTables(e.writer); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	for _, f := range c.stage.files {
		// Kuzu is not stopped in the middle of a statement: what it rolls back is not to be relied on.
		if err := errors.Join(ctx.Err(), c.room(c.bytes)); err != nil {
			return err
		}
		c.cfg.phase("copy " + f.name)
		if err := c.table(e.writer, f); err != nil {
			return fmt.Errorf("copy %d rows of %s: %w", f.rows.total, f.name, err)
		}
	}
	c.cfg.phase("checkpoint")
	if err := writeBuilt(e.writer, head); err != nil {
		return fmt.Errorf("head: %w", err)
	}
	return e.writer.exec("CHECKPOINT")
}

// What a copy needs of the pool, by the size of its staging file: edges are held sorted by either end until all are there.
// Measured with 700,000 to 7,000,000 edges, it is 2.2 to 2.7 times the file, and 4.3 times when 1,200,000 are those of 4,000
// nodes; groups of nodes are written as they fill.
const (
	poolPerEdges = 6
	poolPerNodes = 2
)

// pool returns the pool that the largest table needs, which may be more than the one that a store works with.
func (c *copier) pool() int64 {
	pool := c.cfg.BufferPoolBytes
	for _, f := range c.stage.files {
		pool = max(pool, f.rows.out.bytes*f.pool)
	}
	return pool
}

// makeTables makes all tables of the newest schema in an empty file.
func makeTables(s *session) error {
	if _, err := schemaVersion(s); err != nil { // makes the table that keeps it
		return err
	}
	for _, statement := range slices.Concat(schemaSteps()...) {
		if err := s.exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// writeBuilt writes what says that the file is complete: its identity, its head and the version of its schema.
func writeBuilt(s *session, head graphstore.Head) error {
	if err := s.exec("BEGIN TRANSACTION"); err != nil {
		return err
	}
	w := writeSession{session: s}
	if err := w.one("CREATE (i:Identity {id: 0, graph: $graph}) RETURN count(*)", params{"graph": head.ID}); err != nil {
		return err
	}
	before := headRow{head: graphstore.Head{ID: head.ID}}
	if err := w.writeHead(before, before.after(head.Digest, head.Mark)); err != nil {
		return err
	}
	version := params{"version": int64(SchemaVersion)}
	if err := w.one("CREATE (m:Meta {id: 0, schema_version: $version}) RETURN count(*)", version); err != nil {
		return err
	}
	return s.exec("COMMIT")
}

// table copies a staged table and counts what is there then.
func (c *copier) table(s *session, f *stageFile) error {
	if f.rows.total > 0 {
		path, err := quotePath(f.path)
		if err != nil {
			return err
		}
		s.conn.SetMaxNumThreads(f.threads)
		if err := s.exec("COPY " + f.table.name + " FROM " + path + f.options); err != nil {
			return err
		}
	}
	n, err := s.count(f.count, nil)
	if err != nil {
		return err
	}
	if n != f.rows.total {
		return fmt.Errorf("%d rows are in the file", n)
	}
	return os.Remove(f.path)
}

// quotePath returns a path as a literal of a query: what ends a literal or escapes in one is escaped, and so is what would
// make the path a pattern.
func quotePath(path string) (string, error) {
	if !utf8.ValidString(path) {
		return "", fmt.Errorf("path %q of a staging file is not valid UTF-8", path)
	}
	pattern := strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(pattern) + "'", nil
}
