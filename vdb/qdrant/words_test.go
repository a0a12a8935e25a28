package qdrant

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// The values are those that the algorithm's other implementations publish for the seed 0.
func TestMurmur3(t *testing.T) {
	for text, want := range map[string]uint32{
		"":              0,
		"a":             0x3c2569b2,
		"test":          0xba6bd213,
		"Hello, world!": 0xc0363e43,
		"The quick brown fox jumps over the lazy dog": 0x2e4ff723,
	} {
		if got := murmur3(text); got != want {
			t.Errorf("%q: got %#x, want %#x", text, got, want)
		}
	}
}

// Numbers of words are part of stored data, and shared with Qdrant's own clients.
func TestWordNumber(t *testing.T) {
	for word, want := range map[string]uint32{
		"a":    0x3c2569b2,              // positive as a signed number: the hash itself
		"test": 0xffffffff - 0xba6bd212, // the hash 0xba6bd213 is negative: 2^32 minus it
	} {
		if got := wordNumber(word); got != want {
			t.Errorf("%q: got %d, want %d", word, got, want)
		}
	}
}

func TestClientWords(t *testing.T) {
	// Three words. Length part: 1.2 * (1 - 0.75 + 0.75*3/20) = 0.435.
	// coffee twice: 2*2.2/(2+0.435) = 1.806982; tea once: 2.2/(1+0.435) = 1.533101.
	sparse := clientWords{}.document("Coffee, the tea & coffee").GetSparse()
	got := map[uint32]float64{}
	for i, n := range sparse.GetIndices() {
		got[n] = math.Round(float64(sparse.GetValues()[i])*1e6) / 1e6
	}
	if diff := cmp.Diff(map[uint32]float64{wordNumber("coffee"): 1.806982, wordNumber("tea"): 1.533101}, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	query := clientWords{}.query("tea coffee TEA").GetNearest().GetSparse()
	if len(query.GetIndices()) != 2 || query.GetValues()[0] != 1 || query.GetValues()[1] != 1 {
		t.Errorf("query %v, want two words of weight 1", query)
	}
	if document, query := (clientWords{}).document("the ?"), (clientWords{}).query(" "); document != nil || query != nil {
		t.Errorf("no words: %v, %v", document, query)
	}
}

// n is 4 contents, 2 of them with the word: idf = ln((4-2+0.5)/(2+0.5)+1) = ln 2 = 0.693147.
// A content of 2 words: 2.2/(1+1.2*(0.25+0.75*2/20)) = 2.2/1.39 = 1.582734, of 1 word: 2.2/(1+1.2*(0.25+0.75/20)) = 2.2/1.345 = 1.635688.
func TestKeywordScoreIsBM25(t *testing.T) {
	for _, keyword := range []string{KeywordClient, KeywordServer} {
		srv := wire.Start(t, wire.Options{})
		st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2, Keyword: keyword})
		u := space(t, "u")
		upsert(t, st, fact(u, "two", "coffee tea"), fact(u, "one", "tea"), fact(u, "milk", "milk"), fact(u, "none", ""))
		upsert(t, st, fact(space(t, "v"), "bread", "bread")) // counts in n: the frequency is the collection's
		got, err := st.Keyword(t.Context(), vdb.KeywordQuery{Space: u, Text: "tea", Limit: 5})
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %v, %v", keyword, got, err)
		}
		for i, want := range []float64{1.635688 * 0.693147, 1.582734 * 0.693147} {
			if math.Abs(got[i].Score-want) > 1e-5 {
				t.Errorf("%s: score of %s: got %v, want %v", keyword, got[i].ID, got[i].Score, want)
			}
		}
	}
}

// The server is given texts, model and options, and no weights.
func TestServerWords(t *testing.T) {
	var mu sync.Mutex
	var documents []*pb.Document
	srv := wire.Start(t, wire.Options{Observe: func(_ string, req any) {
		mu.Lock()
		defer mu.Unlock()
		switch req := req.(type) {
		case *pb.UpsertPoints:
			for _, p := range req.GetPoints() {
				documents = append(documents, p.GetVectors().GetVectors().GetVectors()["words"].GetDocument())
			}
		case *pb.QueryPoints:
			documents = append(documents, req.GetQuery().GetNearest().GetDocument())
		case *pb.QueryBatchPoints:
			documents = append(documents, req.GetQueryPoints()[1].GetQuery().GetNearest().GetDocument(),
				req.GetQueryPoints()[2].GetPrefetch()[0].GetQuery().GetNearest().GetDocument())
		}
	}})
	st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2,
		Keyword: KeywordServer, SparseVector: "words", ServerTokenizer: "word"})
	u := space(t, "u")
	upsert(t, st, fact(u, "x", "Coffee at noon"))
	const text = "Coffee \xff"
	words, err := st.Keyword(t.Context(), vdb.KeywordQuery{Space: u, Text: text, Limit: 5})
	if err != nil || len(words) != 1 {
		t.Errorf("keyword: %v, %v", words, err)
	}
	both, err := st.Hybrid(t.Context(), vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 5}, Text: text})
	if err != nil || len(both.Keyword) != 1 {
		t.Errorf("hybrid: %v, %v", both, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(documents) != 4 {
		t.Fatalf("%d documents, want 1 stored and 3 asked for", len(documents))
	}
	for i, doc := range documents {
		want := "Coffee  "
		if i == 0 {
			want = "Coffee at noon"
		}
		options := doc.GetOptions()
		if doc.GetText() != want || doc.GetModel() != "qdrant/bm25" || options["tokenizer"].GetStringValue() != "word" ||
			options["language"].GetStringValue() != "none" || options["avg_len"].GetDoubleValue() != 20 {
			t.Errorf("document %d: %v", i, doc)
		}
	}
}

func TestServerTooOldForItsModel(t *testing.T) {
	for version, refused := range map[string]bool{"1.14.1": true, "1.15.2": true, "1.15.3": false, "1.17.1": false} {
		srv := wire.Start(t, wire.Options{Version: version})
		st := open(t, Config{URL: srv.Addr(), Collection: "facts", CreateCollection: true, Dimension: 2, Keyword: KeywordServer})
		u := space(t, "u")
		info, err := st.Info(t.Context())
		if err != nil || info.Keyword == refused {
			t.Errorf("%s: info %+v, %v", version, info, err)
		}
		q := vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 1}, Text: "coffee"}
		_, keywordErr := st.Keyword(t.Context(), q.KeywordQuery())
		_, hybridErr := st.Hybrid(t.Context(), q)
		for what, err := range map[string]error{"Keyword": keywordErr, "Hybrid": hybridErr, "Upsert": st.Upsert(t.Context(), []vdb.Point{fact(u, "x", "coffee")})} {
			if !refused && err != nil {
				t.Errorf("%s: %s: %v", version, what, err)
			}
			if !refused {
				continue
			}
			for _, say := range []string{version, "1.15.3", "qdrant/bm25", `"client"`} {
				if !errors.Is(err, vdb.ErrUnsupported) || !strings.Contains(err.Error(), say) {
					t.Errorf("%s: %s: got %v, want ErrUnsupported that says %q", version, what, err, say)
				}
			}
		}
		if _, err := st.Search(t.Context(), q.Query); err != nil {
			t.Errorf("%s: a dense search needs no words: %v", version, err)
		}
	}
}

