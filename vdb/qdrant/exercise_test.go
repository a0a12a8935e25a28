package qdrant

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// realServerEnv names a real server, host:port, to run the suite against as well.
const realServerEnv = "KITH_TEST_QDRANT"

var collections atomic.Int64

// freshCollection returns a name that no other test and no earlier run has used.
func freshCollection() string {
	return fmt.Sprintf("kith-test-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), collections.Add(1))
}

// open returns a store that is closed when the test ends.
func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// rawClient speaks to the server without the driver.
func rawClient(t testing.TB, addr string) *pb.Client {
	t.Helper()
	parsed, err := parseAddress(addr)
	if err != nil {
		t.Fatal(err)
	}
	client, err := pb.NewClient(&pb.Config{Host: parsed.dialHost(), Port: parsed.port, PoolSize: 1, SkipCompatibilityCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// harness opens each store on a collection of its own, which goes with the test. prepare may create the collection.
func harness(name, addr string, cfg Config, prepare func(t testing.TB, c *pb.Client, collection string, dim int)) vdbtest.Harness {
	cfg.URL = addr
	return vdbtest.Harness{
		Name: name,
		Open: func(t *testing.T, dim int) vdb.Store {
			cfg := cfg
			cfg.Collection = freshCollection()
			client := rawClient(t, addr)
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				// Not the client's DeleteCollection: for it, a collection that never came to be is an error.
				_, err := client.GetCollectionsClient().Delete(ctx, &pb.DeleteCollection{CollectionName: cfg.Collection})
				if err != nil {
					t.Errorf("drop the collection: %v", err)
				}
			})
			if prepare == nil {
				cfg.CreateCollection, cfg.Dimension = true, dim
			} else {
				prepare(t, client, cfg.Collection, dim)
			}
			return open(t, cfg)
		},
		Reopen: func(t *testing.T, st vdb.Store) vdb.Store {
			s, ok := st.(*Store)
			if !ok {
				t.Fatalf("not a store of this package: %T", st)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, s.cfg)
		},
		Features: vdbtest.Features{Keyword: cfg.Keyword != KeywordOff, OtherWords: cfg.Keyword == KeywordServer, Durable: true},
	}
}

// nestedFields is how a memory system with a metadata object lays out its payload.
var nestedFields = map[string]string{
	vdb.FieldUserID: "metadata.user_id", vdb.FieldAgentID: `metadata."agent id"`, vdb.FieldContent: "page_content",
	vdb.FieldMemoryAt: "metadata.times.memory", vdb.FieldTags: "labels",
}

// bareNamed creates a collection with a named dense vector beside a sparse one and without any index.
func bareNamed(t testing.TB, c *pb.Client, collection string, dim int) {
	t.Helper()
	err := c.CreateCollection(t.Context(), &pb.CreateCollection{
		CollectionName: collection,
		VectorsConfig: pb.NewVectorsConfigMap(map[string]*pb.VectorParams{
			"dense": {Size: uint64(dim), Distance: pb.Distance_Cosine},
			"other": {Size: 2, Distance: pb.Distance_Dot},
		}),
		SparseVectorsConfig: pb.NewSparseVectorsConfig(map[string]*pb.SparseVectorParams{"bm25": {Modifier: pb.Modifier_Idf.Enum()}}),
	})
	if err != nil {
		t.Fatalf("create the collection: %v", err)
	}
}

func TestExerciseQdrant(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	vdbtest.Exercise(t, harness("qdrant", srv.Addr(), Config{}, nil))
}

// A collection that the driver did not make: nested fields, a named vector, no index to tell types by.
func TestExerciseQdrantForeignCollection(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	vdbtest.Exercise(t, harness("qdrant-foreign", srv.Addr(), Config{VectorName: "dense", Fields: nestedFields}, bareNamed))
}

// A server that knows no conditional updates and answers vectors in the deprecated fields.
func TestExerciseQdrantOldServer(t *testing.T) {
	srv := wire.Start(t, wire.Options{Version: "1.15.5", FlatVectors: true})
	vdbtest.Exercise(t, harness("qdrant-old", srv.Addr(), Config{}, nil))
}

func TestExerciseQdrantServerWords(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	vdbtest.Exercise(t, harness("qdrant-server-words", srv.Addr(), Config{Keyword: KeywordServer}, nil))
}

func TestExerciseQdrantWithoutWords(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	vdbtest.Exercise(t, harness("qdrant-no-words", srv.Addr(), Config{Keyword: KeywordOff}, nil))
}

func TestExerciseQdrantRealServer(t *testing.T) {
	addr := os.Getenv(realServerEnv)
	if addr == "" {
		t.Skipf("set %s=host:port to run against a real server", realServerEnv)
	}
	// Exact, so that an index that is built meanwhile does not make the answers approximate.
	vdbtest.Exercise(t, harness("qdrant-real", addr, Config{Exact: true}, nil))
	vdbtest.Exercise(t, harness("qdrant-real-foreign", addr, Config{Exact: true, VectorName: "dense", Fields: nestedFields}, bareNamed))
	vdbtest.Exercise(t, harness("qdrant-real-server-words", addr, Config{Exact: true, Keyword: KeywordServer}, nil))
}
