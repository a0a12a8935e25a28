package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// Defaults of [Config].
const (
	DefaultBatchSize      = 2048
	DefaultBatchWait      = 50 * time.Millisecond
	DefaultBatchBytes     = 8 << 20
	DefaultCommitTarget   = 4 * time.Second
	DefaultMarkInterval   = 5 * time.Second
	DefaultAckWait        = 30 * time.Second
	DefaultRetryMin       = 200 * time.Millisecond
	DefaultRetryMax       = 15 * time.Second
	DefaultPoisonAfter    = 8
	DefaultDrainTimeout   = 10 * time.Second
	DefaultPublishTimeout = 5 * time.Second
	DefaultStatusInterval = 5 * time.Second

	// MaxGraphIDBytes bounds Config.GraphID.
	MaxGraphIDBytes = 128

	// ackPendingBatches is MaxAckPending in batches: one is worked on, the others may be waiting for their retry.
	ackPendingBatches = 4
)

// Config of a [Feed].
type Config struct {
	// Streams says how the streams are created and what is asked of existing ones. Its MaxEventBytes defaults to that of
	// Limits.
	Streams StreamsConfig

	// GraphID is the id of the graph, made together with it and never used for another one: printable ASCII without
	// spaces, at most [MaxGraphIDBytes] bytes. The consumer keeps it, and one that fed another graph is not continued (see [ForeignConsumerError]).
	// Defaults to "", which checks nothing: then a new graph, or a second service, silently lacks what the consumer has
	// delivered to the other one.
	GraphID string

	// FormerIDs are ids of graphs that this one took the place of, of which the caller knows that nobody uses them any more: a
	// consumer that fed one of them is made again at once, without watching whether somebody uses it. Defaults to none.
	FormerIDs []string

	// Mark is what the graph says of itself before Run: how far it has taken in the stream. If the consumer has more of it
	// acknowledged, the graph has gone back (a copy was restored, or its log was cut short), and the consumer is made again
	// from there. Wants a GraphID; without one no mark is kept. Defaults to the mark of a graph that has none.
	Mark graphstore.Mark

	// MarkInterval is how long the graph's mark may lag behind what is settled, when nothing is committed that would take it
	// along; then it is recorded alone. It also is at a stop. Defaults to [DefaultMarkInterval].
	MarkInterval time.Duration

	// Standby makes the feed one of several that stand in for each other. Defaults to none.
	Standby StandbyConfig

	// Limits bounds the events that are accepted; larger ones are dead letters.
	Limits projector.Limits

	// Turn is waited for before a batch is planned, and given back (done) after its commit. Somebody else who plans changes of the
	// same graph takes it in the same way, so that neither plans against what the other is about to change. Its error counts
	// as trouble of the graph. Defaults to none: the feed is the only one.
	Turn func(ctx context.Context) (done func(), err error)

	// BatchSize is the most messages in one transaction. Batches that come full, out of a backlog, grow up to it from
	// [MinBatchSize] for as long as CommitTarget allows. Defaults to [DefaultBatchSize].
	BatchSize int

	// CommitTarget is how long one commit may take: longer ones, and those that fail, halve the size of the next batch, and
	// full ones within half of it double that. Batches come full out of a backlog only, in which an event waits for those
	// before it much longer than for its batch, so it is better long than short: a Kuzu file on a busy disk took 230 events
	// a second in batches of 64, 340 in such of 256 and 450 in such of 1024. Defaults to [DefaultCommitTarget].
	CommitTarget time.Duration

	// BatchWait is how long a batch that has begun waits for more messages: the most it adds to the delay of an event.
	// Defaults to [DefaultBatchWait].
	BatchWait time.Duration

	// BatchBytes ends a batch that has this many bytes; one message alone may have more. Defaults to [DefaultBatchBytes].
	BatchBytes int

	// AckWait is after how long without a word the server delivers a message again. The feed speaks up three times in it
	// for as long as it works on a batch. Defaults to [DefaultAckWait].
	AckWait time.Duration

	// MaxAckPending is the most messages delivered and not settled, those that wait for their retry among them; at least
	// twice BatchSize. Defaults to four times BatchSize.
	MaxAckPending int

	// RetryMin is the pause after the first failure; it doubles with each one up to RetryMax. Both the pause of the feed
	// and the delay of a message follow it. Defaults to [DefaultRetryMin] and [DefaultRetryMax].
	RetryMin, RetryMax time.Duration

	// PoisonAfter is how often an event must fail alone, each time after others of the same batch were committed, until it
	// is taken for the cause and dead-lettered. Trouble that hits all events alike never gets there. Defaults to
	// [DefaultPoisonAfter].
	PoisonAfter int

	// DrainTimeout is how long a stopped feed may go on committing the batch in hand. Defaults to [DefaultDrainTimeout].
	DrainTimeout time.Duration

	// PublishTimeout bounds one wait for the acknowledgement of a dead letter. Defaults to [DefaultPublishTimeout].
	PublishTimeout time.Duration

	// StatusInterval is how often the server is asked for the state of the consumer. Defaults to [DefaultStatusInterval].
	StatusInterval time.Duration

	// StallAfter is how long the feed waits for messages that the server says it has, until it takes the consumer up again; longer
	// than any delivery can take. Defaults to AckWait and twice StatusInterval.
	StallAfter time.Duration

	// Hooks are told what happens.
	Hooks Hooks

	// Logger logs one line per episode of trouble and one per dead letter. Defaults to slog.Default().
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.WithDefaults()
	c.Streams.MaxEventBytes = cmp.Or(c.Streams.MaxEventBytes, c.Limits.MaxBytes)
	c.Streams = c.Streams.withDefaults()
	c.BatchSize = cmp.Or(c.BatchSize, DefaultBatchSize)
	c.BatchWait = cmp.Or(c.BatchWait, DefaultBatchWait)
	c.CommitTarget = cmp.Or(c.CommitTarget, DefaultCommitTarget)
	c.MarkInterval = cmp.Or(c.MarkInterval, DefaultMarkInterval)
	c.BatchBytes = cmp.Or(c.BatchBytes, DefaultBatchBytes)
	c.AckWait = cmp.Or(c.AckWait, DefaultAckWait)
	c.MaxAckPending = cmp.Or(c.MaxAckPending, ackPendingBatches*c.BatchSize)
	c.RetryMin = cmp.Or(c.RetryMin, DefaultRetryMin)
	c.RetryMax = cmp.Or(c.RetryMax, DefaultRetryMax)
	c.PoisonAfter = cmp.Or(c.PoisonAfter, DefaultPoisonAfter)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, DefaultDrainTimeout)
	c.PublishTimeout = cmp.Or(c.PublishTimeout, DefaultPublishTimeout)
	c.StatusInterval = cmp.Or(c.StatusInterval, DefaultStatusInterval)
	c.StallAfter = cmp.Or(c.StallAfter, c.AckWait+2*c.StatusInterval)
	c.Standby = c.Standby.withDefaults()
	c.Hooks = c.Hooks.withDefaults()
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// maxBatch keeps the client's buffer for one pull, which it allocates whole, small.
const maxBatch = 10_000

