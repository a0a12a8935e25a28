package embed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sourcegraph/conc/pool"
)

// allAhead is the number of requests that one EmbedAll has under way.
const allAhead = 4

// EmbedAll returns the vectors of texts, in their order, without waiting for other callers' texts; one that is there twice is
// asked for once. All or nothing, though what was answered before an error is in the cache. Errors are those of
// [Client.Embed] and name the place of the text, like texts[3]; Timeout bounds each request, not the whole.
func (c *Client) EmbedAll(ctx context.Context, texts []string) ([][]float32, error) {
	if err := c.checkTexts(texts); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	first := make(map[string]int, len(texts)) // place of each text
	var missing []int
	for i, text := range texts {
		if _, again := first[text]; again {
			continue
		}
		first[text] = i
		var ok bool
		if vectors[i], ok = c.cache.get(text); !ok {
			missing = append(missing, i)
		}
	}
	if n := len(first) - len(missing); n > 0 {
		c.cfg.Hooks.Cached(n)
	}
	p := pool.New().WithMaxGoroutines(allAhead).WithContext(ctx).WithCancelOnError().WithFirstError()
	for places := range slices.Chunk(missing, c.cfg.MaxBatch) {
		p.Go(func(ctx context.Context) error { return c.embedPlaces(ctx, texts, places, vectors) })
	}
	if err := p.Wait(); err != nil {
		return nil, err
	}
	for i, text := range texts {
		if from := first[text]; from != i {
			vectors[i] = slices.Clone(vectors[from])
		}
	}
	return vectors, nil
}

func (c *Client) checkTexts(texts []string) error {
	var errs []error
	for i, text := range texts {
		if err := c.CheckText(text); err != nil {
			errs = append(errs, fmt.Errorf("texts[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// embedPlaces fills in the vectors of the texts at these places.
func (c *Client) embedPlaces(ctx context.Context, texts []string, places []int, vectors [][]float32) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("embed texts: %w", err)
	}
	wanted := make([]string, len(places))
	for n, i := range places {
		wanted[n] = texts[i]
	}
	calls, err := c.join(true, wanted...)
	if err != nil {
		return err
	}
	for n, k := range calls {
		var err error
		if vectors[places[n]], err = c.wait(ctx, k); err != nil {
			for _, k := range calls[n+1:] {
				c.leave(k)
			}
			return fmt.Errorf("texts[%d]: %w", places[n], err)
		}
	}
	return nil
}
