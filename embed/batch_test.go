package embed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// embedEach embeds each text in a goroutine of its own and returns the errors, in the order of the texts.
func embedEach(t *testing.T, c *Client, dimension int, texts ...string) []error {
	t.Helper()
	errs := make([]error, len(texts))
	var wg sync.WaitGroup
	for i, text := range texts {
		wg.Go(func() {
			var v []float32
			if v, errs[i] = c.Embed(t.Context(), text); errs[i] == nil {
				if diff := cmp.Diff(vectorOf(text, dimension), v); diff != "" {
					t.Errorf("%s: %s", text, diff)
				}
			}
		})
	}
	wg.Wait()
	return errs
}

func noErrors(t *testing.T, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %02d", i)
	}
	return texts
}

// sizes are those of the requests, largest first.
func (m *model) sizes() []int {
	var out []int
	for _, texts := range m.asked() {
		out = append(out, len(texts))
	}
	slices.SortFunc(out, func(a, b int) int { return b - a })
	return out
}

// What comes within the window is one request, after exactly the window; what comes later is another.
func TestCallsWithinTheWindowShareARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 8, reverse: true}
		c := m.client(t, func(c *Config) { c.Window = 10 * time.Millisecond })
		defer c.Close()
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { noErrors(t, embedEach(t, c, 8, numbered(5)...)) })
		time.Sleep(9 * time.Millisecond)
		wg.Go(func() { noErrors(t, embedEach(t, c, 8, "late, not too late")) })
		wg.Wait()
		if took := time.Since(start); took != 10*time.Millisecond {
			t.Errorf("took %v: want the window", took)
		}
		noErrors(t, embedEach(t, c, 8, "too late"))
		if diff := cmp.Diff([]int{6, 1}, m.sizes()); diff != "" {
			t.Error(diff)
		}
	})
}

// 10 texts of 7 bytes: at most 4 in a request by number make 4+4+2; at most 21 bytes, three of them, make 3+3+3+1. Full
// requests do not wait for the window.
func TestRequestsAreBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Config)
		want   []int
	}{
		"by number": {func(c *Config) { c.MaxBatch = 4 }, []int{4, 4, 2}},
		"by bytes":  {func(c *Config) { c.MaxBatchBytes = 21 }, []int{3, 3, 3, 1}},
		"one":       {func(c *Config) { c.MaxBatchBytes = 1 }, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &model{dimension: 4}
			c := m.client(t, tc.change)
			defer c.Close()
			noErrors(t, embedEach(t, c, 4, numbered(10)...))
			if diff := cmp.Diff(tc.want, m.sizes()); diff != "" {
				t.Errorf("%s, Embed: %s", name, diff)
			}
			m2 := &model{dimension: 4}
			c2 := m2.client(t, tc.change)
			defer c2.Close()
			if _, err := c2.EmbedAll(t.Context(), numbered(10)); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tc.want, m2.sizes()); diff != "" {
				t.Errorf("%s, EmbedAll: %s", name, diff)
			}
		})
	}
}

func TestOneTextIsAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		m.before = func(*http.Request, []string) *http.Response { time.Sleep(time.Second); return nil }
		var cached int
		c := m.client(t, func(c *Config) { c.Hooks.Cached = func(n int) { cached += n } })
		defer c.Close()
		var wg sync.WaitGroup
		wg.Go(func() { noErrors(t, embedEach(t, c, 4, "same", "same", "same")) })
		time.Sleep(500 * time.Millisecond) // the request is on its way
		noErrors(t, embedEach(t, c, 4, "same"))
		wg.Wait()
		if cached != 0 {
			t.Errorf("%d from the cache: want none yet", cached)
		}
		noErrors(t, embedEach(t, c, 4, "same"))
		if cached != 1 {
			t.Errorf("%d from the cache: want the last", cached)
		}
		if diff := cmp.Diff([][]string{{"same"}}, m.asked()); diff != "" {
			t.Error(diff)
		}
	})
}

