package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kithgraph/kith/embed"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/vdb"
)

// embedInfoTimeout bounds the question for the collection's dimension when an embedder is made. A store that does not answer
// is asked again by the probe.
const embedInfoTimeout = 2 * time.Second

var _ reader.Embedder = (*embedder)(nil)

// embedder makes vectors for one collection, and remembers in the data directory which model does.
type embedder struct {
	client     *embed.Client
	file       string // embedding.json
	collection string
	log        *slog.Logger
	want       atomic.Int64 // elements of the collection's vectors; 0 while unknown
	remembered atomic.Bool
}

// newEmbedder returns the configured embedder, or nil where none is. It refuses a model or a dimension other than the ones the
// collection's vectors are of, as far as that is known.
func (e *env) newEmbedder(store vdb.Store, prefix string) (*embedder, error) {
	c := e.cfg.Embed
	if c.URL == "" {
		return nil, nil
	}
	m := &embedder{file: embedPath(e.cfg), collection: e.vectorCollection(), log: e.log}
	records, err := readEmbedRecords(m.file)
	if err != nil {
		return nil, err
	}
	record := records.Collections[m.collection]
	if slices.Contains(c.Accept, c.Model) {
		record = embedRecord{} // whatever it was, this one is right from now on
	}
	if err := record.check(m.file, m.collection, c); err != nil {
		return nil, &usageError{err}
	}
	ctx, cancel := context.WithTimeout(e.ctx, embedInfoTimeout)
	defer cancel()
	info, err := store.Info(ctx)
	if err != nil {
		e.log.Debug("the collection's dimension is not known yet", "err", err)
	}
	dimension := cmp.Or(c.Dimension, record.Dimension)
	if info.Dimension != 0 && dimension != 0 && info.Dimension != dimension {
		return nil, &usageError{fmt.Errorf("the vectors of %s have %d elements, those of the embedding model %q have %d (KITH_EMBED_DIMENSION, or %s): want the model that made the collection's vectors (KITH_EMBED_MODEL)",
			m.collection, info.Dimension, c.Model, dimension, m.file)}
	}
	m.found(info)
	m.client, err = embed.New(embed.Config{
		URL: c.URL, Model: c.Model, Key: c.Key, Dimension: dimension, Shorten: c.Shorten, ServedAs: record.ServedAs, Aliases: c.Accept,
		Prefix: prefix, Timeout: c.Timeout, Logger: e.log,
	})
	if err != nil {
		return nil, &usageError{err}
	}
	return m, nil
}

// vectorCollection names what the vectors of a model are kept in.
func (e *env) vectorCollection() string {
	q := e.cfg.Qdrant
	switch {
	case q.URL == "":
		return "the embedded store"
	case q.VectorName != "":
		return q.Collection + ", vector " + q.VectorName
	default:
		return q.Collection
	}
}

// found tells the embedder what the vector store says of the collection.
func (m *embedder) found(info vdb.Info) {
	if m != nil && info.Dimension != 0 {
		m.want.Store(int64(info.Dimension))
	}
}

// Embed implements [reader.Embedder].
func (m *embedder) Embed(ctx context.Context, text string) ([]float32, error) {
	v, err := m.client.Embed(ctx, text)
	if err != nil {
		return nil, err
	}
	return v, m.accept(len(v))
}

// embedAll returns a vector for each text. Without texts it needs no embedder.
func (m *embedder) embedAll(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	vectors, err := m.client.EmbedAll(ctx, texts)
	if err != nil {
		return nil, err
	}
	return vectors, m.accept(len(vectors[0]))
}

// accept checks the dimension against the collection's, and remembers the model at its first good vector.
func (m *embedder) accept(dimension int) error {
	if want := int(m.want.Load()); want != 0 && want != dimension {
		return fmt.Errorf("%w: %d elements of model %q: want %d, as %s has: want the model that made the collection's vectors (KITH_EMBED_MODEL)",
			embed.ErrDimension, dimension, m.client.Model(), want, m.collection)
	}
	if m.remembered.CompareAndSwap(false, true) {
		_, servedAs := m.client.Known()
		record := embedRecord{Model: m.client.Model(), ServedAs: servedAs, Dimension: dimension, Since: time.Now().UTC()}
		if err := record.remember(m.file, m.collection); err != nil {
			m.log.Warn("the embedding model is not remembered: a change of it would not be noticed at the next start", "err", err)
		}
	}
	return nil
}

// trouble says why texts are not embedded, for readiness.
func (m *embedder) trouble() []string {
	if m == nil || m.client.Trouble() == "" {
		return nil
	}
	return []string{"texts without a vector are searched by keyword: " + m.client.Trouble()}
}

func (m *embedder) close() {
	if m != nil {
		m.client.Close()
	}
}
