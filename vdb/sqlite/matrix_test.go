package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// flat is a matrix as a list of points, one text each.
func flat(m *matrix) []string {
	var out []string
	for _, b := range m.blocks {
		for i, row := range b.rows {
			out = append(out, fmt.Sprint(row, b.ids[i], b.norms[i], b.unit(i, m.dim), b.times[i], b.facetsOf(i)))
		}
	}
	return out
}

// A matrix brought up to date step by step equals the one read from the file at once, and an older matrix does not change
// while newer ones are made of it.
func TestMatrix_updatesEqualLoads(t *testing.T) {
	st, err := New(filepath.Join(t.TempDir(), "vectors.db"), Config{Dimension: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	round, updates, loads := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		space, err := graphstore.NewSpace(fmt.Sprint("u", round))
		if err != nil {
			rt.Fatal(err)
		}
		var before *matrix
		var beforeFlat []string
		for i := range rapid.IntRange(1, 6).Draw(rt, "writes") {
			if rapid.IntRange(0, 5).Draw(rt, "delete?") == 0 {
				err = st.Delete(context.Background(), space, []string{fmt.Sprint(rapid.IntRange(0, 40).Draw(rt, "id"))})
			} else {
				from, n := rapid.IntRange(0, 600).Draw(rt, "from"), rapid.SampledFrom([]int{1, 2, 255, 256, 300}).Draw(rt, "n")
				points := make([]vdb.Point, n)
				for j := range points {
					points[j] = vdb.Point{Space: space, ID: fmt.Sprint(from + j), Vector: []float32{float32(i + 1), float32(j + 1)},
						Payload: vdb.Payload{Version: int64(i), Tags: []string{"a", "b", "c"}[:j%4%3]}}
				}
				err = st.Upsert(context.Background(), points)
			}
			if err != nil {
				rt.Fatal(err)
			}
			now, full := bothMatrices(rt, st, space)
			if now == nil {
				continue
			}
			if diff := cmp.Diff(flat(full), flat(now)); diff != "" {
				rt.Fatalf("matrix after write %d (-read at once +updated):\n%s", i, diff)
			}
			for _, b := range now.blocks {
				if b.len() == 0 || b.len() > blockPoints {
					rt.Fatalf("block of %d points", b.len())
				}
			}
			if before != nil {
				if diff := cmp.Diff(beforeFlat, flat(before)); diff != "" {
					rt.Fatalf("the matrix before changed (-then +now):\n%s", diff)
				}
				if len(now.blocks) > 0 && len(before.blocks) > 1 && now.blocks[0] == before.blocks[0] {
					updates++ // shared: it was not read again
				} else {
					loads++
				}
			}
			before, beforeFlat = now, flat(now)
		}
	})
	if updates == 0 || loads == 0 {
		t.Errorf("%d updates that shared a block, %d that did not: want both to happen", updates, loads)
	}
}

// bothMatrices returns the user's matrix by way of the cache, and read at once.
func bothMatrices(rt *rapid.T, st *Store, space graphstore.Space) (now, full *matrix) {
	ctx := context.Background()
	err := st.snapshot(ctx, func(tx *sql.Tx) (err error) {
		if now, err = st.matrixIn(ctx, tx, space, 2); err != nil || now == nil {
			return err
		}
		user, err := st.readUser(ctx, tx, space)
		if err != nil {
			return err
		}
		l := loader{ctx: ctx, tx: tx, reads: &st.reads, dim: 2}
		full, err = l.load(user, nil)
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
	return now, full
}

func TestMatrix_find(t *testing.T) {
	vectors := make([][]float32, 2*blockPoints+10)
	for i := range vectors {
		vectors[i] = []float32{1, float32(i)}
	}
	m := matrixOf(vectors)
	const first = int64(1) << 32 // the row of p0, see matrixOf
	for _, i := range []int{0, 1, blockPoints - 1, blockPoints, 2 * blockPoints, len(vectors) - 1} {
		if p, ok := m.find(first + int64(i)); !ok || p.id() != fmt.Sprint("p", i) {
			t.Errorf("row of p%d: found %v", i, ok)
		}
	}
	for _, row := range []int64{0, first - 1, first + int64(len(vectors)), first << 1} {
		if _, ok := m.find(row); ok {
			t.Errorf("row %d: found", row)
		}
	}
}
