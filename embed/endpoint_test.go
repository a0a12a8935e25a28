package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const testModel = "tiny-embed"

// model is a correct endpoint: a text's vector follows from its bytes.
type model struct {
	dimension int
	reverse   bool                                         // answer in the opposite order
	base64    bool                                         // answer in base64
	before    func(*http.Request, []string) *http.Response // answers instead where it returns one
	sync.Mutex
	requests [][]string
}

// vectorOf is the vector the model gives a text: its digest's bytes, less 127.5, which is no zero.
func vectorOf(text string, dimension int) []float32 {
	sum := sha256.Sum256([]byte(text))
	v := make([]float32, dimension)
	for i := range v {
		v[i] = float32(sum[i%len(sum)]) - 127.5
	}
	return v
}

// RoundTrip makes the model an endpoint without sockets, as synctest needs it.
func (m *model) RoundTrip(req *http.Request) (*http.Response, error) {
	var body struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return nil, err
	}
	m.Lock()
	m.requests = append(m.requests, body.Input)
	m.Unlock()
	if m.before != nil {
		if resp := m.before(req, body.Input); resp != nil {
			return resp, nil
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return reply(http.StatusOK, m.answer(body.Input)), nil
}

// answer writes the body of the good answer by hand: the decoder under test must not meet an encoder that agrees with it.
func (m *model) answer(texts []string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		v := vectorOf(text, m.dimension)
		shown := strings.ReplaceAll(fmt.Sprint(v), " ", ",")
		if m.base64 {
			shown = `"` + base64Of(v) + `"`
		}
		items[i] = fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, shown)
	}
	if m.reverse {
		slices.Reverse(items)
	}
	return `{"object":"list","model":"` + testModel + `","data":[` + strings.Join(items, ",") + `],"usage":{"prompt_tokens":1,"total_tokens":1}}`
}

func (m *model) asked() [][]string {
	m.Lock()
	defer m.Unlock()
	return slices.Clone(m.requests)
}

func reply(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// client returns a client of the model, without sockets.
func (m *model) client(t testing.TB, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{URL: "http://embeddings.test", Model: testModel, HTTPClient: &http.Client{Transport: m}}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// serve starts an HTTP server that answers with the handler, and returns a client of it.
func serve(t testing.TB, handler http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	cfg := Config{URL: srv.URL, Model: testModel, Attempts: 1}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP makes the model a server.
func (m *model) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	resp, err := m.RoundTrip(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	_, _ = body.ReadFrom(resp.Body) // a string's reader: cannot fail
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(body.Bytes()) // the client may have left
}

// slowly makes requests wait for a turn and then take as long.
func slowly(h http.Handler, turn *sync.Mutex, each time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		turn.Lock()
		time.Sleep(each)
		turn.Unlock()
		h.ServeHTTP(w, req)
	})
}
