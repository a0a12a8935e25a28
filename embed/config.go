package embed

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Defaults of [Config].
const (
	DefaultTimeout       = 5 * time.Second
	DefaultWindow        = 2 * time.Millisecond
	DefaultMaxBatch      = 32 // what Text Embeddings Inference takes unless told otherwise; others take more
	DefaultMaxBatchBytes = 256 << 10
	DefaultMaxTextBytes  = 32 << 10 // about 8,000 tokens of English
	DefaultMaxRequests   = 8
	DefaultAttempts      = 4
	DefaultCacheEntries  = 4096
)

// Bounds of [Config].
const (
	MaxDimension = 65536 // elements of a vector
	MaxBatch     = 2048  // texts in one request: OpenAI's limit
	MaxAttempts  = 10
	MaxWindow    = time.Second
)

// answerBytesPerText is what an answer may take for each text of its request: 4096 numbers of 25 characters, and room.
const answerBytesPerText = 256 << 10

// Config says which model of which endpoint to ask, and how. URL and Model are required.
type Config struct {
	// URL is the endpoint: http(s)://host[:port] asks at /v1/embeddings, a path that does not end in /embeddings gets that
	// appended (https://host/v1), any other is taken as it is. A query is sent along. A user and password are sent as basic
	// authentication, and exclude Key.
	URL string
	// Model is the model's name, as the endpoint knows it.
	Model string
	// Key is sent as a bearer token. Over an http URL to another machine it can be read on the way, which is warned of.
	Key string

	// Dimension is the number of elements of a vector, at most [MaxDimension]; an answer with another is [ErrDimension].
	// Zero takes that of the first answer for the client's life.
	Dimension int
	// Shorten asks the model for vectors of Dimension, which only some models can. Defaults to false.
	Shorten bool
	// ServedAs is the name under which the endpoint has answered for Model; an answer that names another model is [ErrModel].
	// Empty takes that of the first answer for the client's life. Answers that name none are taken.
	ServedAs string
	// Aliases are further names that are taken for the same model, as of gateways that give one model several.
	Aliases []string
	// Prefix is put before every text, as some models want it: "query: ", "passage: ". Defaults to none.
	Prefix string
	// Base64 asks for vectors in base64: shorter than numbers, but not every endpoint knows it. Either form of an answer
	// is read in any case. Defaults to false.
	Base64 bool

	// Timeout bounds a request with its retries. Defaults to [DefaultTimeout].
	Timeout time.Duration
	// Window is how long the first text of a request waits for others, at most [MaxWindow]. Defaults to [DefaultWindow].
	Window time.Duration
	// MaxBatch and MaxBatchBytes bound the texts of one request by number, 1 to [MaxBatch], and by bytes. A single text may
	// be longer than MaxBatchBytes. Default to [DefaultMaxBatch] and [DefaultMaxBatchBytes].
	MaxBatch      int
	MaxBatchBytes int
	// MaxTextBytes bounds one text, prefix apart; a longer one is [ErrBadText]. Defaults to [DefaultMaxTextBytes].
	MaxTextBytes int
	// MaxRequests is the number of requests under way at a time; more wait. Defaults to [DefaultMaxRequests].
	MaxRequests int
	// Attempts is how often a request is made in all while the endpoint cannot be reached or answers 429 or 5xx, 1 to
	// [MaxAttempts]. Defaults to [DefaultAttempts].
	Attempts int
	// CacheEntries is the number of texts whose vectors are kept in memory, each 4 bytes per element and the text: 30 MB
	// for the default of [DefaultCacheEntries] and 1536 elements. Negative keeps none.
	CacheEntries int

	// HTTPClient makes the requests. Its redirects are not used: a redirect is an error, so that the key goes nowhere else.
	// Defaults to a client of its own.
	HTTPClient *http.Client
	// Logger receives warnings about the configuration. Failures are returned, not logged. Defaults to slog.Default().
	Logger *slog.Logger
	Hooks  Hooks
}

// Hooks tell the embedding program what happens; nil fields do nothing. They are called from several goroutines at once.
type Hooks struct {
	Cached    func(texts int)    // texts answered from the cache
	Requested func(RequestStats) // after every HTTP request, retries too
}

// RequestStats describes one HTTP request.
type RequestStats struct {
	Texts  int // asked for
	Status int // of the answer; 0 where there was none
	Took   time.Duration
	Err    error // nil after a good answer
}

// withDefaults returns a copy with every zero field that has a default filled in.
func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Window = cmp.Or(c.Window, DefaultWindow)
	c.MaxBatch = cmp.Or(c.MaxBatch, DefaultMaxBatch)
	c.MaxBatchBytes = cmp.Or(c.MaxBatchBytes, DefaultMaxBatchBytes)
	c.MaxTextBytes = cmp.Or(c.MaxTextBytes, DefaultMaxTextBytes)
	c.MaxRequests = cmp.Or(c.MaxRequests, DefaultMaxRequests)
	c.Attempts = cmp.Or(c.Attempts, DefaultAttempts)
	c.CacheEntries = cmp.Or(c.CacheEntries, DefaultCacheEntries)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Hooks.Cached == nil {
		c.Hooks.Cached = func(int) {}
	}
	if c.Hooks.Requested == nil {
		c.Hooks.Requested = func(RequestStats) {}
	}
	return c
}

// validate joins every violation of a configuration with defaults, except those of the URL, which parseEndpoint finds.
func (c Config) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Model == "" {
		bad("model is empty: want the model's name")
	}
	if !printable(c.Key) {
		bad("key: holds a character that a header cannot (a line break or a space at its end?)")
	}
	if c.Dimension < 0 || c.Dimension > MaxDimension {
		bad("dimension %d: want 1 to %d, or 0 for that of the first answer", c.Dimension, MaxDimension)
	}
	if c.Shorten && c.Dimension == 0 {
		bad("dimension 0: want the one to shorten to")
	}
	if c.Timeout < 0 {
		bad("timeout %v: want more than 0", c.Timeout)
	}
	if c.Window < 0 || c.Window > MaxWindow {
		bad("window %v: want more than 0, at most %v", c.Window, MaxWindow)
	}
	if c.MaxBatch < 1 || c.MaxBatch > MaxBatch {
		bad("max batch %d: want 1 to %d", c.MaxBatch, MaxBatch)
	}
	for _, f := range []struct {
		name string
		v    int
	}{{"max batch bytes", c.MaxBatchBytes}, {"max text bytes", c.MaxTextBytes}, {"max requests", c.MaxRequests}} {
		if f.v < 1 {
			bad("%s %d: want 1 or more", f.name, f.v)
		}
	}
	if c.Attempts < 1 || c.Attempts > MaxAttempts {
		bad("attempts %d: want 1 to %d", c.Attempts, MaxAttempts)
	}
	return errors.Join(errs...)
}

// printable reports whether a text is made of visible ASCII.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
