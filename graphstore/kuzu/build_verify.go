package kuzu

import (
	"context"
	"sync/atomic"

	"github.com/kithgraph/kith/graphstore"
)

// verify reads a finished file as an open store would and compares it with the head that it was built with.
func verify(ctx context.Context, path string, cfg Config, want graphstore.Head) error {
	var leaked atomic.Int64
	e, err := openEngine(path, cfg, &leaked)
	if err != nil {
		return err
	}
	defer e.close()
	d := newDigester()
	defer d.end()
	return e.read(ctx, func(s *session) error {
		id, err := readIdentity(s)
		if err != nil {
			return err
		}
		row, err := readHead(s, id)
		if err != nil {
			return err
		}
		if row.head != want {
			return damaged("the file has the head %+v, it was built with %+v", row.head, want)
		}
		err = loadAll(ctx, s, cfg.pageSizes(), func(c graphstore.Change) error {
			d.add(c)
			return nil
		})
		if err != nil {
			return err
		}
		if got := d.end(); got != want.Digest {
			return damaged("the records have digest %s, they were built with %s", got, want.Digest)
		}
		return nil
	})
}
