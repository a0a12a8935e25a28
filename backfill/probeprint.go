package backfill

import (
	"fmt"
	"strings"

	"github.com/kithgraph/kith/vdb"
)

// String is the report as a page of text.
func (r ProbeReport) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("collection %s: %d points, %d of them read", r.Collection, r.Total, r.Sampled)
	line("")
	line("presets, by what is there of what their points always have, and further fields:")
	for _, f := range r.Presets {
		line("  %-11s %4.1f of %d, %4.1f further fields", f.Preset, f.Always, f.Of, f.Fields)
	}
	switch {
	case r.Given:
		line("taken as asked: %s", r.Preset)
	case r.Fits:
		line("taken: %s", r.Preset)
	default:
		line("none fits; taken: %s, kith's own names, where there is nothing else below", r.Preset)
	}
	line("ids: %s", r.IDs)
	line("times: %s", r.Times)
	r.writeFields(line)
	r.writeVectors(line)
	r.writeVerdict(line)
	return b.String()
}

func (r ProbeReport) writeFields(line func(format string, args ...any)) {
	line("")
	line("fields:")
	width := 0
	for _, f := range r.Fields {
		width = max(width, len(f.Path))
	}
	for _, f := range r.Fields {
		if f.Points == 0 {
			continue
		}
		note := ""
		if f.Guessed {
			note = "   guessed by its name"
		}
		line("  %-13s at %-*s  %d of %d, like %s%s", f.Field, width, f.Path, f.Points, r.Sampled, f.Example, note)
	}
	line("missing:")
	for _, f := range r.Fields {
		if f.Points == 0 {
			line("  %-13s at %-*s  %s", f.Field, width, f.Path, f.Missing)
		}
	}
}

func (r ProbeReport) writeVectors(line func(format string, args ...any)) {
	line("vectors:")
	for _, v := range r.Vectors {
		line("  %s: %s", vectorText(v), vectorNote(v))
	}
	if r.Vector != nil {
		line("searched: %s, which %d of %d points have", vectorName(*r.Vector), r.Sampled-r.NoVector, r.Sampled)
	}
}

func (r ProbeReport) writeVerdict(line func(format string, args ...any)) {
	if r.NoUser > 0 {
		line("skipped for want of a user: %d of %d", r.NoUser, r.Sampled)
	}
	if r.NotFacts > 0 {
		line("no facts by the preset: %d of %d", r.NotFacts, r.Sampled)
	}
	if r.Ignored > 0 {
		line("values that are not what their field wants, and count as absent: %d", r.Ignored)
	}
	for _, text := range r.Listed {
		line("  %s", text)
	}
	line("")
	for _, text := range r.Problems {
		line("problem: %s", text)
	}
	switch {
	case r.Sampled == 0:
		line("flags: not known, there is no point to tell them by")
	case len(r.Flags) == 0:
		line("flags: none needed")
	default:
		quoted := make([]string, len(r.Flags))
		for i, flag := range r.Flags {
			quoted[i] = shellWord(flag)
		}
		line("flags: %s", strings.Join(quoted, " "))
	}
}

func vectorText(v vdb.VectorShape) string {
	switch {
	case v.Kind == vdb.VectorSparse && v.Distance == "":
		return fmt.Sprintf("%s, sparse", vectorName(v.Name))
	case v.Kind == vdb.VectorSparse:
		return fmt.Sprintf("%s, sparse, %s", vectorName(v.Name), v.Distance)
	default:
		return fmt.Sprintf("%s, %s, %d dimensions, %s", vectorName(v.Name), v.Kind, v.Dimension, v.Distance)
	}
}

func vectorName(name string) string {
	if name == "" {
		return "unnamed"
	}
	return fmt.Sprintf("%q", name)
}

// shellWord quotes what a shell would read otherwise.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=.,@/:+", r)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
