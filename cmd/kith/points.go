package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// pointLine is one line of a points file.
type pointLine struct {
	UserID  string         `json:"user_id"`
	ID      string         `json:"id"`
	Vector  []float32      `json:"vector"`
	Payload map[string]any `json:"payload"`
}

// parsePoint reads one line of a points file; errors name the field. A line may lack the vector if it can be embedded.
func parsePoint(line []byte, canEmbed bool) (vdb.Point, error) {
	var raw pointLine
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		return vdb.Point{}, fmt.Errorf("want {user_id, id, vector, payload}: %w", err)
	}
	if raw.Vector == nil && canEmbed {
		return makePoint(raw.UserID, raw.ID, nil, raw.Payload)
	}
	return toPoint(raw.UserID, raw.ID, raw.Vector, raw.Payload)
}

// toPoint returns a point that can be stored.
func toPoint(user, id string, vector []float32, payload map[string]any) (vdb.Point, error) {
	p, err := makePoint(user, id, vector, payload)
	if err != nil {
		return vdb.Point{}, err
	}
	return p, p.Validate(0)
}

func makePoint(user, id string, vector []float32, payload map[string]any) (vdb.Point, error) {
	space, err := graphstore.NewSpace(user)
	if err != nil {
		return vdb.Point{}, err
	}
	p := vdb.Point{Space: space, ID: graphstore.CanonicalFactID(id), Vector: vector}
	p.Payload, err = parsePayload(payload)
	return p, err
}

// parsePayload sorts the fields that kith names from the others.
func parsePayload(raw map[string]any) (vdb.Payload, error) {
	var p vdb.Payload
	texts := map[string]*string{
		vdb.FieldContent: &p.Content, vdb.FieldAgentID: &p.AgentID, vdb.FieldState: &p.State,
		vdb.FieldEpisodeID: &p.EpisodeID, vdb.FieldBatchID: &p.BatchID, vdb.FieldSourceID: &p.SourceID,
	}
	times := map[string]*time.Time{
		vdb.FieldMemoryAt: &p.MemoryAt, vdb.FieldCreatedAt: &p.CreatedAt, vdb.FieldValidFrom: &p.ValidFrom, vdb.FieldValidTo: &p.ValidTo,
	}
	for field, v := range raw {
		var err error
		switch text, at := texts[field], times[field]; {
		case v == nil:
		case text != nil:
			*text, err = stringField(v)
		case at != nil:
			*at, err = timeField(v)
		case field == vdb.FieldVersion:
			p.Version, err = versionField(v)
		case field == vdb.FieldTags:
			p.Tags, err = tagsField(v)
		default:
			if p.Extra == nil {
				p.Extra = map[string]any{}
			}
			p.Extra[field] = v
		}
		if err != nil {
			return vdb.Payload{}, fmt.Errorf("payload.%s: %w", field, err)
		}
	}
	return p, nil
}

func stringField(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%v: want a string", v)
	}
	return s, nil
}

func timeField(v any) (time.Time, error) {
	s, err := stringField(v)
	if err != nil {
		return time.Time{}, err
	}
	var at graphstore.Instant
	if err := at.UnmarshalText([]byte(s)); err != nil {
		return time.Time{}, err
	}
	return at.Time(), nil
}

func versionField(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
	}
	return 0, fmt.Errorf("%v: want an integer below 2^53", v)
}

// tagsField takes a list of strings; a single string is one tag.
func tagsField(v any) ([]string, error) {
	if s, ok := v.(string); ok {
		return []string{s}, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%v: want a list of strings", v)
	}
	tags := make([]string, len(list))
	for i, item := range list {
		s, err := stringField(item)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		tags[i] = s
	}
	return tags, nil
}
