package projector

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzDecode: nothing panics; what is accepted is JSON to the standard decoder too and valid UTF-8; and writing an
// accepted event and reading it again gives the same event.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(contractExample))
	f.Add([]byte(lifecycleJSON("", "")))
	f.Add([]byte(writtenJSON(`{"id":1,"op":"update","tags":null,"valid_to":null},{"id":"x","op":"add","memory_at":"2026-09-01T00:00:00"}`)))
	f.Add([]byte(`{"specversion":"1.0","id":"e","type":"memory.user.forgotten.v1","time":"2026-01-01T00:00:00Z","data":{"user_id":"ü\ud83d\ude00"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, rejected, err := Decode(data, Limits{})
		if err != nil {
			if len(rejected) > 0 {
				t.Fatalf("an error and rejected facts: %v, %v", err, rejected)
			}
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("accepted what is not JSON: %q", data)
		}
		if err := ev.Validate(); err != nil {
			t.Fatalf("decoded event is not valid: %v", err)
		}
		encoded, err := Marshal(ev, Limits{MaxBytes: 64 << 20})
		if err != nil {
			t.Fatalf("Marshal of a decoded event: %v", err)
		}
		again, rejected, err := Decode(encoded, Limits{MaxBytes: 64 << 20})
		if err != nil || len(rejected) > 0 {
			t.Fatalf("Decode of %s: %v, rejected %v", encoded, err, rejected)
		}
		if diff := cmp.Diff(ev, again, eventOptions); diff != "" {
			t.Fatalf("event changed on the way (-first +second):\n%s", diff)
		}
	})
}
