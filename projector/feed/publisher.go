package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kithgraph/kith/projector"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Defaults of [PublisherConfig].
const (
	DefaultAckTimeout = 5 * time.Second
	DefaultAttempts   = 4
	DefaultMaxPending = 1024
)

// maxMaxPending is the client's own bound of unanswered messages on one JetStream context.
const maxMaxPending = 4000

// PublisherConfig says what a publisher accepts and how long it tries.
type PublisherConfig struct {
	// Limits bounds the events that are accepted.
	Limits projector.Limits

	// AckTimeout is how long one attempt waits for the server's acknowledgement. Defaults to [DefaultAckTimeout].
	AckTimeout time.Duration

	// Attempts is how often an event is sent at most. All attempts carry the same message id, by which the server knows
	// repeats within the stream's duplicate window. Defaults to [DefaultAttempts].
	Attempts int

	// RetryWait is the pause before an event is sent again. Defaults to [DefaultRetryMin].
	RetryWait time.Duration

	// MaxPending is how many events of a batch are sent ahead of their acknowledgements. Defaults to [DefaultMaxPending].
	MaxPending int

	// Traceparent returns the W3C trace context header of the context's span, or "" for none. Defaults to none.
	Traceparent func(ctx context.Context) string
}

func (c PublisherConfig) withDefaults() PublisherConfig {
	c.Limits = c.Limits.WithDefaults()
	c.AckTimeout = cmp.Or(c.AckTimeout, DefaultAckTimeout)
	c.Attempts = cmp.Or(c.Attempts, DefaultAttempts)
	c.RetryWait = cmp.Or(c.RetryWait, DefaultRetryMin)
	c.MaxPending = cmp.Or(c.MaxPending, DefaultMaxPending)
	if c.Traceparent == nil {
		c.Traceparent = func(context.Context) string { return "" }
	}
	return c
}

func (c PublisherConfig) validate() error {
	errs := []error{c.Limits.Validate()}
	if c.AckTimeout < 0 {
		errs = append(errs, fmt.Errorf("ack timeout %s: want more than 0", c.AckTimeout))
	}
	if c.Attempts < 0 {
		errs = append(errs, fmt.Errorf("attempts %d: want 1 or more", c.Attempts))
	}
	if c.RetryWait < 0 {
		errs = append(errs, fmt.Errorf("retry wait %s: want more than 0", c.RetryWait))
	}
	if c.MaxPending < 1 || c.MaxPending > maxMaxPending {
		errs = append(errs, fmt.Errorf("max pending %d: want 1 to %d", c.MaxPending, maxMaxPending))
	}
	return errors.Join(errs...)
}

// Publisher publishes events to the event stream. It is safe for concurrent use.
type Publisher struct {
	js  jetstream.JetStream
	cfg PublisherConfig
}

// NewPublisher returns a publisher on the connection of js. The streams must be there ([EnsureStreams]) when it publishes.
// The caller closes the publisher before the connection.
func NewPublisher(js jetstream.JetStream, cfg PublisherConfig) (*Publisher, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("publisher: %w", err)
	}
	// A context of its own: the timeout of asynchronous publishing is a setting of the context, and without it an
	// acknowledgement that never comes stays pending for ever.
	own, err := jetstream.New(js.Conn(), jetstream.WithPublishAsyncTimeout(cfg.AckTimeout), jetstream.WithPublishAsyncMaxPending(maxMaxPending))
	if err != nil {
		return nil, fmt.Errorf("publisher: %w", err)
	}
	return &Publisher{js: own, cfg: cfg}, nil
}

// Close gives up what is still pending and releases the publisher's subscription.
func (p *Publisher) Close() { p.js.CleanupPublisher() }

// Receipt says that the server has stored an event.
type Receipt struct {
	EventID   string
	Sequence  uint64 // in the event stream; what [Feed.WaitApplied] takes
	Duplicate bool   // it had been stored before, with this sequence
}

// Publish stores one event and returns when the server has acknowledged it. The payload is checked first, as the feed will
// check it: an error of the event or of any of its facts names the path, and nothing is sent. An error of the server or the
// connection does not mean that the event is not stored; publish it again, under the same id it is stored once.
func (p *Publisher) Publish(ctx context.Context, payload []byte) (Receipt, error) {
	msg, err := p.message(ctx, payload)
	if err != nil {
		return Receipt{}, fmt.Errorf("publish event: %w", err)
	}
	return p.send(ctx, msg)
}

// PublishEvent is Publish of an event put together in Go.
func (p *Publisher) PublishEvent(ctx context.Context, ev projector.Event) (Receipt, error) {
	payload, err := projector.Marshal(ev, p.cfg.Limits)
	if err != nil {
		return Receipt{}, fmt.Errorf("publish event: %w", err)
	}
	return p.Publish(ctx, payload)
}

// message checks a payload and dresses it for the wire.
func (p *Publisher) message(ctx context.Context, payload []byte) (*nats.Msg, error) {
	ev, rejected, err := projector.Decode(payload, p.cfg.Limits)
	if err != nil {
		return nil, err
	}
	if len(rejected) > 0 {
		errs := make([]error, len(rejected))
		for i, r := range rejected {
			errs[i] = r.Err
		}
		return nil, errors.Join(errs...)
	}
	msg := nats.NewMsg(projector.Subject(ev.Space.UserID(), ev.Type()))
	msg.Data = payload
	msg.Header.Set(jetstream.MsgIDHeader, ev.ID)
	if trace := p.cfg.Traceparent(ctx); trace != "" {
		msg.Header.Set("traceparent", trace)
	}
	return msg, nil
}

// send publishes a message until it is acknowledged, refused for good, or out of attempts.
func (p *Publisher) send(ctx context.Context, msg *nats.Msg) (Receipt, error) {
	id := msg.Header.Get(jetstream.MsgIDHeader)
	for attempt := 1; ; attempt++ {
		ack, err := p.sendOnce(ctx, msg)
		switch {
		case err == nil:
			return receipt(id, ack), nil
		case ctx.Err() != nil:
			return Receipt{}, fmt.Errorf("publish event %q: it may be stored or not: %w", id, context.Cause(ctx))
		case attempt >= p.cfg.Attempts || !passing(err):
			return Receipt{}, fmt.Errorf("publish event %q: attempt %d: %w", id, attempt, err)
		}
		sleep(ctx, p.cfg.RetryWait)
	}
}

func (p *Publisher) sendOnce(ctx context.Context, msg *nats.Msg) (*jetstream.PubAck, error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.AckTimeout)
	defer cancel()
	return p.js.PublishMsg(ctx, msg, publishOptions()...)
}

// publishOptions leaves retries to the publisher: the client's own ones would multiply them.
func publishOptions() []jetstream.PublishOpt {
	return []jetstream.PublishOpt{jetstream.WithExpectStream(EventStream), jetstream.WithRetryAttempts(0)}
}

func receipt(id string, ack *jetstream.PubAck) Receipt {
	return Receipt{EventID: id, Sequence: ack.Sequence, Duplicate: ack.Duplicate}
}

// passing reports whether an error of publishing may be gone the next time: everything but a size and a request that the
// server refuses.
func passing(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.Code >= 500
	}
	return !errors.Is(err, nats.ErrMaxPayload) && !errors.Is(err, nats.ErrConnectionClosed) && !errors.Is(err, nats.ErrBadSubject)
}
