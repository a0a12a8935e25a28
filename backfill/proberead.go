package backfill

import (
	"fmt"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// sampleReading is the sample under one mapping.
type sampleReading struct {
	places   map[string]string // by field
	counts   map[string]int    // points that have it
	examples map[string]string
	noUser   int
	notFacts int
	ignored  int
	listed   []string
}

// read reads the sample under a preset and explicit places.
func (p *probe) read(preset string, explicit map[string]string) (sampleReading, error) {
	m, err := NewMapping(preset, explicit)
	if err != nil {
		return sampleReading{}, err
	}
	readings, err := p.src.ReadRaw(p.sample.Points, m.Fields)
	if err != nil {
		return sampleReading{}, err
	}
	out := sampleReading{places: m.places(), counts: map[string]int{}, examples: map[string]string{}}
	for i, raw := range p.sample.Points {
		reading := readings[i]
		point := vdb.Point{ID: raw.ID, Payload: vdb.Payload{Extra: raw.Payload}}
		for field, v := range reading.Values {
			if text, ok := v.(string); ok {
				if word, ok := m.words[field][text]; ok {
					v = word
				}
			}
			if v != "" {
				out.found(field, v)
			}
		}
		var page vdb.Page
		m.settle(&page, &point)
		for _, place := range m.extras {
			if v := point.Payload.Extra[place.field]; v != nil {
				out.found(place.field, v)
			}
		}
		out.ignored += len(reading.Ignored) + page.Ignored
		out.list(reading.Ignored...)
		out.list(page.IgnoredTexts...)
		switch refused := m.refuses(&vdb.Point{ID: raw.ID, Payload: vdb.Payload{Extra: raw.Payload}}); {
		case refused != "":
			out.notFacts++
			out.list(refused)
		case reading.Skipped != "":
			out.noUser++
			out.list(reading.Skipped)
		}
	}
	return out, nil
}

func (r *sampleReading) found(field string, v any) {
	r.counts[field]++
	if r.examples[field] == "" {
		r.examples[field] = exampleText(v)
	}
}

func (r *sampleReading) list(texts ...string) {
	r.listed = append(r.listed, texts[:min(len(texts), maxListed-len(r.listed))]...)
}

// places returns every field's place.
func (m Mapping) places() map[string]string {
	out := map[string]string{}
	for field, path := range m.Fields {
		out[field] = path
	}
	for _, place := range m.extras {
		out[place.field] = place.at.String()
		if place.unit != vdb.TimeAuto {
			out[place.field] += "@" + string(place.unit)
		}
	}
	return out
}

// exampleText is a value as a person reads it, shortened.
func exampleText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return graphstore.Shorten(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []string:
		return graphstore.Shorten(strings.Join(v, ", "))
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return fmt.Sprintf("an object of %d", len(v))
	default:
		return fmt.Sprint(v)
	}
}
