package qdrant

import (
	"maps"
	"slices"
	"strings"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/vdb"
)

// The constants of BM25 (Robertson and Zaragoza 2009), as Qdrant's own model has them by default.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// MeanWords is the length of a content, in words, at which BM25 neither favours nor disfavours it: a fact is a sentence
// or two. It is a constant, as it is part of what is stored and its change would need every point written again.
const MeanWords = 20

// bm25Model is the server's own model. It needs no inference service.
const bm25Model = "qdrant/bm25"

// wording makes what keyword search stores and asks for. The server multiplies each word's weight by its inverse document
// frequency, ln((n-df+0.5)/(df+0.5)+1) over the whole collection, when it searches. A text without words, as vdb.Tokenize
// counts them, gives nil.
type wording interface {
	document(text string) *pb.Vector
	query(text string) *pb.Query
}

// clientWords are the words of vdb.Tokenize, weighed here.
type clientWords struct{}

// document weighs each word by BM25 without the inverse document frequency.
func (clientWords) document(text string) *pb.Vector {
	words := vdb.Tokenize(text)
	if len(words) == 0 {
		return nil
	}
	counts := make(map[uint32]float64, len(words)) // words of one number are one word
	for _, word := range words {
		counts[wordNumber(word)]++
	}
	numbers := slices.Sorted(maps.Keys(counts))
	weights := make([]float32, len(numbers))
	length := bm25K1 * (1 - bm25B + bm25B*float64(len(words))/MeanWords)
	for i, n := range numbers {
		weights[i] = float32(counts[n] * (bm25K1 + 1) / (counts[n] + length))
	}
	return pb.NewVectorSparse(numbers, weights)
}

// query counts each word once, whatever its repetitions.
func (clientWords) query(text string) *pb.Query {
	var numbers []uint32
	for _, word := range vdb.Tokenize(text) {
		numbers = append(numbers, wordNumber(word))
	}
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers) // the server refuses repetitions
	weights := make([]float32, len(numbers))
	for i := range weights {
		weights[i] = 1
	}
	return pb.NewQuerySparse(numbers, weights)
}

// wordNumber is the place of a word in a sparse vector, by the rule of Qdrant's own model: the hash, taken as a signed
// number, without its sign.
func wordNumber(word string) uint32 {
	hash := int64(int32(murmur3(word)))
	return uint32(max(hash, -hash))
}

// serverWords leaves words and weights to the server's own model.
type serverWords struct{ options map[string]*pb.Value }

func newServerWords(cfg Config) serverWords {
	return serverWords{map[string]*pb.Value{
		"tokenizer": pb.NewValueString(cfg.ServerTokenizer),
		"language":  pb.NewValueString(cfg.ServerLanguage),
		"avg_len":   pb.NewValueDouble(MeanWords),
		"k":         pb.NewValueDouble(bm25K1),
		"b":         pb.NewValueDouble(bm25B),
	}}
}

func (w serverWords) document(text string) *pb.Vector {
	if !hasWords(text) {
		return nil
	}
	return pb.NewVectorDocument(w.of(text))
}

func (w serverWords) query(text string) *pb.Query {
	if !hasWords(text) {
		return nil
	}
	return pb.NewQueryDocument(w.of(text))
}

func hasWords(text string) bool { return len(vdb.Tokenize(text)) > 0 }

// of makes a document of the text; the protocol has no room for bytes that are no UTF-8.
func (w serverWords) of(text string) *pb.Document {
	return &pb.Document{Text: strings.ToValidUTF8(text, " "), Model: bm25Model, Options: w.options}
}
