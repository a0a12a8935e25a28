package embed

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/panics"
)

// errTimeout is the cause of a request's end when its time is up.
var errTimeout = errors.New("timeout")

// run answers every call of a batch, whatever happens.
func (c *Client) run(ctx context.Context, b *batch) {
	var caught panics.Catcher
	caught.Try(func() {
		ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Timeout, errTimeout)
		defer cancel()
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
			c.ask(ctx, b.calls)
		case <-ctx.Done():
			c.settleAll(b.calls, c.fault(c.ended(ctx, nil), 0))
		}
	})
	err := caught.Recovered().AsError()
	for _, k := range b.calls {
		if !k.settled { // a hook or a transport has panicked
			c.settle(k, nil, fmt.Errorf("embed text: %w", err))
		}
	}
	b.cancel(nil)
	c.queue.Lock()
	delete(c.queue.running, b)
	c.queue.Unlock()
}

// ask answers calls by one request, or, where the endpoint refuses it for what may be one of the texts, by two of half each.
// So the others of a text that is too long for the model do not share its error.
func (c *Client) ask(ctx context.Context, calls []*call) {
	texts := make([]string, len(calls))
	for i, k := range calls {
		texts[i] = k.text
	}
	results, err := c.request(ctx, texts)
	var refused *EndpointError
	if half := len(calls) / 2; half > 0 && errors.As(err, &refused) && refused.OfText {
		c.ask(ctx, calls[:half])
		c.ask(ctx, calls[half:])
		return
	}
	if err != nil {
		c.settleAll(calls, err)
		return
	}
	for i, k := range calls {
		c.settle(k, results[i].vector, results[i].err)
	}
}

func (c *Client) settleAll(calls []*call, err error) {
	for _, k := range calls {
		c.settle(k, nil, err)
	}
}
