package embed

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// known is what is known of the model: from the configuration, or learnt from the first answer.
type known struct {
	sync.Mutex
	dimension int
	served    string
}

func (k *known) get() (dimension int, served string) {
	k.Lock()
	defer k.Unlock()
	return k.dimension, k.served
}

// read makes results of the body of a good answer to n texts. The fault is about all of them.
func (c *Client) read(data []byte, n int) ([]result, *fault) {
	vectors, model, err := decodeAnswer(data, n)
	if err != nil {
		return nil, &fault{kind: ErrBadAnswer, detail: err.Error() + ": " + c.excerpt(data)}
	}
	results := make([]result, n)
	dimension := 0
	for i, v := range vectors {
		if err := v.check(); err != nil {
			results[i].err = c.fault(&fault{kind: ErrBadAnswer, status: http.StatusOK, ofText: true, detail: err.Error()}, 1)
			continue
		}
		if dimension != 0 && dimension != len(v) {
			return nil, &fault{kind: ErrBadAnswer, detail: fmt.Sprintf("embeddings of %d and of %d elements in one answer", dimension, len(v))}
		}
		dimension = len(v)
		results[i].vector = v
	}
	if f := c.known.check(c.cfg, model, dimension); f != nil {
		return nil, f
	}
	return results, nil
}

// check compares an answer with what is known, and learns from it what is not. Dimension 0 stands for an answer without good
// vectors, from which nothing is learnt.
func (k *known) check(cfg Config, model string, dimension int) *fault {
	k.Lock()
	defer k.Unlock()
	if model != "" && k.served != "" && model != k.served && model != cfg.Model && !slices.Contains(cfg.Aliases, model) {
		return &fault{kind: ErrModel, detail: fmt.Sprintf("it names %q, and before it named %q", shorten(model), shorten(k.served))}
	}
	if dimension == 0 {
		return nil
	}
	if k.dimension != 0 && k.dimension != dimension {
		return &fault{kind: ErrDimension, detail: fmt.Sprintf("%d elements: want %d", dimension, k.dimension)}
	}
	k.dimension = dimension
	if k.served == "" {
		k.served = model
	}
	return nil
}

// fault makes the error of a fault, without secrets.
func (c *Client) fault(f *fault, attempts int) error {
	if errors.Is(f.kind, ErrClosed) {
		return ErrClosed
	}
	return &EndpointError{
		URL: c.mask(c.endpoint.shown), Model: c.cfg.Model, Status: f.status, Attempts: attempts, OfText: f.ofText, Detail: c.mask(f.detail), Kind: f.kind,
	}
}
