package backfill

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Points returns the store's points as a backfill reads them: with the fields that no driver knows at their own names in
// Payload.Extra, the preset's words in kith's, and without the points that are no facts by the preset, which a page's
// Skipped names. The store must have been opened with [Mapping.Fields].
func (m Mapping) Points(store Points) Points {
	return &mappedPoints{Points: store, m: m}
}

// mappedPoints is a store's points under a mapping.
type mappedPoints struct {
	Points
	m Mapping
}

// Scroll implements [Points].
func (p *mappedPoints) Scroll(ctx context.Context, q vdb.ScrollQuery) (vdb.Page, error) {
	page, err := p.Points.Scroll(ctx, q)
	if err != nil {
		return page, err
	}
	kept := page.Points[:0]
	for _, point := range page.Points {
		if reason := p.m.refuses(&point); reason != "" {
			page.Skipped = append(page.Skipped, reason)
			continue
		}
		p.m.translate(&point)
		p.m.settle(&page, &point)
		kept = append(kept, point)
	}
	page.Points = kept
	return page, nil
}

// SearchMany implements [Points]. It asks for facts only.
func (p *mappedPoints) SearchMany(ctx context.Context, queries []vdb.Query) ([][]vdb.Match, error) {
	if len(p.m.only) > 0 {
		queries = slices.Clone(queries)
		for i := range queries {
			f := &queries[i].Filter
			f.Match = slices.Clone(f.Match)
			for _, field := range slices.Sorted(maps.Keys(p.m.only)) {
				f.Match = append(f.Match, vdb.FieldMatch{Field: field, Any: p.m.only[field]})
			}
		}
	}
	return p.Points.SearchMany(ctx, queries)
}

// Get implements [Points]. A point that is no fact by the preset is none here.
func (p *mappedPoints) Get(ctx context.Context, space graphstore.Space, ids []string, withVectors bool) ([]vdb.Point, error) {
	points, err := p.Points.Get(ctx, space, ids, withVectors)
	if err != nil {
		return nil, err
	}
	var ignored vdb.Page // values that are not what they should be count as absent; a scan has named them
	kept := points[:0]
	for _, point := range points {
		if p.m.refuses(&point) != "" {
			continue
		}
		p.m.translate(&point)
		p.m.settle(&ignored, &point)
		kept = append(kept, point)
	}
	return kept, nil
}

// refuses says why a point is no fact by the preset, or nothing.
func (m Mapping) refuses(p *vdb.Point) string {
	for _, field := range slices.Sorted(maps.Keys(m.only)) {
		text, _ := p.Payload.Extra[field].(string)
		if !slices.Contains(m.only[field], text) {
			return fmt.Sprintf("point %s: %s at %s: want %s, the facts of preset %s",
				graphstore.Shorten(p.ID), graphstore.Shorten(text), field, strings.Join(m.only[field], " or "), m.Preset)
		}
	}
	return ""
}

// translate replaces the preset's words.
func (m Mapping) translate(p *vdb.Point) {
	for field, words := range m.words {
		var text *string
		switch field {
		case vdb.FieldState:
			text = &p.Payload.State
		case vdb.FieldSourceID:
			text = &p.Payload.SourceID
		default:
			continue
		}
		if word, ok := words[*text]; ok {
			*text = word
		}
	}
}

// settle puts the fields that no driver knows at their own names, times as RFC 3339. A time that is none is taken away and
// counted among the page's ignored values.
func (m Mapping) settle(page *vdb.Page, p *vdb.Point) {
	extra := maps.Clone(p.Payload.Extra) // the store's own
	for _, place := range m.extras {
		delete(extra, place.field) // what has the name may be something else
	}
	for _, place := range m.extras {
		v, ok := place.at.Find(p.Payload.Extra)
		if !ok {
			continue
		}
		read, err := place.read(v)
		if err != nil {
			page.Ignored++
			if len(page.IgnoredTexts) < vdb.MaxIgnoredTexts {
				page.IgnoredTexts = append(page.IgnoredTexts, fmt.Sprintf("point %s: %s at %s: %s: %v",
					graphstore.Shorten(p.ID), place.field, place.at, exampleText(v), err))
			}
			continue
		}
		if read != nil {
			extra[place.field] = read
		}
	}
	p.Payload.Extra = extra
}

// read returns a value as a backfill takes it, nil for an absent one.
func (place extraPlace) read(v any) (any, error) {
	switch place.field {
	case FieldUpdatedAt, FieldRecordedAt:
		at, err := vdb.ParseTime(v, place.unit)
		if err != nil {
			return nil, err
		}
		if at.IsZero() {
			return nil, nil
		}
		return at.Format(time.RFC3339Nano), nil
	case FieldSupersededBy: // a fact has one successor here; of several the first
		if list, ok := v.([]any); ok {
			if len(list) == 0 {
				return nil, nil
			}
			v = list[0]
		}
		if n, ok := v.(int64); ok {
			return fmt.Sprint(n), nil
		}
	}
	return v, nil
}
