package qdrant

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
)

// Defaults of [Config].
const (
	DefaultURL             = "http://localhost:6334"
	DefaultTimeout         = 10 * time.Second
	DefaultMaxMessageBytes = 64 << 20
	DefaultRetryAttempts   = 4
	DefaultPoolSize        = 3
	DefaultKeyword         = KeywordClient
	DefaultSparseVector    = "bm25"
	DefaultServerTokenizer = "multilingual"
	DefaultServerLanguage  = "none"
)

// Values of [Config.Keyword].
const (
	KeywordClient = "client"
	KeywordServer = "server"
	KeywordOff    = "off"
)

// Bounds of [Config].
const (
	MaxDimension     = 65536     // the server's
	MaxRetryAttempts = 5         // gRPC's
	MaxPoolSize      = 64        // connections
	MinMessageBytes  = 64 << 10  // a point of ordinary size must fit
	maxMessageBytes  = 1<<31 - 1 // what an answer can have at all
)

// ServerLanguages returns the languages whose stop words the server knows. It takes any other name for none, and says
// nothing.
func ServerLanguages() []string {
	return strings.Fields(`arabic azerbaijani basque bengali catalan chinese danish dutch english finnish french german greek hebrew
		hinglish hungarian indonesian italian kazakh nepali norwegian portuguese romanian russian slovene spanish swedish tajik turkish`)
}

// Config says which collection of which server to use. The zero values of all fields but Collection have defaults.
type Config struct {
	// URL is the server's gRPC address: http://host:port, https://host:port for TLS, or host:port without TLS. The port
	// defaults to 6334 (6333, the other one of a server, is its REST interface and does not work). Defaults to
	// [DefaultURL].
	URL string
	// APIKey is sent with every call. Over an http URL to another machine it can be read on the way, which is warned of.
	APIKey string
	// CAFile is a PEM file of the certificates to trust instead of the system's. Only for https.
	CAFile string

	// Collection is the collection's name or alias. Required.
	Collection string
	// VectorName is the name of the dense vector to search. Empty for the unnamed vector.
	VectorName string
	// Keyword says who makes the words of keyword search out of a content. Both ways keep them in the sparse vector
	// [Config.SparseVector], which must have the IDF modifier; a collection without one is vdb.ErrUnsupported to keyword
	// searches. Points that something else wrote are found as far as their words were made in the same way.
	//
	//   - [KeywordClient]: vdb.Tokenize and BM25 weights of this driver, so that words are what they are in every store. Any
	//     server.
	//   - [KeywordServer]: the server's model qdrant/bm25, for collections whose other writers use it. Words are what
	//     [Config.ServerTokenizer] and [Config.ServerLanguage] say. Servers from 1.15.3 on.
	//   - [KeywordOff]: none; the sparse vector is neither read nor written.
	//
	// Defaults to [DefaultKeyword].
	Keyword string
	// SparseVector is the name of the sparse vector of words. Defaults to [DefaultSparseVector].
	SparseVector string
	// ServerTokenizer is the server's tokenizer for [KeywordServer]: "multilingual", "word" or "whitespace". It must be that
	// of the collection's other writers; Qdrant's own default is "word". Defaults to [DefaultServerTokenizer].
	ServerTokenizer string
	// ServerLanguage is the language of stop words and stemming for [KeywordServer], one of [ServerLanguages] or "none". It
	// must be that of the collection's other writers; Qdrant's own default is "english". Defaults to [DefaultServerLanguage].
	ServerLanguage string
	// Fields says where the payload keeps a field: vdb.FieldUserID and so on to a path like "metadata.user_id", whose keys
	// are quoted where they hold more than letters, digits, '_' and '-', as in `"user id"`. A time may state what its numbers
	// are, as in "ts@ms" (see [vdb.CutTimeUnit]); the content may lie in a text that holds JSON, as in "node@json.text", and can
	// only be read then. A field that is not in the map is at its own name.
	Fields map[string]string

	// CreateCollection creates the collection at first use when it is missing, with [Config.Dimension], the cosine distance
	// and indexes on the payload fields that are filtered by, and adds those indexes when they are missing. Defaults to
	// false: a missing collection is vdb.ErrNoCollection.
	CreateCollection bool
	// Dimension is the number of elements of a vector: of a collection to be created, where it is required, and of an
	// existing one, which is refused when it has another. 1 to [MaxDimension]; zero takes any existing collection.
	Dimension int

	// Exact searches without the server's approximate index. Slower on large collections, and reproducible.
	Exact bool
	// Timeout bounds each call to the server, retries included, besides the deadline of the caller's context. Defaults to
	// [DefaultTimeout].
	Timeout time.Duration
	// MaxMessageBytes bounds an answer of the server. Scrolls and reads by id ask for less at a time to stay below it; a
	// search whose answer is larger is an error. [MinMessageBytes] or more. Defaults to [DefaultMaxMessageBytes].
	MaxMessageBytes int
	// RetryAttempts is how often a call that finds the server unavailable is made in all, 1 to [MaxRetryAttempts], some
	// tens to hundreds of milliseconds apart. Defaults to [DefaultRetryAttempts].
	RetryAttempts int
	// PoolSize is the number of connections, used in turn, 1 to [MaxPoolSize]. Defaults to [DefaultPoolSize].
	PoolSize int
	// Logger receives warnings. Defaults to slog.Default().
	Logger *slog.Logger
}

