package feed

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func TestStreamsAreMadeAsTheContractSays(t *testing.T) {
	ctx := testContext(t)
	js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	cfg := StreamsConfig{MaxAge: 90 * 24 * time.Hour, MaxBytes: 1 << 30, DeadMaxAge: 365 * 24 * time.Hour}
	for range 2 { // the second time finds its own streams
		if err := EnsureStreams(ctx, js, cfg); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct {
		subject  string
		maxAge   time.Duration
		maxBytes int64
	}{
		"MEMORY_EVENTS": {"memory.events.>", 90 * 24 * time.Hour, 1 << 30},
		"MEMORY_DEAD":   {"memory.dead.>", 365 * 24 * time.Hour, -1},
	} {
		stream, err := js.Stream(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		got := stream.CachedInfo().Config
		if len(got.Subjects) != 1 || got.Subjects[0] != want.subject || got.Storage != jetstream.FileStorage ||
			got.Retention != jetstream.LimitsPolicy || got.Duplicates != 2*time.Minute || got.MaxAge != want.maxAge || got.MaxBytes != want.maxBytes {
			t.Errorf("stream %s is %+v", name, got)
		}
	}
}

func TestUnfitStreamsAreRefusedAndLeftAlone(t *testing.T) {
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		change  func(events, dead *jetstream.StreamConfig)
		setting string // empty: fit
		says    string
	}{
		"as made":                    {func(_, _ *jetstream.StreamConfig) {}, "", ""},
		"in memory":                  {func(e, _ *jetstream.StreamConfig) { e.Storage = jetstream.MemoryStorage }, "storage", "Memory"},
		"interest retention":         {func(e, _ *jetstream.StreamConfig) { e.Retention = jetstream.InterestPolicy }, "retention", "Interest"},
		"work queue":                 {func(e, _ *jetstream.StreamConfig) { e.Retention = jetstream.WorkQueuePolicy }, "retention", "WorkQueue"},
		"acknowledged before stored": {func(e, _ *jetstream.StreamConfig) { e.PersistMode = jetstream.AsyncPersistMode }, "persist_mode", "async"},
		"kept for a day less":        {func(e, _ *jetstream.StreamConfig) { e.MaxAge = 29 * day }, "max_age", "at least 720h0m0s"},
		"kept for a day more":        {func(e, _ *jetstream.StreamConfig) { e.MaxAge = 31 * day }, "", ""},
		"kept for ever":              {func(e, _ *jetstream.StreamConfig) { e.MaxAge = 0 }, "", ""},
		"a byte less":                {func(e, _ *jetstream.StreamConfig) { e.MaxBytes-- }, "max_bytes", "at least 67108864"},
		"a byte more":                {func(e, _ *jetstream.StreamConfig) { e.MaxBytes++ }, "", ""},
		"one message a subject":      {func(e, _ *jetstream.StreamConfig) { e.MaxMsgsPerSubject = 1 }, "max_msgs_per_subject", "found"},
		"other subjects":             {func(e, _ *jetstream.StreamConfig) { e.Subjects = []string{"memory.events.*"} }, "subjects", "memory.events.>"},
		"more subjects":              {func(e, _ *jetstream.StreamConfig) { e.Subjects = []string{"other", "memory.events.>"} }, "", ""},
		"subjects moved away":        {func(e, _ *jetstream.StreamConfig) { e.SubjectTransform = transform("memory.events.>", "m.>") }, "subject_transform", "m.>"},
		"subjects moved below": {func(e, _ *jetstream.StreamConfig) {
			e.SubjectTransform = transform("memory.events.*.>", "memory.events.{{partition(8,1)}}.>")
		}, "", ""},
		"small messages":                 {func(e, _ *jetstream.StreamConfig) { e.MaxMsgSize = 1<<20 - 1 }, "max_msg_size", "at least 1048576"},
		"just large enough messages":     {func(e, _ *jetstream.StreamConfig) { e.MaxMsgSize = 1 << 20 }, "", ""},
		"no room for dead headers":       {func(_, d *jetstream.StreamConfig) { d.MaxMsgSize = 1 << 20 }, "max_msg_size", "at least 1056768"}, // 1 MiB + 8 KiB
		"no acknowledgements":            {func(e, _ *jetstream.StreamConfig) { e.NoAck = true }, "no_ack", "true"},
		"a short duplicate window":       {func(e, _ *jetstream.StreamConfig) { e.Duplicates = time.Minute }, "duplicate_window", "1m0s"},
		"a long duplicate window":        {func(e, _ *jetstream.StreamConfig) { e.Duplicates = time.Hour }, "", ""},
		"dead letters in memory":         {func(_, d *jetstream.StreamConfig) { d.Storage = jetstream.MemoryStorage }, "storage", "Memory"},
		"dead letters cannot be deleted": {func(_, d *jetstream.StreamConfig) { d.DenyDelete = true }, "deny_delete", "true"},
		"dead letters cannot be purged":  {func(_, d *jetstream.StreamConfig) { d.DenyPurge = true }, "deny_purge", "true"},
		"events cannot be deleted":       {func(e, _ *jetstream.StreamConfig) { e.DenyDelete = true }, "", ""},
		"compressed":                     {func(e, _ *jetstream.StreamConfig) { e.Compression = jetstream.S2Compression }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
			cfg := StreamsConfig{MaxAge: 30 * day, MaxBytes: 64 << 20}
			events, dead := cfg.withDefaults().events(), cfg.withDefaults().dead()
			c.change(&events, &dead)
			for _, s := range []jetstream.StreamConfig{events, dead} {
				if _, err := js.CreateStream(ctx, s); err != nil {
					t.Fatal(err)
				}
			}
			err := EnsureStreams(ctx, js, cfg)
			var unfit *StreamMismatchError
			switch {
			case c.setting == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.setting != "" && (!errors.As(err, &unfit) || unfit.Setting != c.setting):
				t.Errorf("got %v, want setting %s refused", err, c.setting)
			case c.setting != "" && c.says != "found" && !strings.Contains(err.Error(), c.says):
				t.Errorf("error %q does not say %q", err, c.says)
			}
			stream, err := js.Stream(ctx, EventStream)
			if err != nil {
				t.Fatal(err)
			}
			if got := stream.CachedInfo().Config; got.MaxAge != events.MaxAge || got.Storage != events.Storage || got.Duplicates != events.Duplicates {
				t.Errorf("the stream was changed to %+v", got)
			}
		})
	}
}

