package qdrant

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

func create(t *testing.T, raw *pb.Client, vectors *pb.VectorsConfig) {
	t.Helper()
	if err := raw.CreateCollection(t.Context(), &pb.CreateCollection{CollectionName: "facts", VectorsConfig: vectors}); err != nil {
		t.Fatal(err)
	}
}

func TestMissingCollection(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	st := open(t, Config{URL: srv.Addr(), Collection: "facts"})
	u := space(t, "u")
	q := vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 1}
	check := func(step string) {
		t.Helper()
		_, infoErr := st.Info(t.Context())
		_, searchErr := st.Search(t.Context(), q)
		for what, err := range map[string]error{"Info": infoErr, "Search": searchErr, "Upsert": st.Upsert(t.Context(), []vdb.Point{fact(u, "x", "")})} {
			if !errors.Is(err, vdb.ErrNoCollection) || !strings.Contains(err.Error(), `"facts"`) || !strings.Contains(err.Error(), "create_collection") {
				t.Errorf("%s, %s: got %v, want ErrNoCollection with the name and a hint", step, what, err)
			}
		}
	}
	check("never there")
	raw := rawClient(t, srv.Addr())
	create(t, raw, pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Cosine}))
	if _, err := st.Search(t.Context(), q); err != nil {
		t.Errorf("created meanwhile: %v", err)
	}
	if err := raw.DeleteCollection(t.Context(), "facts"); err != nil {
		t.Fatal(err)
	}
	check("dropped meanwhile")
}

func TestCollectionsThatAreRefused(t *testing.T) {
	cosine := &pb.VectorParams{Size: 2, Distance: pb.Distance_Cosine}
	named := pb.NewVectorsConfigMap(map[string]*pb.VectorParams{"dense": cosine, "image": cosine})
	for name, tc := range map[string]struct {
		vectors *pb.VectorsConfig
		cfg     Config
		is      error
		say     []string
	}{
		"Dot":             {pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Dot}), Config{}, vdb.ErrUnsupported, []string{"Dot", "Cosine"}},
		"Euclid":          {pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Euclid}), Config{}, vdb.ErrUnsupported, []string{"Euclid"}},
		"Manhattan":       {pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Manhattan}), Config{}, vdb.ErrUnsupported, []string{"Manhattan"}},
		"multi-vector":    {pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Cosine, MultivectorConfig: &pb.MultiVectorConfig{}}), Config{}, vdb.ErrUnsupported, []string{"multi-vector"}},
		"named, no name":  {named, Config{}, errVectorName, []string{"vector_name", "dense", "image"}},
		"named otherwise": {named, Config{VectorName: "text"}, errVectorName, []string{`"text"`, "dense"}},
		"unnamed":         {pb.NewVectorsConfig(cosine), Config{VectorName: "dense"}, errVectorName, []string{`"dense"`, "empty"}},
		"no vectors":      {nil, Config{}, errVectorName, nil},
		"dimension":       {pb.NewVectorsConfig(cosine), Config{Dimension: 3}, nil, []string{"3 dimensions", "has 2", "configured"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := wire.Start(t, wire.Options{})
			create(t, rawClient(t, srv.Addr()), tc.vectors)
			tc.cfg.URL, tc.cfg.Collection = srv.Addr(), "facts"
			st := open(t, tc.cfg)
			for range 2 { // a refusal is not forgotten
				_, err := st.Search(t.Context(), vdb.Query{Space: space(t, "u"), Vector: []float32{1, 0}, Limit: 1})
				if err == nil || tc.is != nil && !errors.Is(err, tc.is) {
					t.Fatalf("got %v, want %v", err, tc.is)
				}
				for _, say := range append(tc.say, `"facts"`) {
					if !strings.Contains(err.Error(), say) {
						t.Errorf("%q does not say %q", err, say)
					}
				}
			}
		})
	}
}

