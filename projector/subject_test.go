package projector

import (
	"strings"
	"testing"
)

// The tokens are the test vectors of RFC 4648 section 10 for base32hex, lower case and without padding.
func TestSubjectEncodesTheUser(t *testing.T) {
	for user, token := range map[string]string{"f": "co", "fo": "cpng", "foo": "cpnmu", "foob": "cpnmuog", "fooba": "cpnmuoj1", "foobar": "cpnmuoj1e8"} {
		want := "memory.events." + token + ".facts.written.v1"
		if got := Subject(user, TypeFactsWritten); got != want {
			t.Errorf("Subject(%q) = %s: want %s", user, got, want)
		}
	}
}

func TestParseSubjectIsTheInverseOfSubject(t *testing.T) {
	for _, user := range []string{"u", "a.b.*>", "user 17", "ユーザー", "👩‍🚀", strings.Repeat("x", 512), "-", "memory.events."} {
		for typ := range decoders {
			s := Subject(user, typ)
			if strings.ContainsAny(s, " *>") || strings.Contains(s, "..") {
				t.Errorf("Subject(%q, %s) = %q is no subject to publish on", user, typ, s)
			}
			gotUser, gotType, ok := ParseSubject(s)
			if !ok || gotUser != user || gotType != typ {
				t.Errorf("ParseSubject(%s) = %q, %s, %v", s, gotUser, gotType, ok)
			}
		}
	}
}

func TestParseSubjectLeavesOtherSubjectsAlone(t *testing.T) {
	for _, s := range []string{"", "memory.events", "memory.events.", "memory.events.facts.written.v1", "memory.events.co",
		"memory.events.co.facts.written", "memory.events.co.facts.written.v2", "memory.events.CO.facts.written.v1",
		"memory.events.co.extra.facts.written.v1", "memory.events.!!.facts.written.v1", "memory.dead.co.facts.written.v1",
		"memory.events..facts.written.v1",
		"memory.events.cp.facts.written.v1", // trailing bits: "co" is the only spelling of "f"
		"memory.events.00.facts.written.v1", // decodes to NUL, which is no user id
	} {
		if user, typ, ok := ParseSubject(s); ok {
			t.Errorf("ParseSubject(%q) = %q, %s, true", s, user, typ)
		}
	}
}

func TestCheckSubject(t *testing.T) {
	ev := Event{Space: mustSpace(t, "u1")}
	for subject, good := range map[string]bool{
		Subject("u1", TypeFactDeleted):       true,
		Subject("u2", TypeFactDeleted):       false,
		"memory.events.anything":             true,
		"memory.events.facts.written.v1":     true,
		"memory.events.u2.facts.written.v1":  true, // not a token: u2 is not spelled so
		"elsewhere." + Subject("u2", "x.v1"): true,
	} {
		if err := CheckSubject(subject, ev); (err == nil) != good {
			t.Errorf("CheckSubject(%s) = %v: want good %v", subject, err, good)
		} else if err != nil && (!strings.Contains(err.Error(), `data.user_id "u1"`) || !strings.Contains(err.Error(), `"u2"`)) {
			t.Errorf("error %q: want both users", err)
		}
	}
}
