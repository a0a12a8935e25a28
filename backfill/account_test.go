package backfill

import (
	"strings"
	"testing"
)

// Points that have an empty list of relations have relations in their payloads, and state none.
func TestMissingIsTrueOfEmptyLists(t *testing.T) {
	a := Account{Changed: 1}
	text := strings.Join(a.missing(), "\n")
	for _, want := range []string{"no point states relations", "no point states entities", "no point states tags"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
