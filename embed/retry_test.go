package embed

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// canned is an answer of a script.
type canned struct {
	status     int
	body       string
	retryAfter string
}

// script answers requests in turn; what it has no answer for, the model answers.
func script(m *model, answers ...canned) {
	m.before = func(*http.Request, []string) *http.Response {
		n := len(m.asked())
		if n > len(answers) {
			return nil
		}
		a := answers[n-1]
		resp := reply(a.status, a.body)
		if a.retryAfter != "" {
			resp.Header.Set("Retry-After", a.retryAfter)
		}
		return resp
	}
}

// What may pass is tried again, after as long as the endpoint asks for, or between half of and a whole tenth of a second,
// doubled each time.
func TestRetries(t *testing.T) {
	at := time.Date(2000, 1, 1, 0, 0, 4, 0, time.UTC) // the bubble's clock starts at midnight
	for name, tc := range map[string]struct {
		answers  []canned
		low, max time.Duration
	}{
		"429 with seconds":       {[]canned{{429, "", "3"}}, 3 * time.Second, 3 * time.Second},
		"503 with a time":        {[]canned{{503, "", at.Format(http.TimeFormat)}}, 3 * time.Second, 4 * time.Second},
		"429 that asks for none": {[]canned{{429, "", ""}}, 50 * time.Millisecond, 100 * time.Millisecond},
		"in the past":            {[]canned{{429, "", at.Add(-time.Hour).Format(http.TimeFormat)}}, 50 * time.Millisecond, 100 * time.Millisecond},
		"no time":                {[]canned{{429, "", "soon"}}, 50 * time.Millisecond, 100 * time.Millisecond},
		"negative":               {[]canned{{429, "", "-5"}}, 50 * time.Millisecond, 100 * time.Millisecond},
		"three times":            {[]canned{{500, "", ""}, {502, "", ""}, {504, "", ""}}, 350 * time.Millisecond, 700 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &model{dimension: 4}
			script(m, tc.answers...)
			c := m.client(t)
			defer c.Close()
			start := time.Now()
			noErrors(t, embedEach(t, c, 4, "text"))
			if took := time.Since(start) - DefaultWindow; took < tc.low || took > tc.max {
				t.Errorf("%s: took %v: want %v to %v", name, took, tc.low, tc.max)
			}
			if n := len(m.asked()); n != len(tc.answers)+1 {
				t.Errorf("%s: %d requests", name, n)
			}
		})
	}
}

// broken is a transport whose connections fail n times.
type broken struct {
	*model
	n   int
	err error
}

func (b *broken) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.n--; b.n >= 0 {
		return nil, b.err
	}
	return b.model.RoundTrip(req)
}

func TestConnectionErrorsAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broken{&model{dimension: 4}, 3, errors.New("connection reset by peer")}
		c := b.client(t, func(c *Config) { c.HTTPClient = &http.Client{Transport: b} })
		defer c.Close()
		noErrors(t, embedEach(t, c, 4, "text"))
		b.n = 4 // as many as there are attempts
		_, err := c.Embed(t.Context(), "other")
		var e *EndpointError
		if !errors.Is(err, ErrUnavailable) || !errors.As(err, &e) || e.Attempts != 4 || e.Status != 0 || !strings.Contains(err.Error(), "reset by peer") {
			t.Errorf("%v: want it unavailable after 4 attempts", err)
		}
		if c.Trouble() == "" {
			t.Error("no trouble is told of")
		}
		noErrors(t, embedEach(t, c, 4, "third"))
		if c.Trouble() != "" {
			t.Errorf("trouble %q after a good answer", c.Trouble())
		}
	})
}

func TestWhatWillNotPassIsNotRetried(t *testing.T) {
	for _, status := range []int{301, 400, 401, 403, 404, 405, 422} {
		synctest.Test(t, func(t *testing.T) {
			m := &model{dimension: 4}
			m.before = func(*http.Request, []string) *http.Response { return reply(status, "no") }
			c := m.client(t)
			defer c.Close()
			if _, err := c.Embed(t.Context(), "text"); !errors.Is(err, ErrRefused) || len(m.asked()) != 1 {
				t.Errorf("%d: %v after %d requests: want it refused after 1", status, err, len(m.asked()))
			}
		})
	}
}

// A wait that would end past the timeout is not begun.
func TestRetryAfterBeyondTheTimeout(t *testing.T) {
	for _, asks := range []string{"60", "99999999999999"} {
		synctest.Test(t, func(t *testing.T) {
			m := &model{dimension: 4}
			script(m, canned{429, "quota", asks})
			c := m.client(t)
			defer c.Close()
			start := time.Now()
			_, err := c.Embed(t.Context(), "text")
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "past the timeout of 5s") || !strings.Contains(err.Error(), "quota") {
				t.Error(err)
			}
			if took := time.Since(start); took != DefaultWindow {
				t.Errorf("took %v: want no wait", took)
			}
		})
	}
}

// An endpoint that does not answer is unavailable after exactly the timeout, and the error is not the caller's context's.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		m.before = func(req *http.Request, _ []string) *http.Response {
			if len(m.asked()) == 1 {
				return reply(503, "warming up")
			}
			<-req.Context().Done()
			return nil
		}
		c := m.client(t, func(c *Config) { c.Timeout = 2 * time.Second })
		defer c.Close()
		start := time.Now()
		_, err := c.Embed(t.Context(), "text")
		if took := time.Since(start) - DefaultWindow; took != 2*time.Second {
			t.Errorf("took %v: want 2s", took)
		}
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			t.Errorf("%v: want it unavailable", err)
		}
		for _, want := range []string{"no answer within 2s", "warming up", "status 503", "attempt 2"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v: want %q", err, want)
			}
		}
		if !strings.Contains(c.Trouble(), "no answer within 2s") {
			t.Errorf("trouble %q", c.Trouble())
		}
	})
}

// Waiting for a turn counts: with one request at a time, the second caller's time is up before its turn comes.
func TestWaitingForATurnTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		m.before = func(*http.Request, []string) *http.Response { time.Sleep(1500 * time.Millisecond); return nil }
		c := m.client(t, func(c *Config) { c.Timeout, c.MaxBatch, c.MaxRequests = time.Second, 1, 1 })
		defer c.Close()
		start := time.Now()
		for _, err := range embedEach(t, c, 4, "one", "two") {
			if !errors.Is(err, ErrUnavailable) {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 1500*time.Millisecond { // the transport of this test does not listen to the context
			t.Errorf("took %v", took)
		}
		if n := len(m.asked()); n != 1 {
			t.Errorf("%d requests: want the second not made", n)
		}
	})
}

// A certificate that is not trusted will not be in a second: it is told at once.
func TestAnUntrustedCertificateIsNotTriedAgain(t *testing.T) {
	srv := httptest.NewUnstartedServer(&model{dimension: 4})
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that fails
	srv.StartTLS()
	defer srv.Close()
	c, err := New(Config{URL: srv.URL, Model: testModel})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Embed(t.Context(), "text")
	var e *EndpointError
	if !errors.As(err, &e) || e.Attempts != 1 || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v: want the certificate, after one attempt", err)
	}
	trusting, err := New(Config{URL: srv.URL, Model: testModel, HTTPClient: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	defer trusting.Close()
	noErrors(t, embedEach(t, trusting, 4, "text"))
}
