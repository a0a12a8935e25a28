package embed

import (
	"slices"

	"github.com/maypok86/otter/v2"
)

// cache keeps the vectors of texts. A client has one model and one prefix, so the text alone is the key.
type cache struct {
	vectors *otter.Cache[string, []float32] // nil keeps none
}

func newCache(entries int) (cache, error) {
	if entries < 0 {
		return cache{}, nil
	}
	vectors, err := otter.New(&otter.Options[string, []float32]{
		MaximumSize: entries,
		Executor:    func(fn func()) { fn() }, // evict at once: the bound is on memory, and no goroutine is left behind
	})
	return cache{vectors: vectors}, err
}

// get returns a copy of the vector that the caller may change.
func (c cache) get(text string) ([]float32, bool) {
	if c.vectors == nil {
		return nil, false
	}
	v, ok := c.vectors.GetIfPresent(text)
	return slices.Clone(v), ok
}

func (c cache) put(text string, vector []float32) {
	if c.vectors != nil {
		c.vectors.Set(text, vector)
	}
}

func (c cache) close() {
	if c.vectors != nil {
		c.vectors.InvalidateAll()
		c.vectors.StopAllGoroutines()
	}
}
