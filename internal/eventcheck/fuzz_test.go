package eventcheck

import (
	"strings"
	"testing"

	"github.com/kithgraph/kith/projector"
)

// FuzzCheck: nothing panics, and an event has an error exactly if decoding refuses it or a part of it.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(write(`{"id":"f","op":"add","tagz":[],"memory_at":"2026-09-01"},{"id":"f","op":"delete"}`)))
	f.Add([]byte(deletion(`"factId":17.0,"a.b":[{"c\"":1}],"":{}`)))
	f.Add([]byte(event("memory.entity.merged.v1", `"kept":{"nam":"a"},"merged":{"name":"b"}`)))
	f.Add([]byte(event("fact.deletd.v1", `"fact_id":"f"`)))
	f.Add([]byte(strings.Replace(deletion(`"fact_id":"f"`), `"id"`, `"subject":"memory.events.x","id"`, 1)))
	f.Add([]byte(`{'a': None, "b": NaN,}`))
	p, err := projector.New(projector.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := New(p, Config{})
		if err != nil {
			t.Fatal(err)
		}
		errors := 0
		for _, finding := range c.Check(Place{"f", 1}, data) {
			if finding.Rule == "" {
				t.Errorf("a finding without a rule: %+v", finding)
			}
			if finding.Severity == Error {
				errors++
			}
		}
		_, rejected, err := projector.Decode(data, projector.Limits{})
		if bad := err != nil || len(rejected) > 0; bad != (errors > 0) {
			t.Errorf("%d errors: decoding says %v, rejected %v", errors, err, rejected)
		}
	})
}
