package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/reader"
	"github.com/kithgraph/kith/rerank"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// operator is an Operator with fixed answers.
type operator struct {
	health Health
	stats  *Stats // nil: some graph
	busy   Busy
	err    error
}

func (o operator) Health() Health { return o.health }
func (o operator) Stats(context.Context) Stats {
	if o.stats != nil {
		return *o.stats
	}
	return Stats{Graph: GraphStats{Users: 3, Schemas: 4, Merges: 5, Tombstones: 6}}
}
func (o operator) Instance() string { return "i1" }
func (o operator) Digest(_ context.Context, user string) (string, error) {
	return "digest of " + user, o.err
}

func (o operator) Busy() Busy { return o.busy }
func (o operator) Backup(_ context.Context, dir string) (Backup, error) {
	return Backup{Dir: dir, Seq: 17}, o.err
}
func (o operator) Compact(context.Context) (Compaction, error) {
	return Compaction{BytesBefore: 3, BytesAfter: 2}, o.err
}

type snapshot struct{ *graphstore.Snapshot }

func (s snapshot) Acquire(context.Context, graphstore.Space) (*graphstore.Snapshot, error) {
	return s.Snapshot, nil
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// newServer serves one user, ada, with two facts of cosine .6 and .8 to (1, 0).
func newServer(t *testing.T, wrap func(Searcher) Searcher) *Server {
	t.Helper()
	ada, err := graphstore.NewSpace("ada")
	if err != nil {
		t.Fatal(err)
	}
	store := vdbtest.NewMemory(2)
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	if err := store.Upsert(context.Background(), []vdb.Point{
		{Space: ada, ID: "far", Vector: []float32{.6, .8}, Payload: vdb.Payload{Content: "far", Tags: []string{"work"}, MemoryAt: at, Extra: map[string]any{"mood": "calm"}}},
		{Space: ada, ID: "near", Vector: []float32{.8, .6}, Payload: vdb.Payload{Content: "near"}},
	}); err != nil {
		t.Fatal(err)
	}
	r, err := reader.New(store, snapshot{graphstore.NewSnapshot(ada)}, reader.Config{
		Rerank: rerank.DefaultSettings(), Logger: quiet(), AppliedSeq: func() uint64 { return 17 },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	var searcher Searcher = r
	if wrap != nil {
		searcher = wrap(r)
	}
	return New(searcher, operator{health: Health{Ready: true}}, Config{Version: "test", Logger: quiet()})
}

func post(s *Server, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	s.Handler().ServeHTTP(w, req)
	return w
}

func TestSearch(t *testing.T) {
	w := post(newServer(t, nil), `{"user_id": "ada", "vector": [1, 0]}`)
	var got SearchResponse
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	if len(got.Results) != 2 || got.Results[0].ID != "near" || got.Results[1].ID != "far" || got.AppliedSeq != 17 || got.GraphRerank.Status != "ok" {
		t.Errorf("%+v", got)
	}
	p := got.Results[1].Payload
	if p["content"] != "far" || p["mood"] != "calm" || p["memory_at"] != "2026-09-01T12:00:00Z" {
		t.Errorf("payload %v", p)
	}
	if _, made := got.Results[0].Payload["memory_at"]; made {
		t.Errorf("payload %v: a missing time was made up", got.Results[0].Payload)
	}
}

func TestSearchFilters(t *testing.T) {
	s := newServer(t, nil)
	for filter, want := range map[string]int{
		`{"tags": "work"}`:                                1,
		`{"tags": ["work", "play"]}`:                      1,
		`{"mood": "calm"}`:                                1,
		`{"mood": "wild"}`:                                0,
		`{"memory_at": {"from": "2026-09-01T12:00:00Z"}}`: 1, // inclusive
		`{"memory_at": {"to": "2026-09-01T12:00:00Z"}}`:   0, // exclusive
		`{"memory_at": {"from": "2026-09-01T14:00:00+02:00", "to": "2027-01-01T00:00:00Z"}}`: 1,
	} {
		w := post(s, `{"user_id": "ada", "vector": [1, 0], "filter": `+filter+`}`)
		var got SearchResponse
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || len(got.Results) != want {
			t.Errorf("%s: %d %s: want %d results", filter, w.Code, w.Body, want)
		}
	}
}

func TestBadRequestsNameTheField(t *testing.T) {
	s := newServer(t, nil)
	for name, tc := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"malformed":        {`{"user_id": "ada", `, 400, "JSON"},
		"no body":          {``, 400, "body"},
		"NaN":              {`{"user_id": "ada", "vector": [NaN, 0]}`, 400, "invalid character 'N'"},
		"user twice":       {`{"user_id": "ada", "user_id": "bob", "vector": [1, 0]}`, 400, `key \"user_id\" stands twice`},
		"user in capitals": {`{"user_id": "ada", "USER_ID": "bob", "vector": [1, 0]}`, 400, "lower case"},
		"twice in filter":  {`{"user_id": "ada", "vector": [1, 0], "filter": {"mood": "calm", "mood": "wild"}}`, 400, "stands twice"},
		"not UTF-8":        {"{\"user_id\": \"\xff\", \"vector\": [1, 0]}", 400, "UTF-8"},
		"too deep":         {`{"user_id": "ada", "vector": [1, 0], "filter": ` + strings.Repeat(`{"a":`, 99) + "1" + strings.Repeat("}", 99) + "}", 400, "nested deeper"},
		"long text":        {`{"user_id": "ada", "text": "` + strings.Repeat("w ", 10_000) + `"}`, 422, "body.text"},
		"zero time":        {`{"user_id": "ada", "vector": [1, 0], "valid_at": "0001-01-01T00:00:00Z"}`, 422, "valid_at"},
		"zero bound":       {`{"user_id": "ada", "vector": [1, 0], "filter": {"memory_at": {"to": "0001-01-01T00:00:00Z"}}}`, 422, "filter.memory_at.to"},
		"no user":          {`{"vector": [1, 0]}`, 422, "user_id"},
		"empty user":       {`{"user_id": "", "vector": [1, 0]}`, 422, "user_id"},
		"NUL in user":      {`{"user_id": "a\u0000da", "vector": [1, 0]}`, 422, "control character at byte 1"},
		"NUL in agent":     {`{"user_id": "ada", "agent_id": "a\u0000", "vector": [1, 0]}`, 422, "agent_id"},
		"unknown field":    {`{"user_id": "ada", "vector": [1, 0], "limit": 3}`, 422, "limit"},
		"nothing to find":  {`{"user_id": "ada"}`, 422, "vector, text"},
		"k 0":              {`{"user_id": "ada", "vector": [1, 0], "k": 0}`, 422, "body.k"},
		"k a billion":      {`{"user_id": "ada", "vector": [1, 0], "k": 1000000000}`, 422, "body.k"},
		"k a word":         {`{"user_id": "ada", "vector": [1, 0], "k": "ten"}`, 422, "body.k"},
		"dimension":        {`{"user_id": "ada", "vector": [1, 0, 0]}`, 422, "3 dimensions, the collection has 2"},
		"float overflow":   {`{"user_id": "ada", "vector": [1e39, 0]}`, 422, "vector"},
		"naive time":       {`{"user_id": "ada", "vector": [1, 0], "valid_at": "2026-09-01T12:00:00"}`, 422, "valid_at"},
		"filter shape":     {`{"user_id": "ada", "vector": [1, 0], "filter": {"tags": [["x"]]}}`, 422, "filter.tags[0]"},
		"filter none":      {`{"user_id": "ada", "vector": [1, 0], "filter": {"tags": []}}`, 422, "no values"},
		"filter user":      {`{"user_id": "ada", "vector": [1, 0], "filter": {"user_id": "bob"}}`, 422, "reserved"},
		"filter time":      {`{"user_id": "ada", "vector": [1, 0], "filter": {"memory_at": {"from": "yesterday"}}}`, 422, "filter.memory_at.from"},
		"graph":            {`{"user_id": "ada", "vector": [1, 0], "graph": "maybe"}`, 422, "body.graph"},
		"explain a word":   {`{"user_id": "ada", "vector": [1, 0], "explain": "some"}`, 422, `"message":"expected value to be one of \"false, true, all\"","location":"body.explain","value":"some"`},
		"explain a number": {`{"user_id": "ada", "vector": [1, 0], "explain": 1}`, 422, "body.explain"},
		"explain a list":   {`{"user_id": "ada", "vector": [1, 0], "explain": ["all"]}`, 422, "body.explain"},
		"mode":             {`{"user_id": "ada", "vector": [1, 0], "mode": "fast"}`, 422, "body.mode"},
		"mode wants text":  {`{"user_id": "ada", "vector": [1, 0], "mode": "hybrid"}`, 422, "text: empty: mode hybrid needs it"},
		"min_seq below 0":  {`{"user_id": "ada", "vector": [1, 0], "min_seq": -1}`, 422, "body.min_seq"},
		"min_seq a word":   {`{"user_id": "ada", "vector": [1, 0], "min_seq": "last"}`, 422, "body.min_seq"},
	} {
		w := post(s, tc.body)
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.want) {
			t.Errorf("%s: %d %s: want %d and %q", name, w.Code, w.Body, tc.status, tc.want)
		}
	}
	huge := `{"user_id": "ada", "text": "` + strings.Repeat("x", maxBodyBytes) + `"}`
	if w := post(s, huge); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("oversize: %d: want 413", w.Code)
	}
}

