package wire

import (
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// embedding makes a sparse vector of a document.
type embedding func(*pb.Document) (*pb.SparseVector, error)

// Defaults of the model's options.
const (
	defaultK      = 1.2
	defaultB      = 0.75
	defaultAvgLen = 256
)

// embedStored weighs the words of a point's document by BM25, without the inverse document frequency.
func (s *Server) embedStored(doc *pb.Document) (*pb.SparseVector, error) {
	words, err := s.documentWords(doc)
	if err != nil {
		return nil, err
	}
	counts := map[uint32]float64{}
	for _, word := range words {
		counts[number(word)]++
	}
	k, b, mean := option(doc, "k", defaultK), option(doc, "b", defaultB), option(doc, "avg_len", defaultAvgLen)
	sparse := &pb.SparseVector{Indices: slices.Sorted(maps.Keys(counts))}
	for _, n := range sparse.Indices {
		tf := counts[n]
		sparse.Values = append(sparse.Values, float32(tf*(k+1)/(tf+k*(1-b+b*float64(len(words))/mean))))
	}
	return sparse, nil
}

// embedQuery weighs every word of a query's document 1.
func (s *Server) embedQuery(doc *pb.Document) (*pb.SparseVector, error) {
	words, err := s.documentWords(doc)
	if err != nil {
		return nil, err
	}
	sparse := &pb.SparseVector{}
	for _, word := range words {
		sparse.Indices = append(sparse.Indices, number(word))
	}
	slices.Sort(sparse.Indices)
	sparse.Indices = slices.Compact(sparse.Indices)
	for range sparse.Indices {
		sparse.Values = append(sparse.Values, 1)
	}
	return sparse, nil
}

// documentWords checks the model and cuts the text into lower-case words.
func (s *Server) documentWords(doc *pb.Document) ([]string, error) {
	if !s.atLeast(15) || !strings.EqualFold(doc.GetModel(), "qdrant/bm25") {
		return nil, status.Error(codes.Internal,
			"Service internal error: InferenceService is not initialized. Please check if it was properly configured and initialized during startup.")
	}
	if language := doc.GetOptions()["language"].GetStringValue(); language != "none" {
		return nil, status.Errorf(codes.Unimplemented, "wire: stop words and stems of the language %q are not imitated", language)
	}
	text := strings.ToLower(doc.GetText())
	switch tokenizer := doc.GetOptions()["tokenizer"].GetStringValue(); tokenizer {
	case "whitespace":
		return strings.Fields(text), nil
	case "", "word", "multilingual":
		return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), nil
	default:
		return nil, status.Errorf(codes.InvalidArgument,
			"Wrong input: Invalid BM25 config: unknown variant `%s`, expected one of `prefix`, `whitespace`, `word`, `multilingual`", tokenizer)
	}
}

func option(doc *pb.Document, name string, absent float64) float64 {
	if v, ok := doc.GetOptions()[name]; ok {
		return v.GetDoubleValue()
	}
	return absent
}

func number(word string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(word)) // never fails
	return h.Sum32()
}
