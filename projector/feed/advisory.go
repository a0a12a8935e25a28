package feed

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// AdvisoryStream keeps what the server says of events on which it gives up, until the feed has looked at it. It holds
// sequences and no data of users.
const AdvisoryStream = "MEMORY_ADVISORIES"

// The subjects on which the server says that a message has had all its deliveries, or was terminated.
const (
	exhaustedSubject  = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + EventStream + "." + Durable
	terminatedSubject = "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED." + EventStream + "." + Durable
)

// maxAdvisories bounds the stream; feeds that are away for so long find their lag anyway.
const maxAdvisories = 100_000

func (c StreamsConfig) advisories() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: AdvisoryStream, Subjects: []string{exhaustedSubject, terminatedSubject},
		Description: "what the server gives up on, for kith to look at",
		Retention:   jetstream.LimitsPolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld,
		MaxMsgs: maxAdvisories, Replicas: c.Replicas,
	}
}

// checkAdvisoryStream returns what keeps an existing stream from being of use.
func checkAdvisoryStream(cfg jetstream.StreamConfig) error {
	for _, subject := range []string{exhaustedSubject, terminatedSubject} {
		covered := false
		for _, s := range cfg.Subjects {
			root, open := strings.CutSuffix(s, ">")
			covered = covered || s == subject || (open && strings.HasPrefix(subject, root))
		}
		if !covered {
			return fmt.Errorf("stream %s has the subjects %v: want %s among them", AdvisoryStream, cfg.Subjects, subject)
		}
	}
	return nil
}

// advisory is what the server says of one message.
type advisory struct {
	Stream     string `json:"stream"`
	Consumer   string `json:"consumer"`
	Sequence   uint64 `json:"stream_seq"`
	Deliveries int    `json:"deliveries"`
	Reason     string `json:"reason"` // of a termination

	exhausted bool
}

// parseAdvisory reads a message of [AdvisoryStream], in which anybody may have stored anything.
func parseAdvisory(raw *rawMessage) (advisory, error) {
	var a advisory
	if err := json.Unmarshal(raw.Data, &a); err != nil {
		return a, fmt.Errorf("read advisory: %w", err)
	}
	a.exhausted = raw.Subject == exhaustedSubject
	if (!a.exhausted && raw.Subject != terminatedSubject) || a.Stream != EventStream || a.Consumer != Durable || a.Sequence == 0 {
		return a, fmt.Errorf("read advisory: it is not about %s of %s", Durable, EventStream)
	}
	a.Deliveries = max(a.Deliveries, 0)
	return a, nil
}

// Reasons by which the server terminates messages that it has deleted.
const (
	deletedByLimits = "Message deleted by stream limits"
	deletedUnacked  = "Unacknowledged message was deleted"
)

// settled reports whether a termination needs no look: the feed terminates with one of its own reasons, and only after the
// dead letter is stored, and the server does when a message is deleted.
func (a advisory) settled() bool {
	return !a.exhausted && (Reason(a.Reason).known() || a.Reason == deletedByLimits || a.Reason == deletedUnacked)
}

// death returns reason and cause of a dead letter.
func (a advisory) death() (Reason, error) {
	if a.exhausted {
		return ReasonExhausted, fmt.Errorf("the server gave up after %d deliveries: somebody has given the consumer a limit", a.Deliveries)
	}
	return ReasonTerminated, fmt.Errorf("somebody terminated it with the reason %q", cut(a.Reason))
}
