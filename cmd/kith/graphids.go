package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// keptIDs bounds the list of ids: what happened longer ago than so many lost graphs is nobody's consumer any more.
const keptIDs = 20

// graphIDs returns the ids of the graphs that this data directory has had, the latest last. Whoever has the directory knows
// that none of them is in use but by itself.
func graphIDs(dataDir string) ([]string, error) {
	data, err := os.ReadFile(graphIDsPath(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ids of graphs: %w", err)
	}
	var ids []string
	if err := json.Unmarshal(data, &ids); err != nil {
		return nil, fmt.Errorf("read ids of graphs: %s: %w", graphIDsPath(dataDir), err)
	}
	return ids, nil
}

// noteGraphID adds an id to those that the data directory has had, and returns the others.
func noteGraphID(dataDir, id string) (former []string, err error) {
	ids, damaged := graphIDs(dataDir) // what cannot be read is written anew
	former = slices.DeleteFunc(slices.Clone(ids), func(other string) bool { return other == id })
	all := append(slices.Clone(former), id)
	if damaged == nil && slices.Equal(all, ids) {
		return former, nil
	}
	data, err := json.Marshal(all[max(0, len(all)-keptIDs):])
	if err != nil {
		return nil, fmt.Errorf("note id of graph: %w", err)
	}
	if err := writeDurably(graphIDsPath(dataDir), append(data, '\n')); err != nil {
		return nil, fmt.Errorf("note id of graph: %w", err)
	}
	return former, damaged
}

func graphIDsPath(dataDir string) string { return filepath.Join(dataDir, "graphs.json") }