// withDefaults returns a copy with every zero field that has a default filled in.
func (c Config) withDefaults() Config {
	c.URL = cmp.Or(c.URL, DefaultURL)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.MaxMessageBytes = cmp.Or(c.MaxMessageBytes, DefaultMaxMessageBytes)
	c.RetryAttempts = cmp.Or(c.RetryAttempts, DefaultRetryAttempts)
	c.PoolSize = cmp.Or(c.PoolSize, DefaultPoolSize)
	c.Keyword = cmp.Or(c.Keyword, DefaultKeyword)
	c.SparseVector = cmp.Or(c.SparseVector, DefaultSparseVector)
	c.ServerTokenizer = cmp.Or(c.ServerTokenizer, DefaultServerTokenizer)
	c.ServerLanguage = cmp.Or(c.ServerLanguage, DefaultServerLanguage)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// validate joins every violation of a configuration with defaults, except those of the URL, which parseAddress finds.
func (c Config) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Collection == "" {
		bad("collection is empty: want the name of the collection")
	}
	oneOf := func(field, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			bad("%s %s: want one of %q", field, graphstore.Shorten(value), allowed)
		}
	}
	oneOf("keyword", c.Keyword, KeywordClient, KeywordServer, KeywordOff)
	oneOf("server tokenizer", c.ServerTokenizer, "multilingual", "word", "whitespace")
	oneOf("server language", c.ServerLanguage, append(ServerLanguages(), DefaultServerLanguage)...)
	if c.Keyword != KeywordOff && c.SparseVector == c.VectorName {
		bad("sparse vector %q: want another name than the dense vector's", c.SparseVector)
	}
	if c.Dimension < 0 || c.Dimension > MaxDimension {
		bad("dimension %d: want 1 to %d", c.Dimension, MaxDimension)
	}
	if c.CreateCollection && c.Dimension == 0 {
		bad("dimension 0: want 1 to %d to create the collection with", MaxDimension)
	}
	if c.Timeout < 0 {
		bad("timeout %v: want more than 0", c.Timeout)
	}
	if c.MaxMessageBytes < MinMessageBytes || c.MaxMessageBytes > maxMessageBytes {
		bad("max message bytes %d: want %d to %d", c.MaxMessageBytes, MinMessageBytes, maxMessageBytes)
	}
	if c.RetryAttempts < 1 || c.RetryAttempts > MaxRetryAttempts {
		bad("retry attempts %d: want 1 to %d", c.RetryAttempts, MaxRetryAttempts)
	}
	if c.PoolSize < 1 || c.PoolSize > MaxPoolSize {
		bad("pool size %d: want 1 to %d", c.PoolSize, MaxPoolSize)
	}
	return errors.Join(errs...)
}
