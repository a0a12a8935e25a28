package feed

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

func TestDefaults(t *testing.T) {
	c := Config{}.withDefaults()
	got := fmt.Sprintf("streams %+v\nlimits %+v\nbatch %d in %s of %d bytes, commit in %s, mark after %s\nack wait %s, at most %d pending\nretry %s to %s, poison after %d\ndrain %s, publish %s, status %s, stalled after %s\nstandby %+v",
		c.Streams, c.Limits, c.BatchSize, c.BatchWait, c.BatchBytes, c.CommitTarget, c.MarkInterval, c.AckWait, c.MaxAckPending, c.RetryMin, c.RetryMax, c.PoisonAfter,
		c.DrainTimeout, c.PublishTimeout, c.StatusInterval, c.StallAfter, c.Standby)
	want := `streams {MaxAge:0s MaxBytes:0 DeadMaxAge:0s DeadMaxBytes:0 DuplicateWindow:2m0s MaxEventBytes:1048576 Replicas:1}
limits {MaxBytes:1048576 MaxFacts:1000}
batch 2048 in 50ms of 8388608 bytes, commit in 4s, mark after 5s
ack wait 30s, at most 8192 pending
retry 200ms to 15s, poison after 8
drain 10s, publish 5s, status 5s, stalled after 40s
standby {Group: TTL:5s}`
	if got != want {
		t.Errorf("defaults:\n%s\nwant:\n%s", got, want)
	}
	if err := c.validate(); err != nil {
		t.Errorf("defaults are invalid: %v", err)
	}
}

func TestConfigNamesAllViolations(t *testing.T) {
	js := connectTo(t, "nats://"+freeAddress(t))
	for name, c := range map[string]struct {
		cfg  Config
		want []string
	}{
		"negative": {Config{
			Limits: projector.Limits{MaxBytes: -1}, Streams: StreamsConfig{MaxAge: -1}, BatchSize: -1, BatchWait: -1, BatchBytes: -1, AckWait: -1,
			MaxAckPending: -4, RetryMin: -1, PoisonAfter: -1, DrainTimeout: -1, PublishTimeout: -1, StatusInterval: -1,
			CommitTarget: -1, MarkInterval: -1, StallAfter: -1,
		}, []string{"max event bytes -1", "max age -1ns", "batch size -1", "batch wait -1ns", "batch bytes -1", "ack wait -1ns",
			"max ack pending -4", "retry min -1ns", "poison after -1", "drain timeout -1ns", "publish timeout -1ns", "status interval -1ns",
			"commit target -1ns", "mark interval -1ns", "stall after -1ns"}},
		"too large a batch":             {Config{BatchSize: 10_001}, []string{"batch size 10001: want 1 to 10000"}},
		"too little in flight":          {Config{BatchSize: 100, MaxAckPending: 199}, []string{"max ack pending 199: want at least twice batch size 100"}},
		"a batch that outlives its ack": {Config{BatchWait: 2 * time.Second, AckWait: 3 * time.Second}, []string{"batch wait 2s: want 1ms to half of ack wait 3s"}},
		"a graph id with a space":       {Config{GraphID: "my graph"}, []string{`graph id "my graph": want printable ASCII without spaces`}},
		"a graph id that is too long":   {Config{GraphID: strings.Repeat("x", 129)}, []string{"(129 bytes): want printable ASCII without spaces, at most 128 bytes"}},
		"a mark without a graph id":     {Config{Mark: graphstore.Mark{Log: "log", Seq: 7}}, []string{`mark "log" 7 without a graph id`}},
		"retries in reverse":            {Config{RetryMin: time.Minute, RetryMax: time.Second}, []string{"retry min 1m0s, retry max 1s"}},
	} {
		_, err := New(js, newProjector(t), newGraph(t), c.cfg)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v does not say %q", name, err, want)
			}
		}
	}
}

func TestOutcomeNames(t *testing.T) {
	for o, want := range map[Outcome]string{0: "unknown", Applied: "applied", Buried: "buried", Returned: "returned", Left: "left"} {
		if got := o.String(); got != want {
			t.Errorf("outcome %d is %q, want %q", o, got, want)
		}
	}
}
