package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kithgraph/kith/internal/config"
)

// embedRecords is what the data directory remembers of embedding models: vectors of two models cannot be compared, and nothing
// in them says which model they are of.
type embedRecords struct {
	Collections map[string]embedRecord `json:"collections"`
}

// embedRecord is the model whose vectors a collection is searched with. The zero record knows nothing.
type embedRecord struct {
	Model     string    `json:"model"`
	ServedAs  string    `json:"served_as,omitempty"` // what the endpoint calls it
	Dimension int       `json:"dimension"`
	Since     time.Time `json:"since"`
}

func embedPath(c config.Config) string { return filepath.Join(c.DataDir, "embedding.json") }

func readEmbedRecords(path string) (embedRecords, error) {
	var all embedRecords
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, fmt.Errorf("read the remembered embedding model: %w", err)
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return all, fmt.Errorf("read the remembered embedding model %s: %w: remove the file to have it written anew", path, err)
	}
	return all, nil
}

// check refuses another model or dimension than the recorded one.
func (r embedRecord) check(path, collection string, c config.Embed) error {
	if r.Model == "" {
		return nil
	}
	then := fmt.Sprintf("%s is searched with vectors of the embedding model %q, %d elements, since %s (%s)",
		collection, r.Model, r.Dimension, r.Since.Format(time.DateOnly), path)
	switch {
	case r.Model != c.Model:
		return fmt.Errorf("KITH_EMBED_MODEL %q: %s, and vectors of two models cannot be compared: set it to %q; or, if the collection's vectors are of %q now, set KITH_EMBED_ACCEPT=%s",
			c.Model, then, r.Model, c.Model, c.Model)
	case c.Dimension != 0 && c.Dimension != r.Dimension:
		return fmt.Errorf("KITH_EMBED_DIMENSION %d: %s: set it to %d; or, if the collection's vectors have %d elements now, set KITH_EMBED_ACCEPT=%s",
			c.Dimension, then, r.Dimension, c.Dimension, c.Model)
	}
	return nil
}

// remember writes the record of a collection, unless that is there already. No reader sees half a file.
func (r embedRecord) remember(path, collection string) error {
	all, err := readEmbedRecords(path)
	if err != nil {
		return err
	}
	old := all.Collections[collection]
	if old.Model == r.Model && old.ServedAs == r.ServedAs && old.Dimension == r.Dimension {
		return nil
	}
	if all.Collections == nil {
		all.Collections = map[string]embedRecord{}
	}
	all.Collections[collection] = r
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write the embedding model: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write the embedding model: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("write the embedding model: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the embedding model: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
