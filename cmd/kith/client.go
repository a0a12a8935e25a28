package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/internal/server"
)

// client speaks kith's HTTP API: to the running service of the data directory, or, when none runs, to one opened in
// this process for the one command.
type client struct {
	base  string
	http  *http.Client
	via   string // for the user: whom it asked
	close func() error
}

// newClient finds the running service, or opens the stores.
func (e *env) newClient() (*client, error) {
	running, ok, err := e.running()
	if err != nil {
		return nil, err
	}
	if ok {
		return &client{
			base: running.HTTP, http: &http.Client{}, close: func() error { return nil },
			via: fmt.Sprintf("the service at %s (pid %d)", running.HTTP, running.PID),
		}, nil
	}
	if _, err := os.Stat(e.cfg.DataDir); errors.Is(err, fs.ErrNotExist) {
		return nil, &usageError{fmt.Errorf("no service runs on the data directory %s, and it does not exist (KITH_DATA_DIR, --data-dir); that of a demo is %s",
			e.cfg.DataDir, demoDir(e.cfg))}
	}
	s, err := open(e, false)
	if err != nil {
		return nil, err
	}
	return e.clientOf(s), nil
}

// clientOf returns a client of a service in this process, whose graph it keeps until the client is closed. What panics
// meanwhile is an error then, after the stores are closed.
func (e *env) clientOf(s *service) *client {
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	var work conc.WaitGroup
	work.Go(func() { defer close(ended); s.keepGraph(ctx) })
	waitFirstLoad(e.ctx, s, ended)
	return &client{
		base: "http://localhost", http: &http.Client{Transport: handlerTransport{s.http.Handler()}},
		via: "the files in " + e.cfg.DataDir + ", since no service runs",
		close: func() error {
			cancel()
			return errors.Join(work.WaitAndRecover().AsError(), s.disconnect(), s.closeStores())
		},
	}
}

// waitFirstLoad waits until the graph is loaded or has failed to for the first time.
func waitFirstLoad(ctx context.Context, s *service, ended <-chan struct{}) {
	if s.host == nil {
		return
	}
	g := s.host.live.Load()
	select {
	case <-s.host.decided:
	case <-g.Failed():
	case <-ended:
	case <-ctx.Done():
	}
}

// running returns the service of the data directory if it answers. A file that a killed service left behind does not
// count, also when another service answers at its address.
func (e *env) running() (runFile, bool, error) {
	r, ok, err := readRunFile(e.cfg.DataDir)
	if err != nil || !ok {
		return runFile{}, false, err
	}
	ctx, cancel := context.WithTimeout(e.ctx, 2*time.Second)
	defer cancel()
	cl := client{base: r.HTTP, http: http.DefaultClient}
	var alive struct{ Instance string }
	if err := cl.call(ctx, http.MethodGet, "/livez", nil, &alive); err != nil {
		return runFile{}, false, e.ctx.Err()
	}
	return r, alive.Instance == r.Instance, nil
}

func (c *client) search(ctx context.Context, req server.SearchRequest) (server.SearchResponse, error) {
	var out server.SearchResponse
	return out, c.call(ctx, http.MethodPost, "/v1/search", req, &out)
}

func (c *client) stats(ctx context.Context) (server.Stats, error) {
	var out server.Stats
	return out, c.call(ctx, http.MethodGet, "/v1/stats", nil, &out)
}

func (c *client) health(ctx context.Context) (server.Health, error) {
	var out server.Health
	return out, c.call(ctx, http.MethodGet, "/readyz", nil, &out)
}

func (c *client) digest(ctx context.Context, user string) (string, error) {
	path := "/v1/digest"
	if user != "" {
		path += "?" + url.Values{"user_id": {user}}.Encode()
	}
	var out struct{ Digest string }
	return out.Digest, c.call(ctx, http.MethodGet, path, nil, &out)
}

// call asks and reads the answer into out. With an error of the service, out has what was done before it, if the service says.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("ask kith: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask kith: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if resp.StatusCode >= 300 {
		return errors.Join(apiError(resp.StatusCode, data), readPartial(data, out))
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// readPartial reads out of a problem document what was done before the problem, if anything.
func readPartial(data []byte, out any) error {
	var problem struct {
		SoFar json.RawMessage `json:"so_far"`
	}
	_ = json.Unmarshal(data, &problem) // what is no problem document has nothing to say of it
	if problem.SoFar == nil {
		return nil
	}
	if err := json.Unmarshal(problem.SoFar, out); err != nil {
		return fmt.Errorf("read what was done: %w", err)
	}
	return nil
}

// apiError makes an error of a problem document: what the service said, field by field.
func apiError(status int, data []byte) error {
	var problem struct {
		Detail string
		Errors []struct {
			Message, Location string
			Value             any
		}
	}
	if json.Unmarshal(data, &problem) != nil || problem.Detail == "" {
		return fmt.Errorf("%s: %s", http.StatusText(status), strings.TrimSpace(string(data)))
	}
	texts := []string{problem.Detail}
	for _, e := range problem.Errors {
		texts = append(texts, strings.TrimPrefix(e.Location, "body.")+valueText(e.Value)+": "+e.Message)
	}
	return errors.New(strings.Join(texts, "; "))
}

// valueText is the value of a field that breaks a rule, behind a space: of one that is short enough to be read.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return " " + graphstore.Shorten(v)
	case float64:
		return " " + strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return fmt.Sprintf(" %t", v)
	default: // absent, or of many parts
		return ""
	}
}

// handlerTransport sends requests to a handler in this process.
type handlerTransport struct{ handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (t handlerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		req.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, req)
	return &http.Response{
		StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
func (r *recorder) WriteHeader(status int)      { r.status = status }
