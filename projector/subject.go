package projector

import (
	"encoding/base32"
	"strings"

	"github.com/kithgraph/kith/graphstore"
)

// SubjectPrefix is the prefix of the subjects that [Subject] makes.
const SubjectPrefix = "memory.events."

// userToken encodes any user id into one subject token, so that a stream can partition by user.
var userToken = base32.HexEncoding.WithPadding(base32.NoPadding)

// Subject returns the subject an event of this user and type is published on:
// memory.events.<user id in base32hex, lower case, unpadded>.<type without "memory.">.
func Subject(userID string, typ Type) string {
	token := strings.ToLower(userToken.EncodeToString([]byte(userID)))
	return SubjectPrefix + token + "." + strings.TrimPrefix(string(typ), typePrefix)
}

// ParseSubject returns the user and the type that a subject made by [Subject] names. ok is false for any other
// subject: such an event is good too, its payload alone says whose it is.
func ParseSubject(subject string) (userID string, typ Type, ok bool) {
	rest, ok := strings.CutPrefix(subject, SubjectPrefix)
	if !ok {
		return "", "", false
	}
	token, tail, ok := strings.Cut(rest, ".")
	if !ok {
		return "", "", false
	}
	typ, err := parseType(typePrefix + tail)
	if err != nil {
		return "", "", false
	}
	user, err := userToken.DecodeString(strings.ToUpper(token))
	if err != nil || graphstore.CheckID(string(user)) != nil || Subject(string(user), typ) != subject {
		return "", "", false
	}
	return string(user), typ, true
}

// CheckSubject returns a *[FieldError] if the subject an event came on names another user than its payload.
func CheckSubject(subject string, ev Event) error {
	user, _, ok := ParseSubject(subject)
	if !ok || user == ev.Space.UserID() {
		return nil
	}
	return badField("data.user_id", "%s, but the subject names the user %s: want the same",
		graphstore.Shorten(ev.Space.UserID()), graphstore.Shorten(user))
}
