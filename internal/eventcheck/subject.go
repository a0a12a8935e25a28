package eventcheck

import (
	"strings"

	"github.com/kithgraph/kith/projector"
)

// subject checks the attribute of that name, which CloudEvents has and kith ignores, if it is a subject of the stream:
// what a producer puts there is what it publishes on.
func (e *checking) subject(ev projector.Event, decoded bool) {
	stated, _ := e.doc["subject"].(string)
	if !decoded || !strings.HasPrefix(stated, projector.SubjectPrefix) {
		return
	}
	want := projector.Subject(ev.Space.UserID(), ev.Type())
	if stated == want {
		return
	}
	user, typ, ok := projector.ParseSubject(stated)
	rule := "names another type than the event"
	switch {
	case !ok:
		rule = "is on no subject that producers use: its token is not a user id in lower-case base32hex, or its end is no event type"
	case user != ev.Space.UserID():
		rule = "names another user than data.user_id: published there, the event becomes a dead letter"
	case typ != ev.Type():
	default:
		return
	}
	e.say(Warning, "subject", rule, "the subject of this event is "+want)
}
