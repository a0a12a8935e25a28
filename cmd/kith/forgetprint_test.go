package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kithgraph/kith/internal/canary"
	"github.com/kithgraph/kith/internal/server"
)

// TestForgetOfAStrangerSaysSo: a misspelt id is erased like any other, and must not look like the real one.
func TestForgetOfAStrangerSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		receipt server.Forgotten
		says    bool
	}{
		"nothing anywhere": {server.Forgotten{Sequence: 7, Steps: []server.ForgotStep{{Step: "erase"}}}, true},
		"a fact":           {server.Forgotten{Steps: []server.ForgotStep{{Step: "erase"}}, Graph: server.ForgottenGraph{Facts: 1}}, false},
		"points elsewhere": {server.Forgotten{Steps: []server.ForgotStep{{Step: "erase"}}, Points: server.ForgottenPoints{Remaining: 1}}, false},
		"only looked":      {server.Forgotten{}, false},
	} {
		var out bytes.Buffer
		(&env{stdout: &out}).printForgotten(c.receipt)
		if got := strings.Contains(out.String(), "nothing of this user was known"); got != c.says {
			t.Errorf("%s: says it %v, want %v:\n%s", name, got, c.says, out.String())
		}
	}
}

func TestVerificationNamesWhatStaysInItsVerdict(t *testing.T) {
	kept := server.Verification{Clean: true}
	for want, hits := range map[string]int{"nothing found\n": 0, "nothing found but what stays, as listed\n": 1} {
		kept.Kept = make([]canary.Hit, hits)
		for i := range kept.Kept {
			kept.Kept[i].Places = []canary.Place{{File: "f"}}
		}
		var out bytes.Buffer
		(&env{stdout: &out}).printVerification(kept)
		if !strings.HasSuffix(out.String(), want) {
			t.Errorf("%d kept: %s, want it to end in %q", hits, out.String(), want)
		}
	}
}
