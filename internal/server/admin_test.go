package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func ask(s *Server, method, path, body string, header map[string]string) (int, string) {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

func TestAdmin(t *testing.T) {
	s := newServer(t, nil)
	for _, tc := range []struct {
		method, path, body string
		ops                operator
		code               int
		want               string
	}{
		{"POST", "/v1/admin/backup", `{"dir": "/var/backup"}`, operator{}, 200, `"dir":"/var/backup"`},
		{"POST", "/v1/admin/backup", `{"dir": "backup"}`, operator{}, 422, "absolute path"},
		{"POST", "/v1/admin/backup", `{}`, operator{}, 422, "dir"},
		{"POST", "/v1/admin/backup", `{"dir": "/b"}`, operator{err: fmt.Errorf("%w: compaction", ErrBusy)}, 409, "compaction"},
		{"POST", "/v1/admin/backup", `{"dir": "/b"}`, operator{err: fmt.Errorf("%w: /b is not empty", ErrBadRequest)}, 422, "not empty"},
		{"POST", "/v1/admin/backup", `{"dir": "/b"}`, operator{err: fmt.Errorf("%w: off", ErrNoGraph)}, 503, "off"},
		{"POST", "/v1/admin/compact", ``, operator{}, 200, `"bytes_after":2`},
		{"POST", "/v1/admin/compact", ``, operator{err: errors.New("disk trouble")}, 500, "disk trouble"},
		{"POST", "/v1/admin/compact", `{}`, operator{}, 200, `"bytes_after":2`},
		{"POST", "/v1/admin/compact", `{"user_id": "ann"}`, operator{}, 422, "body.user_id"},
		{"POST", "/v1/admin/compact", `{"user_id": `, operator{}, 400, "JSON"},
		{"POST", "/v1/admin/compact", `[]`, operator{}, 422, "body"},
		{"GET", "/v1/admin/busy", ``, operator{}, 200, `"busy":false`},
		{"GET", "/v1/admin/busy", ``, operator{busy: Busy{Pending: 3}}, 200, `"busy":true`},
		{"GET", "/v1/admin/busy", ``, operator{busy: Busy{Applying: 1}}, 200, `"busy":true`},
		{"GET", "/v1/admin/busy", ``, operator{busy: Busy{Loading: true}}, 200, `"busy":true`},
		{"GET", "/v1/admin/busy", ``, operator{busy: Busy{Maintenance: "backup", Since: time.Unix(1, 0)}}, 200, `"maintenance":"backup"`},
	} {
		s.ops = tc.ops
		if code, body := ask(s, tc.method, tc.path, tc.body, nil); code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s %s %s: %d %s: want %d and %q", tc.method, tc.path, tc.body, code, body, tc.code, tc.want)
		}
	}
	if code, _ := ask(s, "POST", "/v1/admin/compact", "", map[string]string{"Origin": "http://localhost:7411"}); code != http.StatusForbidden {
		t.Errorf("a web page: %d, want 403", code)
	}
}

// A search that is being answered is work in flight.
func TestBusyCountsSearches(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	s := newServer(t, func(next Searcher) Searcher { return slow{next, started, release} })
	done := make(chan int)
	go func() { done <- post(s, `{"user_id": "ada", "vector": [1, 0]}`).Code }()
	<-started
	if _, body := ask(s, "GET", "/v1/admin/busy", "", nil); !strings.Contains(body, `"searches":1`) || !strings.Contains(body, `"busy":true`) {
		t.Errorf("during a search: %s", body)
	}
	close(release)
	if code := <-done; code != 200 {
		t.Fatal(code)
	}
	if _, body := ask(s, "GET", "/v1/admin/busy", "", nil); !strings.Contains(body, `"busy":false`) {
		t.Errorf("after the search: %s", body)
	}
}
