package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/projector"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/qdrant"
)

// mapping says where the collection keeps what: by the preset and the explicit places. The embedded store has kith's names.
func (e *env) mapping() (backfill.Mapping, error) {
	if e.cfg.Qdrant.URL == "" {
		return backfill.NewMapping(backfill.PresetKith, nil)
	}
	m, err := backfill.NewMapping(e.cfg.Qdrant.Preset, e.cfg.Qdrant.Fields)
	if err != nil {
		return m, &usageError{fmt.Errorf("QDRANT_PRESET and QDRANT_FIELDS: %w", err)}
	}
	switch name := e.cfg.Qdrant.VectorName; name {
	case "":
	case backfill.UnnamedVector:
		m.Vector = ""
	default:
		m.Vector = name
	}
	return m, nil
}

// mapped returns the vector store's points as a backfill reads them.
func (e *env) mapped(store vdb.Store) (backfill.Points, error) {
	m, err := e.mapping()
	if err != nil {
		return nil, err
	}
	return m.Points(store), nil
}

// source says which points a backfill reads and by what: a checkpoint of others is not resumed.
func (e *env) source() (string, error) {
	least := projector.DefaultEdgeMinScore
	override(&least, e.cfg.Project.EdgeMinScore)
	floor := fmt.Sprintf("neighbours from %v on", least)
	q := e.cfg.Qdrant
	if q.URL == "" {
		return "the embedded vector store, " + floor, nil
	}
	m, err := e.mapping()
	if err != nil {
		return "", err
	}
	at, err := url.Parse(q.URL)
	if err != nil {
		return "", &usageError{fmt.Errorf("QDRANT_URL: %w", err)}
	}
	return fmt.Sprintf("collection %s at %s, vector %q, preset %s, fields %s, %s", q.Collection, at.Host, m.Vector, m.Preset, fieldsText(q.Fields), floor), nil
}

// fieldsText writes a mapping of fields, in the order of their names.
func fieldsText(fields map[string]string) string {
	list := make([]string, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		list = append(list, name+"="+fields[name])
	}
	return cmp.Or(strings.Join(list, ","), "none")
}

// probeCollection reads a few points of the collection and prints the mapping that a backfill would use, as JSON if wanted.
// It is an error if nothing could be projected.
func (e *env) probeCollection(asJSON bool) (err error) {
	if e.cfg.Qdrant.URL == "" {
		return &usageError{errors.New("--probe without QDRANT_URL: the embedded store has kith's own names, there is nothing to find out")}
	}
	m, err := e.mapping()
	if err != nil {
		return err
	}
	store, err := e.openQdrant(m)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, store.Close()) }()
	q := e.cfg.Qdrant
	req := backfill.ProbeRequest{Preset: q.Preset, Fields: q.Fields}
	if q.VectorName != "" {
		req.Vector = &m.Vector
	}
	found, err := backfill.Probe(e.ctx, store, req)
	if err != nil {
		return namingSetting(err)
	}
	if asJSON {
		if err := e.printJSON(found); err != nil {
			return err
		}
	} else {
		e.printf("%s", found)
	}
	if len(found.Problems) > 0 {
		return fmt.Errorf("as it is, nothing can be backfilled: %s", found.Problems[0])
	}
	return nil
}

// openQdrant opens the collection under a mapping.
func (e *env) openQdrant(m backfill.Mapping) (*qdrant.Store, error) {
	q := e.cfg.Qdrant
	store, err := qdrant.New(qdrant.Config{
		URL: q.URL, APIKey: q.APIKey, Collection: q.Collection, VectorName: m.Vector, Fields: m.Fields,
		CreateCollection: q.CreateDim > 0, Dimension: q.CreateDim, Timeout: q.Timeout, Logger: e.log,
		Keyword: q.Keyword, SparseVector: q.Sparse, ServerTokenizer: q.Tokenizer, ServerLanguage: q.Language,
	})
	if err != nil {
		return nil, &usageError{fmt.Errorf("open Qdrant: %w", err)}
	}
	return store, nil
}
