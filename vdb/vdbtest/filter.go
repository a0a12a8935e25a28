package vdbtest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// checkFilter refuses what a valid filter can still ask wrongly: a time by its text.
func checkFilter(f vdb.Filter) error {
	for i, m := range f.Match {
		switch m.Field {
		case vdb.FieldMemoryAt, vdb.FieldCreatedAt, vdb.FieldValidFrom, vdb.FieldValidTo:
			return fmt.Errorf("%w: filter.match[%d]: field %q is a time: want a range", vdb.ErrBadQuery, i, m.Field)
		}
	}
	return nil
}

// passes reports whether a payload meets every condition of a valid filter.
func passes(p vdb.Payload, f vdb.Filter) bool {
	for _, m := range f.Match {
		texts := fieldTexts(p, m.Field)
		if !slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(m.Any, text) }) {
			return false
		}
	}
	for _, r := range f.Range {
		at := timeField(p, r.Field)
		if at.IsZero() || (!r.From.IsZero() && at.Before(r.From)) || (!r.To.IsZero() && !at.Before(r.To)) {
			return false
		}
	}
	if t := f.ValidAt; !t.IsZero() {
		return (p.ValidFrom.IsZero() || !p.ValidFrom.After(t)) && (p.ValidTo.IsZero() || p.ValidTo.After(t))
	}
	return true
}

// fieldTexts returns the texts a field can be matched by; none when it is absent or of a type without them.
func fieldTexts(p vdb.Payload, field string) []string {
	switch field {
	case vdb.FieldContent:
		return present(p.Content)
	case vdb.FieldAgentID:
		return present(p.AgentID)
	case vdb.FieldState:
		if p.State == "" {
			return []string{vdb.StateActive}
		}
		return present(p.State)
	case vdb.FieldVersion:
		if p.Version == 0 {
			return nil
		}
		return []string{strconv.FormatInt(p.Version, 10)}
	case vdb.FieldEpisodeID:
		return present(p.EpisodeID)
	case vdb.FieldBatchID:
		return present(p.BatchID)
	case vdb.FieldSourceID:
		return present(p.SourceID)
	case vdb.FieldTags:
		return p.Tags
	default:
		return jsonTexts(p.Extra[field])
	}
}

func present(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// jsonTexts returns the text of a scalar, or of each scalar of a list.
func jsonTexts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case int64:
		return []string{strconv.FormatInt(v, 10)}
	case bool:
		return []string{strconv.FormatBool(v)}
	case []any:
		var texts []string
		for _, e := range v {
			if _, nested := e.([]any); !nested {
				texts = append(texts, jsonTexts(e)...)
			}
		}
		return texts
	default:
		return nil
	}
}

func timeField(p vdb.Payload, field string) time.Time {
	at := map[string]time.Time{
		vdb.FieldMemoryAt: p.MemoryAt, vdb.FieldCreatedAt: p.CreatedAt,
		vdb.FieldValidFrom: p.ValidFrom, vdb.FieldValidTo: p.ValidTo,
	}[field]
	return graphstore.InstantOf(at).Time()
}
