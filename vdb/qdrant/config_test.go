package qdrant

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/vdb"
)

func TestDefaults(t *testing.T) {
	c := Config{Collection: "facts"}.withDefaults()
	got := fmt.Sprintf("url %s, timeout %v, message %d, attempts %d, pool %d, keyword %s in %s, server %s %s, logger %v",
		c.URL, c.Timeout, c.MaxMessageBytes, c.RetryAttempts, c.PoolSize, c.Keyword, c.SparseVector, c.ServerTokenizer, c.ServerLanguage, c.Logger != nil)
	const want = "url http://localhost:6334, timeout 10s, message 67108864, attempts 4, pool 3, keyword client in bm25, server multilingual none, logger true"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := c.validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	kept := Config{URL: "http://h:1", Timeout: time.Second, MaxMessageBytes: 1 << 20, RetryAttempts: 1, PoolSize: 7}.withDefaults()
	if kept.URL != "http://h:1" || kept.Timeout != time.Second || kept.MaxMessageBytes != 1<<20 || kept.RetryAttempts != 1 || kept.PoolSize != 7 {
		t.Errorf("defaults replaced what was set: %+v", kept)
	}
}

// One error names every violation: the field, the value and the bound.
func TestNewJoinsViolations(t *testing.T) {
	_, err := New(Config{URL: "ftp://h", Fields: map[string]string{"colour": "c"}, CreateCollection: true, Timeout: -1, MaxMessageBytes: 1, RetryAttempts: 6, PoolSize: 65,
		Keyword: "bm25", ServerTokenizer: "prefix", ServerLanguage: "englsh", SparseVector: "v", VectorName: "v"})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{`url "ftp://h"`, "http(s)://host:port", `"colour"`, "collection is empty", "dimension 0", "timeout -1ns",
		"max message bytes 1: want 65536", "retry attempts 6: want 1 to 5", "pool size 65: want 1 to 64", `keyword "bm25": want one of ["client" "server" "off"]`,
		`server tokenizer "prefix"`, `server language "englsh": want one of ["arabic"`, `sparse vector "v": want another name`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in:\n%v", want, err)
		}
	}
	_, err = New(Config{Collection: "c", Dimension: 65537, PoolSize: -1, RetryAttempts: -1})
	for _, want := range []string{"dimension 65537: want 1 to 65536", "pool size -1", "retry attempts -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in: %v", want, err)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]address{
		"http://localhost:6334":     {"localhost", 6334, false},
		"http://localhost":          {"localhost", 6334, false},
		"localhost":                 {"localhost", 6334, false},
		"qdrant.internal:7000":      {"qdrant.internal", 7000, false},
		"https://db.example.com/":   {"db.example.com", 6334, true},
		"https://db.example.com:99": {"db.example.com", 99, true},
		"HTTPS://db.example.com":    {"db.example.com", 6334, true},
		"http://[::1]:6334":         {"::1", 6334, false},
		"[::1]":                     {"::1", 6334, false},
		"10.0.0.7:6333":             {"10.0.0.7", 6333, false},
	} {
		got, err := parseAddress(text)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "http://", "ftp://h:1", "h:0", "h:65536", "h:port", "http://h/path", "http://user:pw@h", "http://h?x=1", "::1", "http://%zz"} {
		if got, err := parseAddress(text); err == nil {
			t.Errorf("%q: accepted as %+v", text, got)
		} else if strings.Contains(err.Error(), "\x00") || !strings.HasPrefix(err.Error(), "url ") {
			t.Errorf("%q: error %v does not name the field", text, err)
		}
	}
	for text, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "[::1]": true, "10.0.0.1": false, "localhost.example": false} {
		if a, err := parseAddress(text); err != nil || a.loopback() != want {
			t.Errorf("%s: loopback %v, %v", text, a.loopback(), err)
		}
	}
}

func TestCAFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ url, file, say string }{
		"missing":       {"https://h", filepath.Join(t.TempDir(), "none"), "read ca file"},
		"no PEM":        {"https://h", empty, "holds no PEM certificate"},
		"without https": {"http://h", empty, "only for https"},
	} {
		_, err := New(Config{URL: tc.url, CAFile: tc.file, Collection: "c"})
		if err == nil || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: got %v, want %q", name, err, tc.say)
		}
	}
}

func TestFieldMap(t *testing.T) {
	m, err := newFieldMap(map[string]string{vdb.FieldUserID: "metadata.user_id", vdb.FieldContent: `"page content"`})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{m.at(vdb.FieldUserID).String(), m.at(vdb.FieldContent).String(), m.at(vdb.FieldState).String(), m.at("other key").String()}
	if diff := cmp.Diff([]string{"metadata.user_id", `"page content"`, "state", `"other key"`}, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	for name, fields := range map[string]map[string]string{
		"no path":             {vdb.FieldUserID: ""},
		"a bad path":          {vdb.FieldUserID: "a..b"},
		"two at one place":    {vdb.FieldUserID: "x", vdb.FieldAgentID: "x"},
		"one at another's":    {vdb.FieldUserID: vdb.FieldAgentID},
		"one inside another":  {vdb.FieldUserID: "m", vdb.FieldAgentID: "m.agent"},
		"the reserved field":  {vdb.FieldSourceID: "kith_id"},
		"in the reserved one": {vdb.FieldSourceID: "kith_id.x"},
		"a unit of a text":    {vdb.FieldContent: "text@ms"},
		"an unknown unit":     {vdb.FieldMemoryAt: "ts@days"},
		"a user inside JSON":  {vdb.FieldUserID: "node@json.user"},
		"no field of kith's":  {"relations": "x"},
	} {
		if m, err := newFieldMap(fields); err == nil {
			t.Errorf("%s: accepted as %v", name, m)
		}
	}
}
