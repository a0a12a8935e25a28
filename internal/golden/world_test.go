package golden

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/kithgraph/kith/internal/sample"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/sqlite"
)

// budget lets no search lose its graph stage to a busy machine.
const budget = time.Minute

// world holds a data set in the embedded store, its graph, and a reader for every arm.
type world struct {
	data      dataset
	store     vdb.Store
	graph     graphs
	reference *reader.Reader
	standard  *reader.Reader
	expanding *reader.Reader
	relabel   []*reader.Reader
}

func newWorld(t *testing.T, d dataset) *world {
	t.Helper()
	w, err := openWorld(t.TempDir(), d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, r := range append(w.relabel, w.standard, w.expanding, w.reference) {
			r.Close()
		}
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func openWorld(dir string, d dataset) (*world, error) {
	w := &world{data: d}
	var err error
	if w.store, err = sqlite.New(filepath.Join(dir, "points.db"), sqlite.Config{Dimension: sample.Dimension}); err != nil {
		return nil, err
	}
	if err := w.store.Upsert(context.Background(), d.points); err != nil {
		return nil, errors.Join(err, w.store.Close())
	}
	if w.graph, err = project(d.events); err != nil {
		return nil, errors.Join(err, w.store.Close())
	}
	if err := w.openReaders(); err != nil {
		return nil, errors.Join(err, w.store.Close())
	}
	return w, nil
}

func (w *world) openReaders() (err error) {
	reference, err := rerank.ProfileSettings(rerank.ProfileReference)
	if err != nil {
		return err
	}
	if w.reference, err = w.reader(reference, w.graph); err != nil {
		return err
	}
	if w.standard, err = w.reader(rerank.DefaultSettings(), w.graph); err != nil {
		return err
	}
	if w.expanding, err = w.reader(expandingSettings(), w.graph); err != nil {
		return err
	}
	for seed := range uint64(relabellings) {
		graph, err := project(relabel(w.data, seed))
		if err != nil {
			return fmt.Errorf("relabelling %d: %w", seed, err)
		}
		r, err := w.reader(rerank.DefaultSettings(), graph)
		if err != nil {
			return err
		}
		w.relabel = append(w.relabel, r)
	}
	return nil
}

// expandingSettings are the default settings with the gate of expansion open. With a pool no larger than the answer they
// let the graph attach facts: by default everything that could pass the gate is in the pool already.
func expandingSettings() rerank.Settings {
	s := rerank.DefaultSettings()
	s.Expand.DeltaMerge = 1
	return s
}

func (w *world) reader(settings rerank.Settings, graph graphs) (*reader.Reader, error) {
	return reader.New(w.store, graph, reader.Config{
		Rerank: settings, Budget: budget, Now: func() time.Time { return w.data.now }, Logger: slog.New(slog.DiscardHandler),
	})
}
