package embed

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhereItAsks(t *testing.T) {
	for in, want := range map[string]string{
		"http://host:8080":                    "http://host:8080/v1/embeddings",
		"http://host:8080/":                   "http://host:8080/v1/embeddings",
		"https://host/v1":                     "https://host/v1/embeddings",
		"https://host/v1/":                    "https://host/v1/embeddings",
		"https://host/v1/embeddings":          "https://host/v1/embeddings",
		"https://host/v1/embeddings/":         "https://host/v1/embeddings/",
		"https://host/openai/a b":             "https://host/openai/a%20b/embeddings",
		"http://[::1]:1":                      "http://[::1]:1/v1/embeddings",
		"https://u:p@host/x?api-version=2024": "https://host/x/embeddings",
	} {
		e, err := parseEndpoint(in)
		if err != nil || e.shown != want {
			t.Errorf("%s: %s, %v: want %s", in, e.shown, err, want)
		}
		if query := strings.Contains(in, "?"); query != strings.HasSuffix(e.address, "?api-version=2024") {
			t.Errorf("%s: asks at %s: want the query kept", in, e.address)
		}
	}
}

// Each violation names the field, its value and the rule, and all are told at once.
func TestConfigViolations(t *testing.T) {
	_, err := New(Config{
		URL: "ftp://host", Key: "secret\n", Dimension: -1, Timeout: -1, Window: time.Minute, MaxBatch: 4096, MaxBatchBytes: -1, MaxTextBytes: -1,
		MaxRequests: -1, Attempts: 11,
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`scheme "ftp"`, "model is empty", "key: holds a character", "dimension -1: want 1 to 65536", "timeout -1ns", "window 1m0s: want more than 0, at most 1s",
		"max batch 4096: want 1 to 2048", "max batch bytes -1: want 1 or more", "max text bytes -1", "max requests -1", "attempts 11: want 1 to 10",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	for url, want := range map[string]string{
		"": "url is empty", "host:8080": "url: scheme", "//host": `scheme ""`, "http://": "no host", "http://\x7f": "not a URL", "http://h/#x": "after #",
		"http://ann:pa55word@host": "want one of them", "http://ann:pa55word@h:port": "not a URL",
	} {
		_, err := New(Config{URL: url, Model: "m", Key: "sesame"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pa55word") || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%q: %v: want %q", url, err, want)
		}
	}
	if _, err := New(Config{URL: "http://h", Model: "m", Shorten: true}); err == nil || !strings.Contains(err.Error(), "dimension 0") {
		t.Errorf("%v: want the dimension to shorten to", err)
	}
}

// What is sent: the model and the texts with their prefix; encoding and dimensions only where they are asked for, since not
// every endpoint takes them.
func TestWhatIsSent(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"plain":  {func(*Config) {}, `{"model":"tiny-embed","input":["one"]}`},
		"base64": {func(c *Config) { c.Base64 = true }, `{"model":"tiny-embed","input":["one"],"encoding_format":"base64"}`},
		"shorter, with a prefix": {func(c *Config) { c.Shorten, c.Dimension, c.Prefix = true, 4, "query: " },
			`{"model":"tiny-embed","input":["query: one"],"dimensions":4}`},
		"known dimension": {func(c *Config) { c.Dimension = 4 }, `{"model":"tiny-embed","input":["one"]}`},
	} {
		var got json.RawMessage
		var contentType string
		m := &model{dimension: 4}
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			contentType = r.Header.Get("Content-Type")
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			_, _ = w.Write([]byte(m.answer([]string{"one"})))
		}, tc.change)
		if _, err := c.Embed(t.Context(), "one"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, string(got)); diff != "" || contentType != "application/json" {
			t.Errorf("%s: %s %s", name, contentType, diff)
		}
	}
}
