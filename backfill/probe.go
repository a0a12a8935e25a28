package backfill

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kithgraph/kith/vdb"
)

// DefaultProbePoints is [ProbeRequest.Points].
const DefaultProbePoints = 100

// RawReader looks at a collection whose fields are not known yet.
type RawReader interface {
	// Sample describes the collection and returns up to n of its points as they are.
	Sample(ctx context.Context, n int) (vdb.Sample, error)
	// ReadRaw reads points as facts under a mapping of fields, as Scroll does. The error is of the mapping.
	ReadRaw(points []vdb.RawPoint, fields map[string]string) ([]vdb.Reading, error)
}

// ProbeRequest says what is known of a collection already. What is not set is found out.
type ProbeRequest struct {
	Preset string            // empty: the one that fits best
	Fields map[string]string // explicit places, as in [NewMapping]
	Vector *string           // nil: found out
	Points int               // how many to read; defaults to [DefaultProbePoints]
}

// ProbeReport is what a probe found.
type ProbeReport struct {
	Collection string            `json:"collection"`
	Total      int64             `json:"total"`
	Sampled    int               `json:"sampled"`
	Presets    []PresetFit       `json:"presets"` // best first
	Preset     string            `json:"preset"`  // the one that the rest is about
	Given      bool              `json:"given"`   // it was asked for, not chosen
	Fits       bool              `json:"fits"`    // more of what its points always have is there than is not
	IDs        string            `json:"ids"`
	Times      string            `json:"times"`
	Fields     []ProbeField      `json:"fields"`
	Vectors    []vdb.VectorShape `json:"vectors"`
	Vector     *string           `json:"vector"`         // the one to search, if one can be
	NoVector   int               `json:"without_vector"` // sampled points that lack it
	NoUser     int               `json:"without_user"`   // sampled points that are no facts for want of a user
	NotFacts   int               `json:"not_facts"`      // sampled points that are none by the preset, such as other layers
	Listed     []string          `json:"listed"`         // the first of those, and of values that are not what their field wants
	Ignored    int               `json:"ignored"`        // such values
	Problems   []string          `json:"problems"`       // why nothing can be projected, if so
	Flags      []string          `json:"flags"`          // what to give for this mapping; none needed if empty
}

// ProbeField is what a probe found of one field.
type ProbeField struct {
	Field   string `json:"field"`
	Path    string `json:"path"`
	Guessed bool   `json:"guessed"` // from a name, where the preset's place is empty
	Points  int    `json:"points"`  // that have it, of the sampled
	Example string `json:"example"` // shortened
	Missing string `json:"missing"` // what it costs that no point has it
}

// Probe reads a few points of a collection and says which mapping it would use and what is missing.
func Probe(ctx context.Context, src RawReader, req ProbeRequest) (ProbeReport, error) {
	sample, err := src.Sample(ctx, cmp.Or(req.Points, DefaultProbePoints))
	if err != nil {
		return ProbeReport{}, fmt.Errorf("probe: %w", err)
	}
	p := probe{src: src, sample: sample, explicit: maps.Clone(req.Fields)}
	if p.explicit == nil {
		p.explicit = map[string]string{}
	}
	out := ProbeReport{Collection: sample.Collection, Total: sample.Total, Sampled: len(sample.Points), Vectors: sample.Vectors, Given: req.Preset != ""}
	if out.Presets, err = p.fits(); err != nil {
		return ProbeReport{}, fmt.Errorf("probe: %w", err)
	}
	p.choose(&out, req.Preset)
	if err := p.fields(&out); err != nil {
		return ProbeReport{}, fmt.Errorf("probe: %w", err)
	}
	p.vectors(&out, req.Vector)
	p.verdict(&out)
	return out, nil
}

// probe is a probe at work.
type probe struct {
	src      RawReader
	sample   vdb.Sample
	explicit map[string]string // with what was guessed
}

// choose takes the preset that was asked for, else the best if it fits at all, else kith.
func (p *probe) choose(out *ProbeReport, given string) {
	best := out.Presets[0]
	if given != "" {
		if i := slices.IndexFunc(out.Presets, func(f PresetFit) bool { return f.Preset == given }); i >= 0 {
			best = out.Presets[i]
		}
	}
	out.Preset, out.Fits = PresetKith, best.Score > 0
	if given != "" {
		out.Preset = given
	} else if out.Fits {
		out.Preset = best.Preset
	}
	if preset, ok := presetNamed(out.Preset); ok {
		out.IDs, out.Times = preset.IDs, preset.Times
	}
}

// fields reads the sample under the chosen mapping, looks for what is not there under other names, and reads it again.
func (p *probe) fields(out *ProbeReport) error {
	read, err := p.read(out.Preset, p.explicit)
	if err != nil {
		return err
	}
	guessed := p.guess(out.Preset, read)
	if len(guessed) > 0 {
		maps.Copy(p.explicit, guessed)
		if read, err = p.read(out.Preset, p.explicit); err != nil {
			return err
		}
	}
	for _, field := range MappedFields() {
		f := ProbeField{Field: field, Path: read.places[field], Points: read.counts[field], Example: read.examples[field]}
		_, f.Guessed = guessed[field]
		if f.Points == 0 {
			f.Missing = missingCost(field, read.counts)
		}
		out.Fields = append(out.Fields, f)
	}
	out.NoUser, out.NotFacts, out.Ignored, out.Listed = read.noUser, read.notFacts, read.ignored, read.listed
	return nil
}

// verdict says what stands in the way, and the flags.
func (p *probe) verdict(out *ProbeReport) {
	facts := out.Sampled - out.NoUser - out.NotFacts
	switch {
	case out.Sampled == 0:
		out.Problems = append(out.Problems, "the collection is empty")
	case out.NoUser+out.NotFacts > 0 && facts == 0 && out.NoUser > 0:
		out.Problems = append(out.Problems, "no sampled point has a user: say where it is with --qdrant-fields=user_id=PATH")
	case facts == 0:
		out.Problems = append(out.Problems, "no sampled point is a fact by the preset "+out.Preset)
	}
	if out.Vector == nil {
		out.Problems = append(out.Problems, "no vector that can be searched: want a dense one of distance Cosine, not a multi-vector")
	}
	if out.Preset != PresetKith {
		out.Flags = append(out.Flags, "--qdrant-preset="+out.Preset)
	}
	if len(p.explicit) > 0 {
		out.Flags = append(out.Flags, "--qdrant-fields="+joinPlaces(p.explicit))
	}
	if preset, _ := presetNamed(out.Preset); out.Vector != nil && *out.Vector != preset.Vector {
		out.Flags = append(out.Flags, "--qdrant-vector="+cmp.Or(*out.Vector, UnnamedVector))
	}
}

// UnnamedVector is what a setting says for the unnamed vector where a preset has a named one.
const UnnamedVector = "-"