// A collection is dropped and made again with another embedding model while the driver runs.
func TestChangedDimension(t *testing.T) {
	st, raw := foreign(t, Config{})
	q := vdb.Query{Space: space(t, "u"), Vector: []float32{1, 0}, Limit: 1}
	if _, err := st.Search(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if err := raw.DeleteCollection(t.Context(), "facts"); err != nil {
		t.Fatal(err)
	}
	create(t, raw, pb.NewVectorsConfig(&pb.VectorParams{Size: 3, Distance: pb.Distance_Cosine}))

	var dimension *vdb.DimensionError
	_, err := st.Search(t.Context(), q) // the server notices
	if !errors.As(err, &dimension) || *dimension != (vdb.DimensionError{Got: 2, Want: 3}) || !errors.Is(err, vdb.ErrBadQuery) {
		t.Errorf("query of the old dimension: got %v", err)
	}
	q.Vector = []float32{1, 0, 0}
	if _, err := st.Search(t.Context(), q); err != nil {
		t.Errorf("query of the new dimension: %v", err)
	}

	fresh := open(t, Config{URL: st.cfg.URL, Collection: "facts"})
	if _, err := fresh.Search(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if err := raw.DeleteCollection(t.Context(), "facts"); err != nil {
		t.Fatal(err)
	}
	create(t, raw, pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Cosine}))
	if err := fresh.Upsert(t.Context(), []vdb.Point{fact(q.Space, "x", "")}); err != nil { // what is known objects, the server does not
		t.Errorf("upsert of the new dimension: %v", err)
	}
}

func TestCreateCollection(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	cfg := Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 3, VectorName: "dense",
		Fields: map[string]string{vdb.FieldUserID: "metadata.user_id"}}
	info, err := open(t, cfg).Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (vdb.Info{Driver: "qdrant", Collection: "facts", Dimension: 3, Keyword: true}); info != want {
		t.Errorf("info %+v, want %+v", info, want)
	}
	raw := rawClient(t, srv.Addr())
	made, err := raw.GetCollectionInfo(t.Context(), "facts")
	if err != nil {
		t.Fatal(err)
	}
	params := made.GetConfig().GetParams().GetVectorsConfig().GetParamsMap().GetMap()["dense"]
	if params.GetSize() != 3 || params.GetDistance() != pb.Distance_Cosine {
		t.Errorf("vector %v", params)
	}
	kinds := map[string]string{}
	for key, field := range made.GetPayloadSchema() {
		kinds[key] = field.GetDataType().String()
	}
	want := map[string]string{"metadata.user_id": "Keyword", "agent_id": "Keyword", "state": "Keyword", "version": "Integer", "episode_id": "Keyword",
		"batch_id": "Keyword", "source_id": "Keyword", "tags": "Keyword", "memory_at": "Datetime", "created_at": "Datetime", "valid_from": "Datetime", "valid_to": "Datetime"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("indexes (-want +got):\n%s", diff)
	}
	for key, field := range made.GetPayloadSchema() {
		if got := field.GetParams().GetKeywordIndexParams().GetIsTenant(); got != (key == "metadata.user_id") {
			t.Errorf("%s is the tenant: %v", key, got)
		}
	}
	// An index that is missing, as after an interrupted start, is added; nothing else is made again.
	if _, err := raw.DeleteFieldIndex(t.Context(), &pb.DeleteFieldIndexCollection{CollectionName: "facts", FieldName: "tags"}); err != nil {
		t.Fatal(err)
	}
	before := srv.Calls("CreateFieldIndex")
	if _, err := open(t, cfg).Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := srv.Calls("CreateFieldIndex") - before; n != 1 || srv.Calls("Create") != 1 {
		t.Errorf("%d indexes and %d collections were created, want 1 and 1", n, srv.Calls("Create"))
	}
	made, err = raw.GetCollectionInfo(t.Context(), "facts")
	if err != nil || made.GetPayloadSchema()["tags"] == nil {
		t.Errorf("the index was not added: %v", err)
	}
}

// Many first calls at once create one collection.
func TestCreateCollectionConcurrently(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	errs := make(chan error)
	const stores = 8
	for range stores {
		st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2})
		go func() {
			_, err := st.Info(t.Context())
			errs <- err
		}()
	}
	for range stores {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// The collection is asked for once, not once for each call.
func TestShapeIsCached(t *testing.T) {
	srv, st, q := started(t, wire.Options{}, Config{})
	before := srv.Calls("Get")
	for range 5 {
		if _, err := st.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if n := srv.Calls("Get") - before; n != 0 {
		t.Errorf("%d questions about the collection", n)
	}
}