func transform(from, to string) *jetstream.SubjectTransformConfig {
	return &jetstream.SubjectTransformConfig{Source: from, Destination: to}
}

func TestRunRefusesAnUnfitStream(t *testing.T) {
	ctx := testContext(t)
	js := connectTo(t, startServer(t, t.TempDir(), "127.0.0.1:0").ClientURL())
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: EventStream, Subjects: []string{EventSubjects}, Storage: jetstream.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	f := run(t, newFeed(t, js, newGraph(t), fastConfig()))
	f.ended = true
	err := <-f.result
	f.cancel()
	var unfit *StreamMismatchError
	if !errors.As(err, &unfit) || unfit.Stream != EventStream || unfit.Setting != "storage" {
		t.Errorf("run returned %v, want the storage of the stream refused", err)
	}
	if s := f.Status(); !errors.As(s.LastError, &unfit) {
		t.Errorf("status says %v, want the same", s.LastError)
	}
}

func TestStreamsConfigNamesAllViolations(t *testing.T) {
	js := connectTo(t, "nats://"+freeAddress(t))
	err := EnsureStreams(testContext(t), js, StreamsConfig{MaxAge: -1, MaxBytes: -2, DeadMaxAge: -3, DeadMaxBytes: -4, DuplicateWindow: -5, MaxEventBytes: -6, Replicas: 6})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"max age -1ns", "max bytes -2", "dead max age -3ns", "dead max bytes -4", "duplicate window -5ns", "max event bytes -6", "replicas 6: want 1 to 5"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}
