package embed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/sourcegraph/conc"
)

// Client asks one model of one endpoint. It is safe for concurrent use.
type Client struct {
	cfg      Config
	endpoint endpoint
	http     *http.Client
	ownHTTP  bool
	secrets  []string // what no error may show

	cache   cache
	known   known
	queue   queue
	slots   chan struct{} // one for each request under way
	work    conc.WaitGroup
	trouble atomic.Pointer[string]
}

// New returns a client. It asks nothing yet: an endpoint that is down is no error here.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	e, urlErr := parseEndpoint(cfg.URL)
	if urlErr == nil && (e.user != "" || e.password != "") && cfg.Key != "" {
		urlErr = errors.New("key, url: a key, and a user in the url: want one of them")
	}
	if err := errors.Join(urlErr, cfg.validate()); err != nil {
		return nil, fmt.Errorf("embeddings configuration: %w", err)
	}
	vectors, err := newCache(cfg.CacheEntries)
	if err != nil {
		return nil, fmt.Errorf("make cache of embeddings: %w", err)
	}
	c := &Client{
		cfg: cfg, endpoint: e, cache: vectors, ownHTTP: cfg.HTTPClient == nil, secrets: secrets(cfg.Key, e),
		slots: make(chan struct{}, cfg.MaxRequests),
	}
	c.known.dimension, c.known.served = cfg.Dimension, cfg.ServedAs
	c.queue.calls, c.queue.running = map[string]*call{}, map[*batch]struct{}{}
	c.http = newHTTPClient(cfg)
	if e.plain && len(c.secrets) > 0 {
		cfg.Logger.Warn("the key of the embeddings endpoint goes to another machine in the clear: use https", "component", "embed", "url", e.shown)
	}
	return c, nil
}

// newHTTPClient returns the configured client or one of our own, which in either case does not follow redirects.
func newHTTPClient(cfg Config) *http.Client {
	own := http.Client{}
	if cfg.HTTPClient != nil {
		own = *cfg.HTTPClient
	} else if shared, ok := http.DefaultTransport.(*http.Transport); ok {
		transport := shared.Clone()
		transport.MaxIdleConnsPerHost = cfg.MaxRequests
		own.Transport = transport
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Embed returns the vector of a text. The caller may change it.
//
// Errors: [ErrBadText]; [ErrUnavailable], [ErrRefused], [ErrBadAnswer], [ErrDimension], [ErrModel], each in an
// [*EndpointError]; [ErrClosed]; the context's own error.
func (c *Client) Embed(ctx context.Context, text string) ([]float32, error) {
	if err := c.CheckText(text); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed text: %w", err)
	}
	if v, ok := c.cache.get(text); ok {
		c.cfg.Hooks.Cached(1)
		return v, nil
	}
	calls, err := c.join(false, text)
	if err != nil {
		return nil, err
	}
	return c.wait(ctx, calls[0])
}

// wait returns the answer to a call that the caller has joined.
func (c *Client) wait(ctx context.Context, k *call) ([]float32, error) {
	select {
	case <-k.done:
		return slices.Clone(k.vector), k.err
	case <-ctx.Done():
		c.leave(k)
		return nil, fmt.Errorf("embed text: %w", ctx.Err())
	}
}

// CheckText reports whether a text can be embedded, as far as that can be told without asking: [ErrBadText].
func (c *Client) CheckText(text string) error { return checkText(text, c.cfg.MaxTextBytes) }

// Model returns the model's name, as configured.
func (c *Client) Model() string { return c.cfg.Model }

// URL returns the address that is asked, without user, password and query.
func (c *Client) URL() string { return c.endpoint.shown }

// Known returns the number of elements of a vector, 0 before the first answer unless configured, and the name under which
// the endpoint answers for the model, empty where it has not said one.
func (c *Client) Known() (dimension int, servedAs string) { return c.known.get() }

// Trouble says what was wrong with the latest answer of the endpoint, or with having none; empty when it was good.
func (c *Client) Trouble() string {
	if text := c.trouble.Load(); text != nil {
		return *text
	}
	return ""
}

// Close ends the requests under way, whose callers get [ErrClosed], and waits for them. A second Close does nothing.
func (c *Client) Close() {
	c.closeQueue()
	c.work.Wait()
	if c.ownHTTP {
		c.http.CloseIdleConnections()
	}
	c.cache.close()
}
