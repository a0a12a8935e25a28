package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goodEvent = `{"specversion":"1.0","id":"e1","type":"memory.fact.deleted.v1","time":"2026-09-01T00:00:00Z","data":{"user_id":"ann","fact_id":"f"}}`

func eventFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestValidateEvents(t *testing.T) {
	other := strings.Replace(goodEvent, "e1", "e2", 1)
	naive := strings.Replace(other, `00:00:00Z`, `00:00:00`, 1)
	warned := strings.Replace(other, `"fact_id"`, `"reason":"x","fact_id"`, 1)
	noted := `{"specversion":"1.0","id":"e3","type":"memory.facts.written.v1","time":"2026-09-01T00:00:00Z","data":{"user_id":"ann","facts":[{"id":"g","op":"add","tags":[" "]}]}}`
	for _, tt := range []struct {
		name, text string
		args       []string
		code       int
		want       []string // whole lines of the output
		errs       string
	}{
		{"good", goodEvent + "\n" + other, nil, exitOK, []string{"2 events (2 memory.fact.deleted.v1): 0 errors, 0 warnings, 0 notes"}, ""},
		{"an error", goodEvent + "\n\n" + naive, nil, exitFailed, []string{
			`FILE:3: error: event "e2": time "2026-09-01T00:00:00" has no zone, and none is guessed: want RFC 3339 with a zone, like 2026-09-01T00:00:00Z`,
			`  hint: write the zone of the clock that it was read from: 2026-09-01T00:00:00Z if that was UTC, 2026-09-01T00:00:00+02:00 if it was two hours ahead`,
			"2 events (2 memory.fact.deleted.v1): 1 error, 0 warnings, 0 notes",
		}, "1 error, 0 warnings, 0 notes in 2 events"},
		{"no JSON", "{", nil, exitFailed, []string{
			`FILE:1: error: $ ends at byte 1 inside a JSON value`,
			`  hint: the text is cut off: one event stands on one line, or is the only one of its file`,
			"1 event (1 other): 1 error, 0 warnings, 0 notes",
		}, "1 error"},
		{"a warning", warned, nil, exitOK, []string{
			`FILE:1: warning: event "e2": data.reason "x" is not a member of the data of memory.fact.deleted.v1: it is ignored`,
			"1 event (1 memory.fact.deleted.v1): 0 errors, 1 warning, 0 notes"}, ""},
		{"a warning, strictly", warned, []string{"--strict"}, exitFailed, nil, "0 errors, 1 warning, 0 notes in 1 event"},
		{"a note, strictly", noted, []string{"--strict"}, exitOK, []string{
			`FILE:1: note: event "e3": data.facts[0].tags[0] " " has no visible character: it is dropped`,
			"1 event (1 memory.facts.written.v1): 0 errors, 0 warnings, 1 note"}, ""},
		{"an array, one id twice", "[\n" + goodEvent + ",\n" + strings.Replace(goodEvent, `"f"`, `"g"`, 1) + "]", nil, exitFailed, []string{
			`FILE:3: error: event "e1": id "e1" is the id of another event in FILE:2: want an id for each event`,
			`  hint: the stream drops the later one of the two; a UUID for each event never comes twice`,
			"2 events (2 memory.fact.deleted.v1): 1 error, 0 warnings, 0 notes"}, "1 error"},
		{"an empty file", "", nil, exitOK, []string{"0 events: 0 errors, 0 warnings, 0 notes"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := eventFile(t, tt.text)
			code, out, errs := kith(t, append(append([]string{"events", "validate"}, tt.args...), file)...)
			got := strings.ReplaceAll(out, file, "FILE")
			if want := strings.Join(tt.want, "\n") + "\n"; tt.want != nil && got != want {
				t.Errorf("output (-want +got):\n%s", cmp.Diff(want, got))
			}
			if code != tt.code || !strings.Contains(errs, tt.errs) || (tt.errs == "") != (errs == "") {
				t.Errorf("exit %d, %q: want exit %d and %q", code, errs, tt.code, tt.errs)
			}
		})
	}
}

// Events that are good one by one are compared over all the files of a run.
func TestValidateComparesFiles(t *testing.T) {
	one, two := eventFile(t, goodEvent), eventFile(t, strings.Replace(goodEvent, `"f"`, `"g"`, 1))
	code, out, _ := kith(t, "events", "validate", one, two)
	if want := "is the id of another event in " + one + ":1"; code != exitFailed || !strings.Contains(out, two+":1: error") || !strings.Contains(out, want) {
		t.Errorf("exit %d, %s: want %q", code, out, want)
	}
}

func TestValidateReadsStandardInput(t *testing.T) {
	file, err := os.Open(eventFile(t, "{\n"+goodEvent[1:]+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdin := os.Stdin
	os.Stdin = file
	defer func() { os.Stdin = stdin }()
	if code, out, errs := kith(t, "events", "validate", "-"); code != exitOK || !strings.HasPrefix(out, "1 event (1 memory.fact.deleted.v1)") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

func TestValidateForMachines(t *testing.T) {
	file := eventFile(t, goodEvent+"\n"+strings.Replace(strings.Replace(goodEvent, "e1", "e2", 1), `"f"`, `"f","version":"<1>"`, 1))
	code, out, _ := kith(t, "events", "validate", "--json", file)
	if code != exitFailed {
		t.Errorf("exit %d", code)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	want := map[string]any{
		"ok": false, "files": []any{file}, "events": 2., "types": map[string]any{"memory.fact.deleted.v1": 2.}, "errors": 1., "warnings": 0., "notes": 0.,
		"findings": []any{map[string]any{"severity": "error", "file": file, "line": 2., "event_id": "e2", "path": "data.version", "value": "<1>",
			"rule": "want an integer of at most 64 bits"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if code, out, _ := kith(t, "events", "validate", "--json", eventFile(t, goodEvent)); code != exitOK || !strings.Contains(out, `"findings": []`) {
		t.Errorf("exit %d, %s: want findings that are none", code, out)
	}
}

// A file that is wrong in every line does not fill the screen.
func TestValidatePrintsTheFirstOfEachKind(t *testing.T) {
	var text strings.Builder
	for i := range 3 * maxShownProblems {
		fmt.Fprintln(&text, strings.Replace(strings.Replace(goodEvent, "e1", fmt.Sprint("e", i), 1), `00:00Z`, `00:00`, 1))
	}
	file := eventFile(t, text.String())
	for _, tt := range []struct {
		args []string
		want int
	}{{nil, maxShownProblems}, {[]string{"--all"}, 3 * maxShownProblems}} {
		_, out, _ := kith(t, append(append([]string{"events", "validate"}, tt.args...), file)...)
		if n := strings.Count(out, ": error: "); n != tt.want || strings.Contains(out, "--all prints all") != (tt.args == nil) {
			t.Errorf("%v: %d errors printed: want %d\n%s", tt.args, n, tt.want, out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:])
		}
	}
}

func TestValidateUsage(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no file":        {nil, "<file>"},
		"no such file":   {[]string{"/nowhere/events.jsonl"}, "/nowhere/events.jsonl"},
		"bad edge score": {[]string{"--graph-edge-min-score=-1", eventFile(t, goodEvent)}, "MEMORY_GRAPH_EDGE_MIN_SCORE"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, out, errs := kith(t, append([]string{"events", "validate"}, tc.args...)...); code != exitUsage || !strings.Contains(errs, tc.want) {
				t.Errorf("exit %d, %s%s: want exit %d and %q", code, out, errs, exitUsage, tc.want)
			}
		})
	}
}