func TestParseServerVersion(t *testing.T) {
	for text, want := range map[string]string{"1.15.2": "1.15.2 true", "v1.20.0": "1.20.0 true", "1.16.1-dev": "1.16.1 true", "dev": "0.0.0 false", "": "0.0.0 false"} {
		got, ok := parseServerVersion(text)
		if have := got.String() + map[bool]string{true: " true", false: " false"}[ok]; have != want {
			t.Errorf("%q: got %s, want %s", text, have, want)
		}
	}
}

// What is missing is named, and the rest works.
func TestCollectionsWithoutWords(t *testing.T) {
	vectors := pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Cosine})
	idf := &pb.SparseVectorParams{Modifier: pb.Modifier_Idf.Enum()}
	for name, tc := range map[string]struct {
		sparse map[string]*pb.SparseVectorParams
		cfg    Config
		say    []string
	}{
		"no sparse vector": {nil, Config{}, []string{`"bm25"`, "sparse_vector"}},
		"another name":     {map[string]*pb.SparseVectorParams{"words": idf}, Config{}, []string{`"bm25"`}},
		"no modifier":      {map[string]*pb.SparseVectorParams{"bm25": {}}, Config{}, []string{`"bm25"`, "None", "Idf"}},
		"turned off":       {map[string]*pb.SparseVectorParams{"bm25": idf}, Config{Keyword: KeywordOff}, []string{"turned off"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := wire.Start(t, wire.Options{})
			err := rawClient(t, srv.Addr()).CreateCollection(t.Context(), &pb.CreateCollection{
				CollectionName: "facts", VectorsConfig: vectors, SparseVectorsConfig: pb.NewSparseVectorsConfig(tc.sparse),
			})
			if err != nil {
				t.Fatal(err)
			}
			tc.cfg.URL, tc.cfg.Collection = srv.Addr(), "facts"
			st := open(t, tc.cfg)
			u := space(t, "u")
			upsert(t, st, fact(u, "x", "coffee"))
			q := vdb.HybridQuery{Query: vdb.Query{Space: u, Vector: []float32{1, 0}, Limit: 1}, Text: "coffee"}
			_, keywordErr := st.Keyword(t.Context(), q.KeywordQuery())
			_, hybridErr := st.Hybrid(t.Context(), q)
			for what, err := range map[string]error{"Keyword": keywordErr, "Hybrid": hybridErr} {
				for _, say := range append(tc.say, `"facts"`) {
					if !errors.Is(err, vdb.ErrUnsupported) || !strings.Contains(err.Error(), say) {
						t.Errorf("%s: got %v, want ErrUnsupported that says %q", what, err, say)
					}
				}
			}
			if got, err := st.Search(t.Context(), q.Query); err != nil || len(got) != 1 {
				t.Errorf("dense search: %v, %v", got, err)
			}
		})
	}
}

// A collection is dropped and made again without the sparse vector while the driver runs.
func TestWordsThatGoAway(t *testing.T) {
	srv, st, q := started(t, wire.Options{}, Config{})
	words := vdb.KeywordQuery{Space: q.Space, Text: "x", Limit: 1}
	if got, err := st.Keyword(t.Context(), words); err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	raw := rawClient(t, srv.Addr())
	if err := raw.DeleteCollection(t.Context(), "facts"); err != nil {
		t.Fatal(err)
	}
	create(t, raw, pb.NewVectorsConfig(&pb.VectorParams{Size: 2, Distance: pb.Distance_Cosine}))
	if _, err := st.Keyword(t.Context(), words); !errors.Is(err, errVectorName) || !strings.Contains(err.Error(), `"bm25" (sparse_vector)`) {
		t.Errorf("the server notices: got %v", err)
	}
	if _, err := st.Keyword(t.Context(), words); !errors.Is(err, vdb.ErrUnsupported) {
		t.Errorf("then it is known: got %v", err)
	}
}
