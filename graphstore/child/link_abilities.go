package child

import (
	"context"

	"github.com/kithgraph/kith/graphstore"
)

func (l *link) head(ctx context.Context) (graphstore.Head, error) {
	d, err := l.ask(ctx, methodHead, nil)
	if err != nil {
		return graphstore.Head{}, err
	}
	h := d.head()
	if d.err != nil {
		return graphstore.Head{}, torn(d.err)
	}
	return h, nil
}

func (l *link) backup(ctx context.Context, path string) (graphstore.Head, graphstore.Stats, error) {
	e := &encoder{}
	e.text(path)
	d, err := l.ask(ctx, methodBackup, e.buf)
	if err != nil {
		return graphstore.Head{}, graphstore.Stats{}, err
	}
	return d.written()
}

// written reads the answer to what wrote a graph.
func (d *decoder) written() (graphstore.Head, graphstore.Stats, error) {
	h, st := d.head(), d.stats()
	if d.err != nil {
		return graphstore.Head{}, graphstore.Stats{}, torn(d.err)
	}
	return h, st, nil
}

func (l *link) checkpoint(ctx context.Context) error {
	_, err := l.ask(ctx, methodCheckpoint, nil)
	return err
}

func (l *link) leaked(ctx context.Context) (int64, error) {
	d, err := l.ask(ctx, methodLeaked, nil)
	if err != nil {
		return 0, err
	}
	n := d.varint()
	if d.err != nil {
		return 0, torn(d.err)
	}
	return n, nil
}
