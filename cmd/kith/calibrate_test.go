package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// linesFile writes a file of lines.
func linesFile(t *testing.T, lines []string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// storedFacts stores ten facts of cosine to (1, 0) from lo upwards, .1 apart, for each user.
func storedFacts(t *testing.T, users map[string]float64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var points []string
	for user, lo := range users {
		for i := range 10 {
			cos := lo + float64(i)/10
			points = append(points, fmt.Sprintf(`{"user_id": %q, "id": "%s-%d", "vector": [%v, %v], "payload": {"content": "x"}}`, user, user, i, cos, math.Sqrt(1-cos*cos)))
		}
	}
	if code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "publish", "--points", linesFile(t, points)); code != exitOK {
		t.Fatal(code, out, errs)
	}
	return dir
}

func questions(n int, user string) (lines []string) {
	for range n {
		lines = append(lines, fmt.Sprintf(`{"user_id": %q, "question": "what?", "vector": [1, 0]}`, user))
	}
	return lines
}

// By hand: all 1000 pairs of 10 questions of ada (mean .45) and 90 of bob (mean .05) have the mean .09; the best are 10 of .9 and 90 of
// .5, whose 90th percentile lies a tenth of the way between: .54.
func TestCalibrate(t *testing.T) {
	dir := storedFacts(t, map[string]float64{"ada": 0, "bob": -.4})
	file := linesFile(t, append(questions(10, "ada"), questions(90, "bob")...))
	code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "calibrate", "--queries", file)
	if code != exitOK {
		t.Fatal(code, errs)
	}
	for _, want := range []string{
		"facts: 20 of 2 users", "questions: 100 of " + file, "pairs: 1000 random", "LO 0.0900", "HI 0.5400", "95 % interval",
		"MEMORY_GRAPH_CAL_LO=0.0900\n", "MEMORY_GRAPH_CAL_HI=0.5400\n", `{"graph-cal-lo": 0.0900, "graph-cal-hi": 0.5400}`, "in force here: LO 0, HI 1",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	// What is printed can be set.
	t.Setenv("MEMORY_GRAPH_CAL_LO", "0.0900")
	t.Setenv("MEMORY_GRAPH_CAL_HI", "0.5400")
	if c, err := settingsOf(t); err != nil || c.Rerank.CalLo != .09 || c.Rerank.CalHi != .54 {
		t.Errorf("%+v, %v", c.Rerank, err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	dir := storedFacts(t, map[string]float64{"ada": 0})
	run := func(args ...string) (int, string) {
		code, out, errs := kith(t, append([]string{"--data-dir", dir, "--log-level=error", "calibrate"}, args...)...)
		return code, out + errs
	}
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"too few facts":     {nil, exitFailed, "10 questions of users with facts (0 of users without): want at least 100"},
		"too few questions": {[]string{"--queries", linesFile(t, questions(44, "ada"))}, exitFailed, "44 questions of users with facts"},
		"user without":      {[]string{"--user=eve"}, exitFailed, "0 questions"},
		"user":              {[]string{"--user=a\x00"}, exitUsage, "--user"},
		"pairs":             {[]string{"--pairs=10"}, exitUsage, "--pairs 10: want 1000 to 20000"},
		"no endpoint":       {[]string{"--queries", linesFile(t, []string{`{"user_id": "ada", "question": "what?"}`})}, exitFailed, "line 1: vector: missing, and no embeddings endpoint"},
		"no question":       {[]string{"--queries", linesFile(t, []string{`{"user_id": "ada"}`})}, exitFailed, "line 1: vector, question: both empty"},
		"no user":           {[]string{"--queries", linesFile(t, questions(1, ""))}, exitFailed, "line 1: user_id"},
		"dimension":         {[]string{"--queries", linesFile(t, append(questions(100, "ada"), `{"user_id": "ada", "vector": [1, 0, 0]}`))}, exitFailed, "line 101"},
		"no file":           {[]string{"--queries=/nowhere/q.jsonl"}, exitUsage, "/nowhere/q.jsonl"},
	} {
		if code, text := run(tc.args...); code != tc.code || !strings.Contains(text, tc.want) {
			t.Errorf("%s: %d %s: want %d and %q", name, code, text, tc.code, tc.want)
		}
	}
	dir = filepath.Join(t.TempDir(), "none")
	if code, text := run(); code != exitUsage || !strings.Contains(text, "there is no embedded vector store") {
		t.Errorf("no store: %d %s", code, text)
	}
}

// Questions whose best hits are no better than anything else calibrate nothing, and are told so.
func TestCalibrateIdentity(t *testing.T) {
	dir := t.TempDir()
	var points []string
	for i := range 110 {
		points = append(points, fmt.Sprintf(`{"user_id": "ada", "id": "f%d", "vector": [1, %v], "payload": {"content": "x"}}`, i, float64(i)/1000))
	}
	if code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "publish", "--points", linesFile(t, points)); code != exitOK {
		t.Fatal(code, out, errs)
	}
	code, out, errs := kith(t, "--data-dir", dir, "--log-level=error", "calibrate", "--user=ada", "--seed=7")
	if code != exitOK || strings.Contains(out, "MEMORY_GRAPH_CAL_LO=") {
		t.Errorf("%d %s%s: want nothing to set", code, out, errs)
	}
	for _, want := range []string{"the vectors of 110 random facts stood in for them, each without itself", "the identity holds", "seed 7", "less than 0.05"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
}
