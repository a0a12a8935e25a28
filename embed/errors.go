package embed

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Errors a caller branches on. Each is wrapped with the facts of the case; those of the endpoint are in an
// [*EndpointError] too.
var (
	ErrBadText     = errors.New("text cannot be embedded")                         // the caller's mistake: empty, too long, not UTF-8
	ErrUnavailable = errors.New("embeddings endpoint is unavailable")              // not reached, not in time, 429 or 5xx; may be retried later
	ErrRefused     = errors.New("embeddings endpoint refuses the request")         // 3xx or 4xx: the key, the model, or this text
	ErrBadAnswer   = errors.New("embeddings endpoint gave an answer that is none") // not what the protocol says, or a vector that is none
	ErrDimension   = errors.New("embedding has another dimension than expected")   // the usual cause is a changed model
	ErrModel       = errors.New("embeddings endpoint answers with another model")  // than it did before
	ErrClosed      = errors.New("embeddings client is closed")                     // after Close
)

// EndpointError is what came of asking the endpoint. It wraps one of the errors above.
type EndpointError struct {
	URL      string // without user, password and query
	Model    string // as asked for
	Status   int    // of the last answer; 0 where there was none
	Attempts int
	OfText   bool   // may be due to the one text alone: a status that endpoints use for that, or a vector that is none
	Detail   string // what was wrong, or the first bytes of the answer, quoted, without the key
	Kind     error  // one of this package's errors
}

// Error says all of it.
func (e *EndpointError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s, model %q", e.Kind, e.URL, shorten(e.Model))
	if e.Status != 0 {
		fmt.Fprintf(&b, ": status %d", e.Status)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (attempt %d)", e.Attempts)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

// Unwrap returns the kind. What the HTTP client said is kept as text only: its chain may match the errors of a context that
// is not the caller's.
func (e *EndpointError) Unwrap() error { return e.Kind }

// shownBytes is how much of a value an error shows.
const shownBytes = 200

// shorten cuts a text for an error.
func shorten(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	cut := shownBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// checkText says what is wrong with a text.
func checkText(text string, maxBytes int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%w: it is empty", ErrBadText)
	case len(text) > maxBytes:
		return fmt.Errorf("%w: it has %d bytes: want at most %d", ErrBadText, len(text), maxBytes)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: it is not UTF-8", ErrBadText)
	}
	return nil
}
