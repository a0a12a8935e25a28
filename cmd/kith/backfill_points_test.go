package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/qdrant"
	"github.com/kithgraph/kith/vdb/sqlite"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// collection says which points a proof has.
type collection struct {
	users, points, dim int
	group              int // so many points of a user are near each other
	lone               int // every lone-th point of a user is near nobody; 0: none is
}

// each makes the points, in the order of their ids, which is not that of their users, and yields them some at a time. The same
// collection has the same points.
func (c collection) each(yield func([]vdb.Point) error) error {
	rng := rand.New(rand.NewPCG(uint64(c.points), uint64(c.dim)))
	ids := make([]string, c.points)
	for i := range ids {
		var b [16]byte
		for k := range b {
			b[k] = byte(rng.Uint32())
		}
		ids[i] = uuid.UUID(b).String()
	}
	slices.Sort(ids)
	var piece []vdb.Point
	for i, id := range ids {
		p, err := c.point(rng, i, id)
		if err != nil {
			return err
		}
		if piece = append(piece, p); len(piece) == 1000 || i == len(ids)-1 {
			if err := yield(piece); err != nil {
				return err
			}
			piece = nil
		}
	}
	return nil
}

// user names the user of the i-th point.
func (c collection) user(i int) string { return fmt.Sprintf("user-%d", i%c.users) }

// isLone reports whether the i-th point is near nobody.
func (c collection) isLone(i int) bool { return c.lone > 0 && i/c.users%c.lone == 0 }

// loneVector points anywhere. Of 64 dimensions, the share of all directions that is within a cosine of 0.75 of one of them is less than
// (1-0.75*0.75)^31.5 = 5e-12: nobody is.
func loneVector(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for d := range v {
		v[d] = float32(rng.NormFloat64())
	}
	return v
}

// point makes the i-th point. Two points of a group have a cosine of about 0.79: the numbers of its centre have variance 1/3, those of
// what is added 0.09, and 1/(1 + 3*0.09) = 0.79.
func (c collection) point(rng *rand.Rand, i int, id string) (vdb.Point, error) {
	space, err := graphstore.NewSpace(c.user(i))
	if err != nil {
		return vdb.Point{}, err
	}
	nth := i / c.users // of the user's
	p := vdb.Point{Space: space, ID: id, Vector: make([]float32, c.dim)}
	if c.isLone(i) {
		p.Vector = loneVector(rng, c.dim)
	} else {
		centre := rand.New(rand.NewPCG(uint64(nth/c.group), uint64(i%c.users)))
		for d := range p.Vector {
			p.Vector[d] = 2*centre.Float32() - 1 + float32(rng.NormFloat64())*0.3
		}
	}
	at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
	p.Payload = vdb.Payload{
		Content: fmt.Sprintf("fact %d of %s, which says something about project %d in a sentence of some length", nth, c.user(i), nth%41),
		Version: int64(1 + i%3), Tags: []string{fmt.Sprintf("tag %d", nth%23)}, BatchID: fmt.Sprintf("batch-%d", nth/4), EpisodeID: fmt.Sprintf("episode-%d", nth/16),
		MemoryAt: at, CreatedAt: at.Add(time.Hour), Extra: map[string]any{"batch_seq": int64(nth % 4)},
	}
	if i%2 == 0 {
		p.Payload.Extra["entities"] = []any{map[string]any{"name": fmt.Sprintf("Person %d", nth%97), "type": "person"}}
	}
	return p, nil
}

// stored is a collection in one of the two stores.
type stored struct {
	name string
	env  []string // says it to a command
	file string   // of the embedded store; each data directory gets a copy
	srv  *wire.Server
}

// storeIn stores a collection.
func (c collection) storeIn(t *testing.T, kind string) *stored {
	t.Helper()
	s := &stored{name: kind}
	if kind == inWire {
		s.srv = wire.Start(t, wire.Options{})
		s.env = []string{"QDRANT_URL=http://" + s.srv.Addr(), "QDRANT_KEYWORD=off"}
		c.fill(t, s.srv)
		return s
	}
	s.file = filepath.Join(t.TempDir(), "vectors.db")
	store := s.open(t, c.dim)
	defer closeStore(t, store)
	if err := c.each(func(points []vdb.Point) error { return store.Upsert(context.Background(), points) }); err != nil {
		t.Fatal(err)
	}
	return s
}

// fill fills a Qdrant as another program would: that is faster than by the driver, which looks for each point first.
func (c collection) fill(t *testing.T, srv *wire.Server) {
	t.Helper()
	points := make([]wire.Point, 0, c.points)
	err := c.each(func(piece []vdb.Point) error {
		for _, p := range piece {
			payload := maps.Clone(p.Payload.Extra)
			payload["user_id"], payload["content"], payload["version"] = p.Space.UserID(), p.Payload.Content, p.Payload.Version
			payload["tags"], payload["batch_id"], payload["episode_id"] = []any{p.Payload.Tags[0]}, p.Payload.BatchID, p.Payload.EpisodeID
			payload["memory_at"], payload["created_at"] = p.Payload.MemoryAt.Format(time.RFC3339), p.Payload.CreatedAt.Format(time.RFC3339)
			points = append(points, wire.Point{ID: p.ID, Payload: payload, Vectors: map[string]any{"": p.Vector}})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Fill(t, "memories", []vdb.VectorShape{{Kind: vdb.VectorDense, Dimension: c.dim, Distance: "Cosine"}}, points...)
}

// The stores of the proofs.
const (
	inFile = "embedded store"
	inWire = "wire-level Qdrant"
)

// open opens the store in this process; the collection is made with the dimension if need be.
func (s *stored) open(t *testing.T, dim int) vdb.Store {
	t.Helper()
	return s.openAt(t, s.file, dim)
}

func (s *stored) openAt(t *testing.T, file string, dim int) (store vdb.Store) {
	t.Helper()
	var err error
	if s.srv != nil {
		store, err = qdrant.New(qdrant.Config{
			URL: "http://" + s.srv.Addr(), Collection: "memories", CreateCollection: true, Dimension: dim, Keyword: qdrant.KeywordOff, Logger: discardLog(),
		})
	} else {
		store, err = sqlite.New(file, sqlite.Config{Logger: discardLog()})
	}
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func closeStore(t *testing.T, store vdb.Store) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// dataDir returns a new data directory that has the collection.
func (s *stored) dataDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if s.srv != nil {
		return dir
	}
	data, err := os.ReadFile(s.file)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "vectors.db"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
