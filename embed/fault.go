package embed

import "errors"

// Fault reports whether an error of [Client.Embed] is the endpoint's, so that the next text may meet it too: it cannot be
// reached, answers nonsense, or with vectors of another model or dimension. A text that is refused is no fault.
func (c *Client) Fault(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrBadAnswer) || errors.Is(err, ErrDimension) || errors.Is(err, ErrModel)
}