func (c Config) validate() error {
	errs := []error{c.Streams.validate(), c.Limits.Validate(), c.Standby.validate(c.GraphID)}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.GraphID) > MaxGraphIDBytes || strings.ContainsFunc(c.GraphID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		bad("graph id %s: want printable ASCII without spaces, at most %d bytes", graphstore.Shorten(c.GraphID), MaxGraphIDBytes)
	}
	if c.GraphID == "" && c.Mark != (graphstore.Mark{}) {
		bad("mark %s %d without a graph id: want both or no mark", graphstore.Shorten(c.Mark.Log), c.Mark.Seq)
	}
	if c.BatchSize < 1 || c.BatchSize > maxBatch {
		bad("batch size %d: want 1 to %d", c.BatchSize, maxBatch)
	}
	if c.BatchWait < time.Millisecond || c.BatchWait > c.AckWait/2 {
		bad("batch wait %s: want 1ms to half of ack wait %s", c.BatchWait, c.AckWait)
	}
	if c.BatchBytes < 1 {
		bad("batch bytes %d: want 1 or more", c.BatchBytes)
	}
	if c.MaxAckPending < 2*c.BatchSize {
		bad("max ack pending %d: want at least twice batch size %d", c.MaxAckPending, c.BatchSize)
	}
	if c.RetryMin < 0 || c.RetryMin > c.RetryMax {
		bad("retry min %s, retry max %s: want 0 < min <= max", c.RetryMin, c.RetryMax)
	}
	if c.PoisonAfter < 1 {
		bad("poison after %d: want 1 or more", c.PoisonAfter)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"ack wait", c.AckWait}, {"drain timeout", c.DrainTimeout}, {"publish timeout", c.PublishTimeout}, {"status interval", c.StatusInterval},
		{"commit target", c.CommitTarget}, {"mark interval", c.MarkInterval}, {"stall after", c.StallAfter},
	} {
		if d.value < 0 {
			bad("%s %s: want more than 0", d.name, d.value)
		}
	}
	return errors.Join(errs...)
}
