package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/internal/config"
	"github.com/kithgraph/kith/vdb"
	"github.com/kithgraph/kith/vdb/vdbtest/wire"
)

// layouts are collections of other programs: two facts of ann's, tea and milk, nearly of one direction.
func layouts() map[string]func(text, source string) map[string]any {
	return map[string]func(text, source string) map[string]any{
		"kith": func(text, _ string) map[string]any { return map[string]any{"user_id": "ann", "content": text} },
		"mem0": func(text, _ string) map[string]any {
			return map[string]any{"user_id": "ann", "data": text, "hash": "x", "created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-01T00:00:00+00:00"}
		},
		"hy-memory": func(text, _ string) map[string]any {
			return map[string]any{"user_id": "ann", "content": text, "node_id": "n", "isolation_key": "ann::a::s", "layer": "l2_fact", "status": "active", "gmt_created": int64(1767225600)}
		},
		"langchain": func(text, source string) map[string]any {
			return map[string]any{"page_content": text, "metadata": map[string]any{"user_id": "ann", "source": source}}
		},
		"llamaindex": func(text, source string) map[string]any {
			return map[string]any{"user_id": "ann", "_node_content": `{"text": "` + text + `"}`, "_node_type": "TextNode", "ref_doc_id": source}
		},
		"haystack": func(text, _ string) map[string]any {
			return map[string]any{"id": "f00", "content": text, "meta": map[string]any{"user_id": "ann"}}
		},
	}
}

const (
	teaID  = "0a1b2c3d-0000-4000-8000-000000000001"
	milkID = "9a1b2c3d-0000-4000-8000-000000000002"
)

// Each preset's collection is probed, backfilled with the flags that the probe prints, and searched.
func TestProbeBackfillSearch(t *testing.T) {
	vector := filepath.Join(t.TempDir(), "v.json")
	if err := os.WriteFile(vector, []byte("[1, 0]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, payload := range layouts() {
		t.Run(name, func(t *testing.T) {
			srv := wire.Start(t, wire.Options{})
			dense := ""
			if name == "llamaindex" || name == "haystack" {
				dense = "text-dense"
			}
			srv.Fill(t, "theirs", []vdb.VectorShape{{Name: dense, Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"}},
				wire.Point{ID: teaID, Payload: payload("tea", "d1"), Vectors: map[string]any{dense: []float32{1, 0}}},
				wire.Point{ID: milkID, Payload: payload("milk", "d2"), Vectors: map[string]any{dense: []float32{0.9, 0.1}}})
			all := []string{"--data-dir", t.TempDir(), "--listen=127.0.0.1:0", "--nats-listen=127.0.0.1:0", "--log-level=error", "--qdrant-url", "http://" + srv.Addr(), "--qdrant-collection=theirs"}
			code, out, errs := kith(t, append(all, "backfill", "--probe")...)
			if code != exitOK || !strings.Contains(out, "taken: "+name+"\n") {
				t.Fatalf("probe: %d %s%s", code, out, errs)
			}
			_, flags, _ := strings.Cut(out, "\nflags: ")
			for _, flag := range strings.Fields(flags) {
				if strings.HasPrefix(flag, "--") {
					all = append(all, flag)
				}
			}
			code, out, errs = kith(t, append(all, "backfill")...)
			if code != exitOK || !strings.Contains(out, "semantic_neighbor") {
				t.Fatalf("backfill: %d %s%s", code, out, errs)
			}
			code, out, errs = kith(t, append(all, "search", "--user=ann", "--vector", vector)...)
			if code != exitOK || !strings.Contains(out, "tea") || !strings.Contains(out, "milk") {
				t.Errorf("search: %d %s%s", code, out, errs)
			}
		})
	}
}

func TestProbeErrors(t *testing.T) {
	srv := wire.Start(t, wire.Options{})
	srv.Fill(t, "nobodys", []vdb.VectorShape{{Kind: vdb.VectorDense, Dimension: 2, Distance: "Cosine"}},
		wire.Point{ID: uint64(1), Payload: map[string]any{"page_content": "tea", "metadata": nil}, Vectors: map[string]any{"": []float32{1, 0}}})
	url := "--qdrant-url=http://" + srv.Addr()
	for name, tc := range map[string]struct {
		args []string
		code int
		say  string
	}{
		"no Qdrant":     {nil, exitUsage, "--probe without QDRANT_URL"},
		"no collection": {[]string{url, "--qdrant-collection=none"}, exitFailed, `"none"`},
		"a user":        {[]string{url, "--qdrant-collection=nobodys", "--user=ann"}, exitUsage, "--probe"},
		"a dry run":     {[]string{url, "--qdrant-collection=nobodys", "--dry-run", "--rate=5"}, exitUsage, "--probe"},
		"no user":       {[]string{url, "--qdrant-collection=nobodys"}, exitFailed, "no sampled point has a user"},
		"a bad preset":  {[]string{url, "--qdrant-preset=mem1"}, exitUsage, "mem1"},
		"a bad field":   {[]string{url, "--qdrant-fields=colour=x"}, exitUsage, `"colour" is no field`},
		"a bad unit":    {[]string{url, "--qdrant-fields=memory_at=x@days"}, exitUsage, `"days"`},
	} {
		code, out, errs := kith(t, append([]string{"--data-dir", t.TempDir(), "backfill", "--probe"}, tc.args...)...)
		if code != tc.code || !strings.Contains(errs, tc.say) {
			t.Errorf("%s: %d %s%s: want %d and %q", name, code, out, errs, tc.code, tc.say)
		}
	}
}

// The setting's list of presets is that of the package that has them.
func TestPresetSettingKnowsEveryPreset(t *testing.T) {
	field, _ := reflect.TypeFor[config.Qdrant]().FieldByName("Preset")
	got := strings.Split(field.Tag.Get("enum"), ",")
	want := append([]string{""}, backfill.PresetNames()...)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("enum %q, presets %q", got, want)
	}
}
