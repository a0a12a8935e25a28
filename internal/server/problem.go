package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// writeProblem answers with a problem document, as the API does everywhere else.
func writeProblem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(huma.NewError(status, detail)) // the client is gone: nobody is left to tell
}

// routed answers requests for paths and methods that there are none of, whose answers of the standard library are plain text.
func routed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		handler, pattern := mux.Handler(req)
		if pattern != "" {
			mux.ServeHTTP(w, req) // which also sets the values of the path
			return
		}
		answer := statusOnly{header: http.Header{}}
		handler.ServeHTTP(&answer, req)
		switch answer.status {
		case http.StatusNotFound:
			writeProblem(w, answer.status, "no such path")
		case http.StatusMethodNotAllowed:
			allowed := answer.header.Values("Allow")
			w.Header()["Allow"] = allowed
			writeProblem(w, answer.status, req.Method+" is not answered here: want "+strings.Join(allowed, ", "))
		default: // a redirect to the path's clean form
			handler.ServeHTTP(w, req)
		}
	})
}

// statusOnly takes note of an answer's status and header.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
