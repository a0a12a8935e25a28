package graphstore_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
)

// spelled writes registers with encoding/json alone.
func spelled(tb testing.TB, r graphstore.Registers) string {
	tb.Helper()
	stamp := func(s graphstore.Stamp) []any {
		list := []any{s.Version, s.Rank, s.EventID}
		if s.At != 0 || s.Source != "" {
			list = append(list, int64(s.At), s.Source)
		}
		return list
	}
	var out struct {
		State  []any            `json:"s,omitempty"`
		Base   []any            `json:"b,omitempty"`
		Fields map[string][]any `json:"f,omitempty"`
	}
	if !r.State.IsZero() {
		out.State = stamp(r.State)
	}
	if !r.Base.IsZero() {
		out.Base = stamp(r.Base)
	}
	for _, fs := range r.Fields {
		if out.Fields == nil {
			out.Fields = map[string][]any{}
		}
		out.Fields[string(fs.Field)] = stamp(fs.Stamp)
	}
	text, err := json.Marshal(out)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// readRegisters reads registers with encoding/json alone.
func readRegisters(text string) (r graphstore.Registers, err error) {
	stamp := func(data json.RawMessage) (s graphstore.Stamp, err error) {
		var items []json.RawMessage
		if err := json.Unmarshal(data, &items); err != nil {
			return s, err
		}
		if len(items) != 3 && len(items) != 5 {
			return s, fmt.Errorf("%d items", len(items))
		}
		for i, into := range []any{&s.Version, &s.Rank, &s.EventID, (*int64)(&s.At), &s.Source}[:len(items)] {
			if err := json.Unmarshal(items[i], into); err != nil {
				return s, err
			}
		}
		return s, nil
	}
	var in struct {
		State  json.RawMessage            `json:"s"`
		Base   json.RawMessage            `json:"b"`
		Fields map[string]json.RawMessage `json:"f"`
	}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return r, err
	}
	for data, into := range map[*json.RawMessage]*graphstore.Stamp{&in.State: &r.State, &in.Base: &r.Base} {
		if *data != nil && string(*data) != "null" {
			if *into, err = stamp(*data); err != nil {
				return r, err
			}
		}
	}
	for f, data := range in.Fields {
		s, err := stamp(data)
		if err != nil {
			return r, err
		}
		r = r.With(graphstore.Field(f), s)
	}
	return r, nil
}

func drawRegisters(t *rapid.T) graphstore.Registers {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "e", `"`, `\`, "<&>", "é", "\x7f", "\n", "\u2028", "\xff", "[1,2]", "}"}), rapid.String())
	stamp := rapid.Custom(func(t *rapid.T) graphstore.Stamp {
		return graphstore.Stamp{
			Version: rapid.Int64().Draw(t, "version"), Rank: graphstore.Rank(rapid.Uint8().Draw(t, "rank")), EventID: text.Draw(t, "event"),
			At: graphstore.Instant(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64()).Draw(t, "at")), Source: text.Draw(t, "source"),
		}
	})
	stamp = rapid.OneOf(stamp, rapid.Just(graphstore.Stamp{}))
	r := graphstore.Registers{State: stamp.Draw(t, "state"), Base: stamp.Draw(t, "base")}
	names := rapid.OneOf(rapid.SampledFrom([]string{"tags", "agent_id", "memory_at", "own"}), text)
	for _, f := range rapid.SliceOfNDistinct(names, 0, 4, rapid.ID).Draw(t, "fields") {
		r = r.With(graphstore.Field(f), stamp.Draw(t, "stamp"))
	}
	return r
}

// Registers are spelled as encoding/json spells them, and what a text with any one change means is what encoding/json says.
func TestRegisterTextIsThatOfJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := drawRegisters(rt)
		data, err := r.MarshalText()
		if err != nil || string(data) != spelled(t, r) {
			rt.Fatalf("%s, %v: want %s", data, err, spelled(t, r))
		}
		at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
		put := rapid.SampledFrom(strings.Split(`|,|"|[|]|{|}|0|-|+|1|.|:| |null|\|é|s|`, "|")).Draw(rt, "put")
		gone := rapid.IntRange(0, min(2, len(data)-at)).Draw(rt, "gone")
		text := string(slices.Replace(slices.Clone(data), at, at+gone, []byte(put)...))
		want, wantErr := readRegisters(text)
		var got graphstore.Registers
		err = got.UnmarshalText([]byte(text))
		if (err == nil) != (wantErr == nil) || (err == nil && !got.Equal(want)) {
			rt.Fatalf("%s: %+v, %v: want %+v, %v", text, got, err, want, wantErr)
		}
	})
}

// BenchmarkRegisterText writes and reads registers as a backfill makes them, in a ratio to encoding/json.
func BenchmarkRegisterText(b *testing.B) {
	var r graphstore.Registers
	for _, f := range []graphstore.Field{graphstore.FieldAgent, graphstore.FieldMemoryAt, graphstore.FieldRecordedAt, graphstore.FieldTags} {
		r = r.With(f, graphstore.Stamp{Version: 1767225660000000, EventID: "backfill", At: 1767225660000001})
	}
	var own, plain time.Duration
	for b.Loop() {
		start := time.Now()
		text, err := r.MarshalText()
		if err == nil {
			err = new(graphstore.Registers).UnmarshalText(text)
		}
		own += time.Since(start)
		start = time.Now()
		back, plainErr := readRegisters(spelled(b, r))
		plain += time.Since(start)
		if err != nil || plainErr != nil || !back.Equal(r) {
			b.Fatal(err, plainErr)
		}
	}
	b.ReportMetric(float64(own.Nanoseconds())/float64(b.N), "ns/fact")
	b.ReportMetric(own.Seconds()/plain.Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}
