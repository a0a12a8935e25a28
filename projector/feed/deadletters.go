package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go/jetstream"
)

// Errors of [DeadLetters].
var (
	// ErrNoDeadLetter reports that there is no dead letter of this number. Nothing was done.
	ErrNoDeadLetter = errors.New("no such dead letter")
	// ErrNotReplayable reports a dead letter that cannot be published again as it was asked for; the text says why. Nothing
	// was done.
	ErrNotReplayable = errors.New("cannot be replayed")
	// ErrBadFilter reports a filter or a question that breaks a rule; the text names the field, the value and the rule.
	ErrBadFilter = errors.New("bad question")
)

// DeadLettersConfig says what is accepted and how long the server may take.
type DeadLettersConfig struct {
	// Limits bounds the events that may be published again; those of the feed.
	Limits projector.Limits

	// Timeout bounds one question to the server. Defaults to [DefaultPublishTimeout].
	Timeout time.Duration
}

// DeadLetters lists the dead letters of a NATS server, publishes them again and drops them. It asks the server each time and
// remembers nothing; it is safe for concurrent use, by several processes too. Whatever else stands in the stream is listed as
// foreign and harms nothing.
//
// The number of a dead letter is its sequence in [DeadStream]. All methods return [jetstream.ErrStreamNotFound] (in a wrap)
// while there is no such stream.
type DeadLetters struct {
	js  jetstream.JetStream
	cfg DeadLettersConfig
}

// NewDeadLetters returns the dead letters of the server that js leads to, which need not answer yet.
func NewDeadLetters(js jetstream.JetStream, cfg DeadLettersConfig) (*DeadLetters, error) {
	cfg.Limits = cfg.Limits.WithDefaults()
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultPublishTimeout)
	err := cfg.Limits.Validate()
	if cfg.Timeout < 0 {
		err = errors.Join(err, fmt.Errorf("timeout %s: want more than 0", cfg.Timeout))
	}
	if err != nil {
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	return &DeadLetters{js: js, cfg: cfg}, nil
}

// Letter is one message of [DeadStream].
type Letter struct {
	Number  uint64    // its sequence in DeadStream
	Stored  time.Time // when the server stored it
	Filed   string    // the subject under which it is kept
	UserID  string    // of the subject; empty if nobody could read it
	Type    string    // event type of the subject; "unknown" if nobody could read it, empty on subjects that kith does not use
	Size    int       // bytes of the payload as it is kept
	Foreign error     // why it is no dead letter of kith's, or cannot be read; nil if it is one

	DeadLetter // with what can be read of it if it is foreign
}

// Get returns one dead letter. The payload of one that was too large to be kept is taken from the event stream, if that has
// it still. Errors: [ErrNoDeadLetter], the server's, the context's.
func (d *DeadLetters) Get(ctx context.Context, number uint64) (Letter, error) {
	l, err := d.get(ctx, number)
	if err != nil || l.Omitted == 0 {
		return l, err
	}
	raw, err := d.original(ctx, l)
	if err != nil {
		return Letter{}, err
	}
	if raw != nil {
		l.Payload, l.Omitted = raw.Data, 0
	}
	return l, nil
}

func (d *DeadLetters) get(ctx context.Context, number uint64) (Letter, error) {
	raw, err := d.message(ctx, DeadStream, number, "")
	if errors.Is(err, jetstream.ErrMsgNotFound) || number == 0 {
		return Letter{}, fmt.Errorf("dead letter %d: %w", number, ErrNoDeadLetter)
	}
	if err != nil {
		return Letter{}, fmt.Errorf("read dead letter %d: %w", number, err)
	}
	return newLetter(raw), nil
}

// original returns the message that a letter is about, or nil if the event stream does not have it any more.
func (d *DeadLetters) original(ctx context.Context, l Letter) (*rawMessage, error) {
	if l.Stream != EventStream || l.Sequence == 0 {
		return nil, nil
	}
	raw, err := d.message(ctx, EventStream, l.Sequence, "")
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the original of dead letter %d: %w", l.Number, err)
	case !raw.Time.Equal(l.Received) || raw.Subject != l.Subject: // a stream that was made again uses the sequence for another
		return nil, nil
	}
	return raw, nil
}

// message is getMessage within the timeout.
func (d *DeadLetters) message(ctx context.Context, stream string, seq uint64, next string) (*rawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	return getMessage(ctx, d.js, stream, seq, next)
}

// stream takes up the stream of the dead letters.
func (d *DeadLetters) stream(ctx context.Context) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	stream, err := d.js.Stream(ctx, DeadStream)
	if err != nil {
		return nil, fmt.Errorf("take up stream %s: %w", DeadStream, err)
	}
	return stream, nil
}

func newLetter(raw *rawMessage) Letter {
	l := Letter{Number: raw.Sequence, Stored: raw.Time, Filed: raw.Subject, Size: len(raw.Data)}
	l.UserID, l.Type = parseDeadSubject(raw.Subject)
	l.DeadLetter, l.Foreign = ParseDeadLetter(raw.Header, raw.Data)
	switch {
	case raw.malformed != nil:
		l.Foreign = fmt.Errorf("read its headers: %w", raw.malformed)
	case l.Foreign == nil && l.Type == "":
		l.Foreign = fmt.Errorf("its subject is not %s<user>.<type>", deadPrefix)
	case l.Foreign == nil && !l.Reason.known():
		l.Foreign = fmt.Errorf("%s %q: no reason of kith's", HeaderReason, cut(string(l.Reason)))
	}
	if l.Foreign != nil {
		l.Payload, l.Header, l.FactIndex = raw.Data, originalHeaders(raw.Header), -1
	}
	return l
}