// A vector belongs to whoever asked: what one caller does to it, no other sees.
func TestVectorsAreTheCallers(t *testing.T) {
	m := &model{dimension: 4}
	c := m.client(t)
	for range 3 { // asked, then cached
		v, err := c.Embed(t.Context(), "mine")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(vectorOf("mine", 4), v); diff != "" {
			t.Fatal(diff)
		}
		clear(v)
	}
	twice, err := c.EmbedAll(t.Context(), []string{"twice", "twice"})
	if err != nil {
		t.Fatal(err)
	}
	clear(twice[0])
	if diff := cmp.Diff(vectorOf("twice", 4), twice[1]); diff != "" {
		t.Error(diff)
	}
}

func TestNoCache(t *testing.T) {
	m := &model{dimension: 4}
	c := m.client(t, func(c *Config) { c.CacheEntries = -1 })
	noErrors(t, embedEach(t, c, 4, "same"))
	noErrors(t, embedEach(t, c, 4, "same"))
	if n := len(m.asked()); n != 2 {
		t.Errorf("%d requests: want one each", n)
	}
}

// 3 entries hold the last of 10 texts at most: the others are asked for again.
func TestTheCacheIsBounded(t *testing.T) {
	m := &model{dimension: 4}
	c := m.client(t, func(c *Config) { c.CacheEntries = 3 })
	for range 2 {
		for _, text := range numbered(10) {
			noErrors(t, embedEach(t, c, 4, text))
		}
	}
	if n := len(m.asked()); n < 10+7 {
		t.Errorf("%d requests: want at least 17, since 3 of 10 texts are kept", n)
	}
}

// A caller that is cancelled has its own error at once; those who wait for the same text, and for others of the same
// request, have their vectors.
func TestCancellationIsTheCallersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		m.before = func(*http.Request, []string) *http.Response { time.Sleep(time.Second); return nil }
		c := m.client(t)
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, text := range []string{"same", "alone"} {
			wg.Go(func() {
				if _, err := c.Embed(ctx, text); !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v: want the caller's own", text, err)
				}
			})
		}
		wg.Go(func() { noErrors(t, embedEach(t, c, 4, "same", "other")) })
		time.Sleep(500 * time.Millisecond)
		cancel()
		wg.Wait()
		if n := len(m.asked()); n != 1 {
			t.Errorf("%d requests: want 1", n)
		}
		noErrors(t, embedEach(t, c, 4, "alone")) // was answered with the others
		if n := len(m.asked()); n != 1 {
			t.Errorf("%d requests: want the answer kept", n)
		}
	})
}

// Who leaves before the request is made takes the text along.
func TestATextNobodyWaitsForIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		c := m.client(t, func(c *Config) { c.Window = time.Second })
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Embed(ctx, "gone"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
				t.Errorf("%v: want the caller's deadline", err)
			}
		})
		wg.Go(func() { noErrors(t, embedEach(t, c, 4, "stays")) })
		wg.Wait()
		if diff := cmp.Diff([][]string{{"stays"}}, m.asked()); diff != "" {
			t.Error(diff)
		}
		short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if _, err := c.Embed(short, "gone"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		if n := len(m.asked()); n != 1 {
			t.Errorf("%d requests: want none that nobody waits for", n)
		}
	})
}

// A request under way is ended when its last caller has left, and a new caller for the text gets a new one.
func TestARequestNobodyWaitsForEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		ended := make(chan error, 1)
		m.before = func(req *http.Request, _ []string) *http.Response {
			if len(m.asked()) == 1 {
				<-req.Context().Done()
				ended <- context.Cause(req.Context())
			}
			return nil
		}
		c := m.client(t)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := c.Embed(ctx, "text"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if cause := <-ended; !errors.Is(cause, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("ended with %v after %v: want cancelled with its caller", cause, time.Since(start))
		}
		noErrors(t, embedEach(t, c, 4, "text"))
		if c.Trouble() != "" {
			t.Errorf("trouble %q: a caller that leaves is none", c.Trouble())
		}
	})
}

