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

// DefaultDuplicateWindow is how long the server recognises a message id; it outlives the retries of a publisher and the
// redelivery after a crash.
const DefaultDuplicateWindow = 2 * time.Minute

// headerRoom is what a message may need beside its payload: a dead letter carries the original's headers and our own.
const headerRoom = 8 << 10

// StreamsConfig says how the two streams keep messages. Limits are used when a stream is created; on one that exists they
// are checked: a stream that keeps less is an error, one that keeps more is left alone.
type StreamsConfig struct {
	// MaxAge and MaxBytes bound the event stream; the oldest events go first. Events are what a lost graph is rebuilt from.
	// Zero means no bound, and accepts any bound of an existing stream. Defaults to 0.
	MaxAge   time.Duration
	MaxBytes int64

	// DeadMaxAge and DeadMaxBytes bound the dead letters in the same way. Defaults to 0.
	DeadMaxAge   time.Duration
	DeadMaxBytes int64

	// DuplicateWindow is how long both streams recognise a message id. Defaults to [DefaultDuplicateWindow].
	DuplicateWindow time.Duration

	// MaxEventBytes is the largest event both streams must take. Defaults to projector.DefaultMaxEventBytes.
	MaxEventBytes int

	// Replicas is the number of copies in a cluster, used when a stream is created only. Defaults to 1.
	Replicas int
}

func (c StreamsConfig) withDefaults() StreamsConfig {
	c.DuplicateWindow = cmp.Or(c.DuplicateWindow, DefaultDuplicateWindow)
	c.MaxEventBytes = cmp.Or(c.MaxEventBytes, projector.DefaultMaxEventBytes)
	c.Replicas = cmp.Or(c.Replicas, 1)
	return c
}

func (c StreamsConfig) validate() error {
	var errs []error
	for _, f := range []struct {
		name     string
		negative bool
		value    any
	}{
		{"max age", c.MaxAge < 0, c.MaxAge},
		{"max bytes", c.MaxBytes < 0, c.MaxBytes},
		{"dead max age", c.DeadMaxAge < 0, c.DeadMaxAge},
		{"dead max bytes", c.DeadMaxBytes < 0, c.DeadMaxBytes},
		{"duplicate window", c.DuplicateWindow < 0, c.DuplicateWindow},
		{"max event bytes", c.MaxEventBytes < 0, c.MaxEventBytes},
	} {
		if f.negative {
			errs = append(errs, fmt.Errorf("%s %v: want 0 or more", f.name, f.value))
		}
	}
	if c.Replicas < 1 || c.Replicas > 5 {
		errs = append(errs, fmt.Errorf("replicas %d: want 1 to 5", c.Replicas))
	}
	return errors.Join(errs...)
}

func (c StreamsConfig) events() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: EventStream, Subjects: []string{EventSubjects},
		Description: "memory events, the input of the graph",
		Retention:   jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld,
		MaxAge: c.MaxAge, MaxBytes: unlimited(c.MaxBytes),
		Duplicates: c.window(c.MaxAge), Replicas: c.Replicas,
	}
}

func (c StreamsConfig) dead() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: DeadStream, Subjects: []string{DeadSubjects},
		Description: "memory events and facts that cannot be projected, as they came",
		Retention:   jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld,
		MaxAge: c.DeadMaxAge, MaxBytes: unlimited(c.DeadMaxBytes),
		Duplicates: c.window(c.DeadMaxAge), Replicas: c.Replicas,
	}
}

// window returns the duplicate window, which the server wants no longer than the age of messages.
func (c StreamsConfig) window(maxAge time.Duration) time.Duration {
	if maxAge > 0 {
		return min(c.DuplicateWindow, maxAge)
	}
	return c.DuplicateWindow
}

func unlimited(bytes int64) int64 {
	if bytes == 0 {
		return -1
	}
	return bytes
}

// EnsureStreams creates the event stream and the dead-letter stream where they are absent. A stream that exists is never
// changed: a *[StreamMismatchError] names what is wrong with it. Any other error is the server's or the connection's.
func EnsureStreams(ctx context.Context, js jetstream.JetStream, cfg StreamsConfig) error {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return fmt.Errorf("ensure streams: %w", err)
	}
	for _, want := range []jetstream.StreamConfig{cfg.events(), cfg.dead()} {
		if err := ensureStream(ctx, js, want, cfg.MaxEventBytes); err != nil {
			return err
		}
	}
	return nil
}

func ensureStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig, eventBytes int) error {
	stream, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster, with other settings
			stream, err = js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("ensure stream %s: %w", want.Name, err)
	}
	return checkStream(stream.CachedInfo().Config, want, eventBytes)
}
