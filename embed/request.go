package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Waits between attempts: the first, and the longest. Each is drawn from the upper half of its range, so that clients that
// failed together do not come back together.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 2 * time.Second
)

// requestBody is the protocol's.
type requestBody struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format,omitempty"`
	Dimensions     int      `json:"dimensions,omitempty"`
}

// result is what came of one text.
type result struct {
	vector []float32
	err    error
}

// request asks for the vectors of texts, again while that may help and there is time. The error is an [*EndpointError] about
// all of the texts; what is wrong with one vector is in its result.
func (c *Client) request(ctx context.Context, texts []string) ([]result, error) {
	body, err := json.Marshal(c.body(texts))
	if err != nil {
		return nil, fmt.Errorf("encode request for embeddings: %w", err) // strings and numbers: cannot happen
	}
	var last *fault
	for attempt := 1; ; attempt++ {
		results, f := c.attempt(ctx, body, len(texts))
		if f == nil {
			return results, nil
		}
		if ctx.Err() != nil {
			return nil, c.fault(c.ended(ctx, last), attempt)
		}
		last = f
		if !f.again || attempt == c.cfg.Attempts {
			return nil, c.fault(f, attempt)
		}
		if err := c.pause(ctx, f, attempt); err != nil {
			return nil, err
		}
	}
}

func (c *Client) body(texts []string) requestBody {
	b := requestBody{Model: c.cfg.Model, Input: texts}
	if c.cfg.Prefix != "" {
		b.Input = make([]string, len(texts))
		for i, t := range texts {
			b.Input[i] = c.cfg.Prefix + t
		}
	}
	if c.cfg.Base64 {
		b.EncodingFormat = "base64"
	}
	if c.cfg.Shorten {
		b.Dimensions = c.cfg.Dimension
	}
	return b
}

// pause waits before the next attempt, as long as the endpoint asks for or longer. Where the time left is shorter, it does
// not wait in vain.
func (c *Client) pause(ctx context.Context, f *fault, attempt int) error {
	wait := max(f.retryAfter, backoff(attempt))
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		f.detail = fmt.Sprintf("to be asked again after %v, which is past the timeout of %v: %s", wait.Round(time.Millisecond), c.cfg.Timeout, f.detail)
		return c.fault(f, attempt)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return c.fault(c.ended(ctx, f), attempt)
	}
}

// backoff returns the wait after an attempt, the first being 1.
func backoff(attempt int) time.Duration {
	whole := min(firstWait<<(attempt-1), longestWait)
	return whole/2 + rand.N(whole/2)
}

// ended says why a request ended before its answer; last is what its latest finished attempt came to.
func (c *Client) ended(ctx context.Context, last *fault) *fault {
	f := &fault{kind: ErrUnavailable, detail: fmt.Sprintf("no answer within %v", c.cfg.Timeout)}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrClosed):
		return &fault{kind: ErrClosed}
	case !errors.Is(cause, errTimeout):
		f.detail = "every caller has left" // and so nobody reads it
	case last != nil:
		f.status = last.status
		f.detail += "; before: " + last.detail
	}
	return f
}
