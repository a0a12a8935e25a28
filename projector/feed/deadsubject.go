package feed

import (
	"fmt"
	"strings"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/projector"
)

// typePrefix begins the name of every event type.
const typePrefix = "memory."

// deadSubjectsOf returns the subjects of the dead letters of a user, and of an event type; empty stands for all.
func deadSubjectsOf(user, typ string) string {
	token, tail := "*", ">"
	if user != "" {
		token, _, _ = strings.Cut(strings.TrimPrefix(projector.Subject(user, projector.Type(typePrefix+tail)), projector.SubjectPrefix), ".")
	}
	if typ != "" {
		tail = strings.TrimPrefix(typ, typePrefix)
	}
	if user == "" && typ == "" {
		return DeadSubjects
	}
	return deadPrefix + token + "." + tail
}

// parseDeadSubject returns the user and the event type that the subject of a dead letter states: an unreadable user is "",
// an unreadable type "unknown". Both are empty for subjects that no dead letter has.
func parseDeadSubject(subject string) (user, typ string) {
	rest, ok := strings.CutPrefix(subject, deadPrefix)
	token, tail, two := strings.Cut(rest, ".")
	if !ok || !two || tail == "" {
		return "", ""
	}
	user, known := tokenUser(token)
	if !known && token != unknownToken {
		return "", ""
	}
	if tail == unknownToken {
		return user, unknownToken
	}
	return user, typePrefix + tail
}

// tokenUser returns the user of a subject's token.
func tokenUser(token string) (user string, ok bool) {
	user, _, ok = projector.ParseSubject(projector.SubjectPrefix + token + strings.TrimPrefix(string(projector.TypeFactDeleted), "memory"))
	return user, ok
}

// checkTypeFilter returns what is wrong with a type to look for. It need not be one of today's.
func checkTypeFilter(typ string) error {
	if typ == "" || typ == unknownToken {
		return nil
	}
	tail, ok := strings.CutPrefix(typ, typePrefix)
	if !ok || len(typ) > graphstore.MaxIDBytes || !plainTokens(tail) {
		return fmt.Errorf("%w: type %s: want an event type like %s, or %s", ErrBadFilter, graphstore.Shorten(typ), projector.TypeFactsWritten, unknownToken)
	}
	return nil
}

// plainTokens reports whether a subject can be published on: no wildcards, spaces, control characters or empty tokens.
func plainTokens(subject string) bool {
	for token := range strings.SplitSeq(subject, ".") {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '*' || r == '>' }) {
			return false
		}
	}
	return true
}
