package embed

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Endpoints that repeat the key, in any spelling, do not bring it into an error; nor does the address.
func TestSecretsStayOut(t *testing.T) {
	const key = `sk-a/b"c<d>e\f+g=h`
	const password = "pa55word"
	long := strings.Repeat("x", 90) + key + strings.Repeat("y", 5000)
	for name, repeat := range map[string]string{
		"plain":     "Incorrect API key provided: " + key + ".",
		"JSON":      `{"error":{"message":"key sk-a/b\"c\u003cd\u003ee\\f+g=h is wrong"}}`,
		"URL":       "?key=sk-a%2Fb%22c%3Cd%3Ee%5Cf%2Bg%3Dh",
		"long":      long,
		"cut":       strings.Repeat(" ", excerptBytes-9) + key,
		"as number": `{"data":[{"index":0,"embedding":["` + "sk-a/b" + `"]}]}`,
	} {
		for _, status := range []int{200, 400, 401, 500} {
			var auth string
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				auth = r.Header.Get("Authorization")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(repeat))
			}, func(c *Config) { c.Key = key })
			_, err := c.Embed(context.Background(), "text")
			if err == nil || auth != "Bearer "+key {
				t.Fatalf("%s: %v with %q", name, err, auth)
			}
			for _, part := range []string{"c<d>", `c\u003cd`, "c%3Cd", `"c`} {
				if strings.Contains(err.Error()+c.Trouble(), part) {
					t.Errorf("%s, %d: %v: shows the key", name, status, err)
				}
			}
			if len(err.Error()) > 1000 {
				t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
			}
		}
	}

	var user, pass string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, pass, _ = r.BasicAuth()
		http.Error(w, "no "+r.Header.Get("Authorization")+" and no "+r.URL.RawQuery, http.StatusForbidden)
	}))
	defer srv.Close()
	c, err := New(Config{URL: strings.Replace(srv.URL, "http://", "http://ann:"+password+"@", 1) + "/api?key=" + password, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Embed(context.Background(), "text")
	if user != "ann" || pass != password || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), srv.URL+"/api/embeddings") {
		t.Errorf("%v with %s", err, user)
	}
	for _, secret := range []string{password, "YW5uOnBhNTV3b3Jk"} { // base64 of ann:pa55word
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%v: shows %s", err, secret)
		}
	}
}

// A server that is not there is named without its secrets too.
func TestSecretsStayOutOfConnectionErrors(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	c, err := New(Config{URL: strings.Replace(srv.URL, "http://", "http://ann:pa55word@", 1) + "?key=t0ken", Model: "m", Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Embed(context.Background(), "text")
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), c.URL()) {
		t.Errorf("%v: want the refused connection", err)
	}
	if strings.Contains(err.Error(), "pa55word") || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("%v: shows a secret", err)
	}
}

// A key that can be read on the way is warned of, once and without the key.
func TestAReadableKeyIsWarnedOf(t *testing.T) {
	for url, warns := range map[string]bool{
		"http://embed.example:80": true, "https://embed.example": false, "http://localhost:1": false, "http://127.0.0.1:1/v1": false, "http://[::1]:1": false,
	} {
		var log bytes.Buffer
		c, err := New(Config{URL: url, Model: "m", Key: "sesame", Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if got := strings.Contains(log.String(), "use https"); got != warns || strings.Contains(log.String(), "sesame") {
			t.Errorf("%s: %q: want a warning: %v", url, log.String(), warns)
		}
	}
}
