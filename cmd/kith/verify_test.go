package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kithgraph/kith/backfill"
)

// verifyIn runs the command on a data directory and returns what it printed, one verification or two.
func verifyIn(t *testing.T, dir string, args ...string) ([]backfill.VerifyReport, int, string) {
	t.Helper()
	return verifyWith(t, append([]string{"--data-dir", dir, "--log-level=warn", "verify", "--json"}, args...))
}

// verifyWith is verifyIn of a whole command line.
func verifyWith(t *testing.T, args []string) ([]backfill.VerifyReport, int, string) {
	t.Helper()
	code, out, errs := kith(t, args...)
	var list []backfill.VerifyReport
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); {
		var v backfill.VerifyReport
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		list = append(list, v)
	}
	return list, code, errs
}

// A graph that a repair has made of nothing is the one that a backfill makes, and the exit code says how it is.
func TestVerifyOnTheFiles(t *testing.T) {
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintf(&lines, `{"user_id": "user-%d", "id": "f%d", "vector": [1, %d.5], "payload": {"content": "point", "tags": ["tea"], "batch_id": "b%d"}}`+"\n", i%3, i, i, i/6)
	}
	file := filepath.Join(t.TempDir(), "points.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	repaired, filled := t.TempDir(), t.TempDir()
	for _, dir := range []string{repaired, filled} {
		if code, out, errs := kith(t, "--data-dir", dir, "--log-level=warn", "publish", "--points", file); code != exitOK {
			t.Fatalf("publish: %d\n%s%s", code, out, errs)
		}
	}
	mustBackfill(t, filled, "--no-neighbors")
	if list, code, errs := verifyIn(t, filled); code != exitOK || len(list) != 1 || !list[0].Clean || list[0].Coverage != 1 {
		t.Errorf("after a backfill: %d %s %+v", code, errs, list)
	}
	// A sample is drawn by a seed that JSON readers have whole, which is named, and draws the same again.
	list, code, errs := verifyIn(t, filled, "--sample=2")
	if code != exitOK || list[0].Users != 2 || list[0].Request.Seed == 0 || list[0].Request.Seed > backfill.MaxSeed {
		t.Fatalf("a sample: %d %s %+v", code, errs, list)
	}
	seed := list[0].Request.Seed
	code, out, errs := kith(t, "--data-dir", filled, "--log-level=warn", "verify", "--sample=2", fmt.Sprintf("--seed=%d", seed))
	if code != exitOK || !strings.Contains(out, fmt.Sprintf("drawn by seed %d", seed)) {
		t.Errorf("the same sample: %d %s%s", code, out, errs)
	}
	if list, code, errs := verifyIn(t, repaired); code != exitDrifted || len(list) != 1 || list[0].Drift[backfill.DriftMissingNode] != 30 {
		t.Errorf("an empty graph: %d %s %+v", code, errs, list)
	}
	if list, code, errs := verifyIn(t, repaired, "--repair", "--dry-run"); code != exitDrifted || len(list) != 1 || list[0].Written["fact"] != 30 {
		t.Errorf("dry run: %d %s %+v", code, errs, list)
	}
	if list, code, errs := verifyIn(t, repaired, "--repair"); code != exitOK || len(list) != 2 || !list[0].Request.DryRun || list[1].Repaired != 3 {
		t.Errorf("repair: %d %s %+v", code, errs, list)
	}
	if list, code, errs := verifyIn(t, repaired); code != exitOK || !list[0].Clean {
		t.Errorf("after the repair: %d %s %+v", code, errs, list)
	}
	digest := func(dir string) string {
		code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "digest")
		if code != exitOK {
			t.Fatalf("digest: %d %s", code, errs)
		}
		return strings.TrimSpace(out)
	}
	if a, b := digest(repaired), digest(filled); a != b {
		t.Errorf("digest %s after a repair of nothing, %s after a backfill", a, b)
	}
}