type failing struct{ err error }

func (f failing) Search(context.Context, reader.Query) (reader.Answer, error) {
	return reader.Answer{}, f.err
}

type panicking struct{}

func (panicking) Search(context.Context, reader.Query) (reader.Answer, error) { panic("boom") }

func TestFailuresHaveTheirStatus(t *testing.T) {
	for err, want := range map[error]int{
		vdb.ErrUnavailable:       503,
		vdb.ErrNoCollection:      503,
		vdb.ErrUnsupported:       501,
		context.DeadlineExceeded: 504,
		errors.New("surprise"):   500,
	} {
		s := newServer(t, func(Searcher) Searcher { return failing{fmt.Errorf("search vectors: %w", err)} })
		if w := post(s, `{"user_id": "ada", "vector": [1, 0]}`); w.Code != want || !strings.Contains(w.Body.String(), err.Error()) {
			t.Errorf("%v: %d %s: want %d", err, w.Code, w.Body, want)
		}
	}
	s := newServer(t, func(Searcher) Searcher { return panicking{} })
	if w := post(s, `{"user_id": "ada", "vector": [1, 0]}`); w.Code != 500 {
		t.Errorf("panic: %d: want 500", w.Code)
	}
}

func TestHealth(t *testing.T) {
	get := func(s *Server, path string) (int, string) {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	s := newServer(t, nil)
	if code, body := get(s, "/livez"); code != 200 || !strings.Contains(body, "alive") {
		t.Errorf("livez: %d %s", code, body)
	}
	if code, body := get(s, "/readyz"); code != 200 || !strings.Contains(body, `"degraded":[]`) {
		t.Errorf("readyz: %d %s", code, body)
	}
	s.ops = operator{health: Health{Ready: true, Degraded: []string{"NATS is not connected"}}}
	if code, body := get(s, "/readyz"); code != 200 || !strings.Contains(body, "NATS is not connected") {
		t.Errorf("degraded readyz: %d %s: want 200 with the reason", code, body)
	}
	s.ops = operator{}
	if code, _ := get(s, "/readyz"); code != 503 {
		t.Errorf("unready: %d", code)
	}
	if code, body := get(s, "/v1/stats"); code != 200 || !strings.Contains(body, `"users":3`) {
		t.Errorf("stats: %d %s", code, body)
	}
	if code, body := get(s, "/v1/digest?user_id=ada"); code != 200 || !strings.Contains(body, "digest of ada") {
		t.Errorf("digest: %d %s", code, body)
	}
	if code, body := get(s, "/v1/digest?user_id="); code != 422 || !strings.Contains(body, "query.user_id") {
		t.Errorf("digest of an empty user: %d %s", code, body)
	}
	if code, body := get(s, "/v1/digest?user_id=a%00"); code != 422 || !strings.Contains(body, "control character") {
		t.Errorf("digest of a bad user: %d %s", code, body)
	}
	s.ops = operator{err: fmt.Errorf("%w: off", ErrNoGraph)}
	if code, _ := get(s, "/v1/digest"); code != 503 {
		t.Errorf("digest without a graph: %d", code)
	}
	if code, body := get(s, "/openapi.json"); code != 200 || !strings.Contains(body, "/v1/search") {
		t.Errorf("openapi: %d", code)
	}
}

// A web page that has made its own name point to loopback is not answered.
func TestUnknownHostsAreRefused(t *testing.T) {
	s := newServer(t, nil)
	s.cfg.Hosts = LoopbackHosts()
	for host, want := range map[string]int{"localhost:7411": 200, "LOCALHOST:7411": 200, "127.0.0.1:7411": 200, "[::1]:7411": 200, "localhost": 200, "evil.example:7411": 421, "127.0.0.1.evil.example": 421, "": 421} {
		req := httptest.NewRequest(http.MethodGet, "/livez", nil)
		req.Host = host
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

// A stop lets the request in flight finish.
func TestServeDrains(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	s := newServer(t, func(next Searcher) Searcher { return slow{next, started, release} })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l, 5*time.Second) }()
	answered := make(chan int, 1)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	go func() {
		resp, err := client.Post("http://"+l.Addr().String()+"/v1/search", "application/json", bytes.NewBufferString(`{"user_id": "ada", "vector": [1, 0]}`))
		if err != nil {
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	<-started
	stop()
	close(release)
	if code := <-answered; code != 200 {
		t.Errorf("request in flight: %d", code)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

type slow struct {
	next             Searcher
	started, release chan struct{}
}

func (s slow) Search(ctx context.Context, q reader.Query) (reader.Answer, error) {
	close(s.started)
	<-s.release
	return s.next.Search(ctx, q)
}

// Requests that there is no operation for are answered like all others that are wrong.
func TestUnknownPathsAndMethodsAreProblems(t *testing.T) {
	s := newServer(t, nil)
	for _, tc := range []struct {
		method, path string
		code         int
		detail       string
	}{
		{"GET", "/v1/nothing", 404, "no such path"},
		{"GET", "/", 404, "no such path"},
		{"GET", "/v1/search", 405, "GET is not answered here: want POST"},
		{"DELETE", "/livez", 405, "DELETE is not answered here: want GET, HEAD"},
	} {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
		var problem struct {
			Status        int
			Title, Detail string
		}
		err := json.Unmarshal(w.Body.Bytes(), &problem)
		if err != nil || w.Code != tc.code || problem.Status != tc.code || problem.Detail != tc.detail || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %s: %v: want %d %q", tc.method, tc.path, w.Code, w.Body, err, tc.code, tc.detail)
		}
		if (tc.code == 405) != (w.Header().Get("Allow") != "") {
			t.Errorf("%s %s: Allow %q", tc.method, tc.path, w.Header().Get("Allow"))
		}
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "//livez", nil))
	if w.Code != http.StatusMovedPermanently && w.Code != http.StatusTemporaryRedirect {
		t.Errorf("//livez: %d: want a redirect", w.Code)
	}
}