// Of 8 texts the endpoint refuses one: that one's caller gets the error, the others their vectors. Halving 8 until the bad one
// is alone takes 1 + 2 + 2 + 2 requests.
func TestARefusedTextStandsAlone(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		synctest.Test(t, func(t *testing.T) {
			m := &model{dimension: 4}
			m.before = func(_ *http.Request, texts []string) *http.Response {
				if slices.Contains(texts, "text 05") {
					return reply(status, "too many tokens")
				}
				return nil
			}
			c := m.client(t)
			defer c.Close()
			for i, err := range embedEach(t, c, 4, numbered(8)...) {
				if bad := i == 5; bad != errors.Is(err, ErrRefused) || !bad && err != nil {
					t.Errorf("status %d, text %d: %v", status, i, err)
				}
			}
			if n := len(m.asked()); n != 7 {
				t.Errorf("status %d: %d requests: want 7", status, n)
			}
			if _, err := c.EmbedAll(t.Context(), numbered(8)); !errors.Is(err, ErrRefused) || !strings.HasPrefix(err.Error(), "texts[5]: ") {
				t.Errorf("%v: want the place of the text", err)
			}
		})
	}
}

// Of a request that was asked again in halves, one half has its answers; when the callers of the other leave, that ends too.
func TestAHalfNobodyWaitsForEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		ended := make(chan error, 1)
		m.before = func(req *http.Request, texts []string) *http.Response {
			switch {
			case len(texts) == 4:
				return reply(http.StatusBadRequest, "too many tokens")
			case slices.Contains(texts, "text 03"):
				<-req.Context().Done()
				ended <- context.Cause(req.Context())
			}
			return nil
		}
		c := m.client(t)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls, err := c.join(true, numbered(4)...)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range calls {
			if _, err := c.wait(ctx, k); (err == nil) != (i < 2) {
				t.Errorf("text %d: %v: want a vector for the first two", i, err)
			}
		}
		if cause := <-ended; !errors.Is(cause, context.Canceled) {
			t.Errorf("the second half ended with %v: want with its callers", cause)
		}
	})
}

// A text that was answered between a caller's look into the cache and its joining is not asked for again.
func TestJoiningFindsWhatWasAnsweredMeanwhile(t *testing.T) {
	m := &model{dimension: 4}
	c := m.client(t)
	noErrors(t, embedEach(t, c, 4, "text"))
	calls, err := c.join(true, "text")
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.wait(t.Context(), calls[0])
	if diff := cmp.Diff(vectorOf("text", 4), v); err != nil || diff != "" || len(m.asked()) != 1 {
		t.Errorf("%v %s after %d requests: want the answer that was there", err, diff, len(m.asked()))
	}
	c.leave(calls[0])
}

// No more requests than allowed are under way: 6 of a second each, 2 at a time, take 3 seconds.
func TestRequestsUnderWayAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		m.before = func(*http.Request, []string) *http.Response { time.Sleep(time.Second); return nil }
		c := m.client(t, func(c *Config) { c.MaxRequests, c.MaxBatch = 2, 1 })
		defer c.Close()
		start := time.Now()
		noErrors(t, embedEach(t, c, 4, numbered(6)...))
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v: want 3s", took)
		}
	})
}

// Close answers everybody: those under way, those that gather, and those that come after.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{dimension: 4}
		m.before = func(req *http.Request, _ []string) *http.Response { <-req.Context().Done(); return nil }
		c := m.client(t, func(c *Config) { c.Window, c.MaxBatch = time.Second, 2 })
		var wg sync.WaitGroup
		wg.Go(func() {
			for i, err := range embedEach(t, c, 4, numbered(3)...) { // two are sent, one gathers
				if !errors.Is(err, ErrClosed) {
					t.Errorf("text %d: %v: want that the client is closed", i, err)
				}
			}
		})
		synctest.Wait()
		c.Close()
		wg.Wait()
		c.Close()
		if _, err := c.Embed(t.Context(), "after"); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if _, err := c.EmbedAll(t.Context(), numbered(2)); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// A transport or a hook that panics costs its callers an error, not the process.
func TestPanicsAreErrors(t *testing.T) {
	m := &model{dimension: 4}
	m.before = func(_ *http.Request, texts []string) *http.Response {
		if texts[0] == "boom" {
			panic("no luck")
		}
		return nil
	}
	c := m.client(t)
	if _, err := c.Embed(t.Context(), "boom"); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("%v: want the panic", err)
	}
	noErrors(t, embedEach(t, c, 4, "fine"))
}
