package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEventsOfAFile(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string // line and text of each event
	}{
		{"nothing", "", nil},
		{"blank lines", "\n \n\n", nil},
		{"lines", "{\"a\":1}\n\n{\"b\":2}\n", []string{`1 {"a":1}`, `3 {"b":2}`}},
		{"lines behind blank ones", "\n\n{\"a\":1}\n{\"b\":2}", []string{`3 {"a":1}`, `4 {"b":2}`}},
		{"lines, one broken", "{\"a\":1}\n{\"b\":\n{\"c\":3}", []string{`1 {"a":1}`, `2 {"b":`, `3 {"c":3}`}},
		{"lines, the first broken", "{\"a\":\n{\"b\":2}\n{\"c\":3}\n", []string{`1 {"a":`, `2 {"b":2}`, `3 {"c":3}`}},
		{"no JSON", "hello\nworld", []string{"1 hello", "2 world"}},
		{"a pretty-printed event", "{\n  \"a\": 1\n}\n", []string{"1 {\n  \"a\": 1\n}"}},
		{"pretty-printed, opened with a member", "\n{ \"a\": 1,\n  \"b\": 2 }\n", []string{"2 { \"a\": 1,\n  \"b\": 2 }"}},
		{"pretty-printed events", "{\n\"a\":1\n}\n{\n\"b\":2\n}\n", []string{"1 {\n\"a\":1\n}", "4 {\n\"b\":2\n}"}},
		{"pretty-printed, broken", "{\n\"a\":1,\n}\n", []string{"1 {\n\"a\":1,\n}\n"}},
		{"an array on a line", `[{"a":1},{"b":2}]`, []string{`1 {"a":1}`, `1 {"b":2}`}},
		{"an array over lines", "[\n{\"a\":1},\n\n{\"b\":\n2}\n]", []string{`2 {"a":1}`, "4 {\"b\":\n2}"}},
		{"an empty array", "[\n]", nil},
		{"an array in an array", "[[1],2]", []string{"1 [1]", "1 2"}},
		{"an array that is cut off", "[\n{\"a\":1},\n", []string{`2 {"a":1}`, "3 "}},
		{"an array that is broken", "[\n{\"a\":1},\n{\"b\":],\n{\"c\":3}]", []string{`2 {"a":1}`, "3 {\"b\":],\n{\"c\":3}]"}},
		{"an array with a comma too many", "[{\"a\":1},\n]", []string{`1 {"a":1}`, "2 ]"}},
		{"arrays", "[1]\n[2]", []string{"1 1", "2 2"}},
		{"documents with a comma between", "{\n}\n,{}", []string{"1 {\n}", "3 ,{}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "events")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var got []string
			if err := eachEvent(file, func(line int, event []byte) error {
				got = append(got, fmt.Sprintf("%d %s", line, event))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsOfAFileEndWithAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	for _, text := range []string{"{}\n{}\n", "[{},{}]", "{\n}{\n}"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		calls, stop := 0, errors.New("stop")
		if err := eachEvent(file, func(int, []byte) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
			t.Errorf("%q: %v after %d calls: want the error of the first", text, err, calls)
		}
	}
	if err := os.WriteFile(file, []byte("{\"a\":\""+strings.Repeat("x", maxLine)+"\"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := eachEvent(file, func(int, []byte) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "line 1 has more than") {
		t.Errorf("a line too long: %v", err)
	}
}
