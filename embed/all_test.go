package embed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTextsThatCannotBeEmbedded(t *testing.T) {
	m := &model{dimension: 4}
	c := m.client(t, func(c *Config) { c.MaxTextBytes = 10 })
	for text, want := range map[string]string{
		"": "it is empty", " \t\n": "it is empty", "12345678901": "it has 11 bytes: want at most 10", "a\xffb": "it is not UTF-8",
	} {
		if _, err := c.Embed(t.Context(), text); !errors.Is(err, ErrBadText) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v: want %q", text, err, want)
		}
	}
	_, err := c.EmbedAll(t.Context(), []string{"good", "", "good", "\xff"})
	if !errors.Is(err, ErrBadText) || !strings.Contains(err.Error(), "texts[1]: ") || !strings.Contains(err.Error(), "texts[3]: ") {
		t.Errorf("%v: want both places", err)
	}
	if n := len(m.asked()); n != 0 {
		t.Errorf("%d requests: want none for texts that are none", n)
	}
	if v, err := c.EmbedAll(t.Context(), nil); len(v) != 0 || err != nil {
		t.Errorf("no texts: %v, %v", v, err)
	}
}

// Whatever the texts, the bounds and the order of answers: each text has its own vector, in its place; each distinct one is
// asked for once; no request breaks a bound.
func TestPropertyEveryTextHasItsVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{dimension: rapid.IntRange(1, 40).Draw(t, "dimension"), reverse: rapid.Bool().Draw(t, "reverse"), base64: rapid.Bool().Draw(t, "base64")}
		srv := httptest.NewServer(m)
		defer srv.Close()
		maxBatch, maxBytes := rapid.IntRange(1, 9).Draw(t, "texts in a request"), rapid.IntRange(1, 60).Draw(t, "bytes in a request")
		c, err := New(Config{URL: srv.URL, Model: testModel, MaxBatch: maxBatch, MaxBatchBytes: maxBytes})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-eé咖]{1,4}`), 0, 60).Draw(t, "texts")
		got, err := c.EmbedAll(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			if diff := cmp.Diff(vectorOf(text, m.dimension), got[i]); diff != "" {
				t.Fatalf("texts[%d] %q: %s", i, text, diff)
			}
		}
		asked := map[string]int{}
		for _, request := range m.asked() {
			for _, text := range request {
				asked[text]++
			}
			if len(request) > maxBatch || len(request) > 1 && len(strings.Join(request, "")) > maxBytes {
				t.Fatalf("request %q: at most %d texts, %d bytes", request, maxBatch, maxBytes)
			}
		}
		for _, text := range texts {
			if asked[text] != 1 {
				t.Fatalf("%q was asked for %d times", text, asked[text])
			}
		}
	})
}

// Many callers at once, some of them cancelled, over a server that is now and then busy: who is not cancelled has the right
// vector, and at the end nobody is left in the queue.
func TestManyCallers(t *testing.T) {
	m := &model{dimension: 16, reverse: true}
	srv := httptest.NewServer(m)
	defer srv.Close()
	c, err := New(Config{URL: srv.URL, Model: testModel, MaxBatch: 8, CacheEntries: 20, Window: time.Millisecond, MaxRequests: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var wg sync.WaitGroup
	for caller := range 16 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(caller)))
			for range 60 {
				ask(t, c, random, m.dimension)
			}
		})
	}
	wg.Wait()
	c.queue.Lock()
	defer c.queue.Unlock()
	if n := len(c.queue.calls); n != 0 || c.queue.open != nil {
		t.Errorf("%d calls and batch %v are left", n, c.queue.open)
	}
}

// ask makes one call of a kind drawn at random.
func ask(t *testing.T, c *Client, random *rand.Rand, dimension int) {
	texts := make([]string, 1+random.IntN(3))
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", random.IntN(60))
	}
	ctx, cancel := t.Context(), func() {}
	patient := random.IntN(3) > 0
	if !patient {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(3000))*time.Microsecond)
	}
	defer cancel()
	var got [][]float32
	var err error
	if len(texts) == 1 {
		got = make([][]float32, 1)
		got[0], err = c.Embed(ctx, texts[0])
	} else {
		got, err = c.EmbedAll(ctx, texts)
	}
	switch {
	case err != nil && (patient || ctx.Err() == nil || !errors.Is(err, ctx.Err())):
		t.Errorf("%q: %v", texts, err)
	case err == nil:
		for i, text := range texts {
			if !slices.Equal(got[i], vectorOf(text, dimension)) {
				t.Errorf("%q has another's vector", text)
			}
		}
	}
}
