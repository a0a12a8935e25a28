package feed

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// StreamMismatchError reports an existing stream that would lose messages or keep kith from working. kith does not change
// it; an operator changes the stream, or kith's configuration.
type StreamMismatchError struct {
	Stream  string
	Setting string // as the server's JSON names it
	Found   string
	Wanted  string
}

// Error names the stream, the setting, what it is and what it must be.
func (e *StreamMismatchError) Error() string {
	return fmt.Sprintf("stream %s exists with %s %s: want %s; it is not changed for you", e.Stream, e.Setting, e.Found, e.Wanted)
}

// streamRule is one thing that must hold of an existing stream.
type streamRule struct {
	setting string
	broken  bool
	found   any
	wanted  string
}

// checkStream compares an existing stream with what kith would have created. Settings that neither lose messages nor
// break anything (compression, replicas, placement, longer retention, more subjects) are the operator's.
func checkStream(got, want jetstream.StreamConfig, eventBytes int) error {
	for _, r := range append(lossRules(got, want), workRules(got, want, eventBytes)...) {
		if r.broken {
			return &StreamMismatchError{Stream: want.Name, Setting: r.setting, Found: fmt.Sprint(r.found), Wanted: r.wanted}
		}
	}
	return nil
}

// lossRules are about messages that would vanish before their time.
func lossRules(got, want jetstream.StreamConfig) []streamRule {
	return []streamRule{
		{"storage", got.Storage != jetstream.FileStorage, got.Storage, "file: a memory stream is gone with the server"},
		{"retention", got.Retention != jetstream.LimitsPolicy, got.Retention, "limits: other policies delete what was consumed, and the graph is rebuilt from it"},
		{"persist_mode", got.PersistMode == jetstream.AsyncPersistMode, got.PersistMode, "default: async acknowledges before the message is stored"},
		{"max_age", want.MaxAge > 0 && got.MaxAge > 0 && got.MaxAge < want.MaxAge, got.MaxAge, fmt.Sprintf("at least %s, or 0 for no bound", want.MaxAge)},
		{"max_bytes", want.MaxBytes > 0 && got.MaxBytes > 0 && got.MaxBytes < want.MaxBytes, got.MaxBytes, fmt.Sprintf("at least %d, or -1 for no bound", want.MaxBytes)},
		{"max_msgs_per_subject", got.MaxMsgsPerSubject > 0, got.MaxMsgsPerSubject, "-1: all events of a user share a few subjects"},
	}
}

// workRules are about messages that could not be published, found or removed.
func workRules(got, want jetstream.StreamConfig, eventBytes int) []streamRule {
	size := eventBytes
	if want.Name == DeadStream {
		size += headerRoom
	}
	return []streamRule{
		{"subjects", !covers(got.Subjects, want.Subjects[0]), got.Subjects, want.Subjects[0] + " among them"},
		{"subject_transform", movesAway(got.SubjectTransform, want.Subjects[0]), got.SubjectTransform, "none, or one that stays below " + want.Subjects[0]},
		{"max_msg_size", got.MaxMsgSize > 0 && int(got.MaxMsgSize) < size, got.MaxMsgSize, fmt.Sprintf("at least %d, or -1 for no bound", size)},
		{"no_ack", got.NoAck, got.NoAck, "false: publishers wait for the acknowledgement"},
		{"sealed", got.Sealed, got.Sealed, "false: nothing can be published to a sealed stream"},
		{"duplicate_window", got.Duplicates < want.Duplicates, got.Duplicates, fmt.Sprintf("at least %s: shorter, and retries repeat messages", want.Duplicates)},
		{"deny_delete", want.Name == DeadStream && got.DenyDelete, got.DenyDelete, "false: dead letters of a forgotten user are deleted"},
		{"deny_purge", want.Name == DeadStream && got.DenyPurge, got.DenyPurge, "false: dead letters of a forgotten user are deleted"},
	}
}

// covers reports whether one of the subjects takes in all of want, which ends in ">".
func covers(subjects []string, want string) bool {
	for _, s := range subjects {
		if s == want {
			return true
		}
		if root, open := strings.CutSuffix(s, ">"); open && strings.HasPrefix(want, root) {
			return true
		}
	}
	return false
}

func movesAway(t *jetstream.SubjectTransformConfig, want string) bool {
	return t != nil && !strings.HasPrefix(t.Destination, strings.TrimSuffix(want, ">"))
}
