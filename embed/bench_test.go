package embed

import (
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// benchDimension is that of a common model.
const benchDimension = 768

// A cached Embed beside the least it could do: look the text up in a map and copy the vector.
func BenchmarkCachedEmbed(b *testing.B) {
	m := &model{dimension: benchDimension}
	c := m.client(b)
	texts := numbered(100)
	if _, err := c.EmbedAll(b.Context(), texts); err != nil {
		b.Fatal(err)
	}
	plain := map[string][]float32{}
	for _, text := range texts {
		plain[text] = vectorOf(text, benchDimension)
	}
	var ours, base time.Duration // taken in turns, so that a busy machine slows both
	var sink []float32
	for b.Loop() {
		start := time.Now()
		for _, text := range texts {
			if _, err := c.Embed(b.Context(), text); err != nil {
				b.Fatal(err)
			}
		}
		between := time.Now()
		for _, text := range texts {
			sink = slices.Clone(plain[text])
		}
		ours, base = ours+between.Sub(start), base+time.Since(between)
	}
	_ = sink
	b.ReportMetric(float64(ours)/float64(base), "x-of-map-and-copy")
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N*len(texts)), "ns/embed")
}

// 64 concurrent Embeds that share requests, beside 64 requests of one text each, over a server that needs half a millisecond
// for a request besides its texts.
func BenchmarkConcurrentEmbeds(b *testing.B) {
	m := &model{dimension: benchDimension, base64: true}
	var turn sync.Mutex // of the one accelerator
	srv := httptest.NewServer(slowly(m, &turn, 500*time.Microsecond))
	defer srv.Close()
	texts := numbered(64)
	run := func(maxBatch int) time.Duration {
		c, err := New(Config{URL: srv.URL, Model: testModel, MaxBatch: maxBatch, CacheEntries: -1, Base64: true})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		start := time.Now()
		var wg sync.WaitGroup
		for _, text := range texts {
			wg.Go(func() {
				if _, err := c.Embed(b.Context(), text); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		return time.Since(start)
	}
	var shared, single time.Duration
	for b.Loop() {
		shared += run(DefaultMaxBatch)
		single += run(1)
	}
	b.ReportMetric(float64(shared)/float64(single), "x-of-single-requests")
	b.ReportMetric(float64(len(m.asked()))/float64(b.N), "requests/op")
}

// Reading an answer to 32 texts, as numbers and as base64; the ratio is base64's share of the time that numbers take.
func BenchmarkDecodeAnswer(b *testing.B) {
	texts := numbered(32)
	numbers := []byte((&model{dimension: benchDimension}).answer(texts))
	base64 := []byte((&model{dimension: benchDimension, base64: true}).answer(texts))
	decode := func(body []byte) time.Duration {
		start := time.Now()
		if _, _, err := decodeAnswer(body, len(texts)); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var asNumbers, asBase64 time.Duration
	for b.Loop() {
		asNumbers += decode(numbers)
		asBase64 += decode(base64)
	}
	b.ReportMetric(float64(asBase64)/float64(asNumbers), "x-of-numbers")
}
