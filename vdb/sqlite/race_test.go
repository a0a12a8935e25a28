package sqlite

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Two processes that store their first points at once cannot give the file two dimensions.
func TestUpsert_firstDimensionIsFixedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.db")
	var handles [2]*Store
	for i := range handles {
		var err error
		if handles[i], err = New(path, Config{}); err != nil {
			t.Fatal(err)
		}
		defer handles[i].Close()
	}
	space, err := graphstore.NewSpace("u")
	if err != nil {
		t.Fatal(err)
	}
	slow, fast := handles[0], handles[1]
	tx, err := fast.writer.BeginTx(t.Context(), nil) // holds the write lock
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() {
		result <- slow.Upsert(t.Context(), []vdb.Point{{Space: space, ID: "x", Vector: []float32{1, 2}}})
	}()
	for slow.writer.Stats().InUse == 0 { // until the slow one, having seen no dimension, waits for the lock
		runtime.Gosched()
	}
	if err := writeMeta(t.Context(), tx, metaDimension, 3); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	err = <-result
	var mismatch *vdb.DimensionError
	if !errors.Is(err, vdb.ErrBadPoint) || !errors.As(err, &mismatch) || *mismatch != (vdb.DimensionError{Got: 2, Want: 3}) {
		t.Errorf("got error %v, want ErrBadPoint with the dimensions 2 and 3", err)
	}
	if info, err := slow.Info(t.Context()); err != nil || info.Dimension != 3 || info.Points != 0 {
		t.Errorf("got %+v, error %v, want dimension 3 and no points", info, err)
	}
}