// Under a service, while events arrive, only what has no point is drift, and its repair leaves a graph that has none.
func TestVerifyUnderTheService(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(7, 7)), 200)
	w.storePoints(40)
	w.start()
	w.caughtUp()
	mustBackfill(t, w.dir, "--no-neighbors")
	list, code, errs := verifyIn(t, w.dir)
	if code != exitDrifted || len(list) != 1 || list[0].Drift[backfill.DriftNoPoint] == 0 || list[0].Coverage != 1 {
		t.Fatalf("%d %s %+v", code, errs, list)
	}
	for kind, n := range list[0].Drift {
		if kind != backfill.DriftNoPoint && n != 0 {
			t.Errorf("%d of %s: %+v", n, kind, list[0].Examples)
		}
	}
	if list, code, errs = verifyIn(t, w.dir, "--repair"); code != exitOK || len(list) != 2 {
		t.Errorf("repair: %d %s %+v", code, errs, list)
	}
	if list, code, errs = verifyIn(t, w.dir); code != exitOK || list[0].Drifted != 0 {
		t.Errorf("again: %d %s %+v", code, errs, list)
	}
}

func TestVerifyBadCommands(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--dry-run"}, exitUsage, "--repair"},
		{[]string{"--sample=2", "--user=ann"}, exitUsage, "verify: sample 2: not together"},
		{[]string{"--sample=-1"}, exitUsage, "sample -1: want 0"},
		{[]string{"--points=-3"}, exitUsage, "points -3: want 0"},
		{[]string{"--memory=7"}, exitUsage, "memory 7"},
		{[]string{"--memory=-1"}, exitUsage, "memory -1"},
		{[]string{"--user="}, exitUsage, `--user: "": want`},
		{[]string{"--user", strings.Repeat("x", 600)}, exitUsage, "600 bytes"},
		{[]string{"--seed=5"}, exitUsage, "--seed 5: only with --sample"},
		{[]string{"--sample=1", "--seed=9007199254740992"}, exitUsage, "seed 9007199254740992: want 1 to 9007199254740991"},
	} {
		if _, code, errs := verifyIn(t, dir, tc.args...); code != tc.code || !strings.Contains(errs, tc.says) {
			t.Errorf("%v: %d %s: want %d and %q", tc.args, code, errs, tc.code, tc.says)
		}
	}
}

// A graph that cannot be loaded is no graph that could be verified or backfilled; it is not waited for, and the remedy is named.
func TestVerifyOfABrokenFile(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(8, 8)), 20)
	w.storePoints(5)
	mustBackfill(t, w.dir)
	file := filepath.Join(w.dir, "graph", "kith.kuzu")
	if err := os.WriteFile(file, []byte(strings.Repeat("no graph ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, code, errs := verifyIn(t, w.dir); code != exitUnverified || len(list) != 0 || !strings.Contains(errs, "kith rebuild --force") {
		t.Errorf("%d %s %+v", code, errs, list)
	}
	start := time.Now()
	if _, code, errs := backfillIn(t, w.dir); code != exitFailed || !strings.Contains(errs, "kith rebuild --force") || time.Since(start) > time.Minute {
		t.Errorf("backfill: %d %s after %s", code, errs, time.Since(start))
	}
}

// That nobody is of the name is said; the exit code is that of a graph that agrees.
func TestUnknownUser(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(9, 9)), 0)
	w.storePoints(2)
	mustBackfill(t, w.dir)
	for _, command := range []string{"verify", "backfill", "rebuild"} {
		for user, want := range map[string]bool{"user-1": false, "user-one": true} {
			code, out, errs := kith(t, "--data-dir", w.dir, "--log-level=error", command, "--user", user)
			if code != exitOK || strings.Contains(out, "is the id spelled as in") != want {
				t.Errorf("%s of %s: %d %s%s: want it to ask for the spelling: %t", command, user, code, out, errs, want)
			}
		}
	}
}
