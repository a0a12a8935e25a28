package qdrant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// stored is what answers of every kind hold of a point.
type stored interface {
	GetId() *pb.PointId
	GetPayload() map[string]*pb.Value
	GetVectors() *pb.VectorsOutput
}

// decodePoint reads a point as a fact, without its vector. A point that is none gives the reason, with its id. Values that
// their fields do not want count as absent.
func (m fieldMap) decodePoint(p stored) (fact vdb.Point, reason string) {
	fact, _, reason = m.readPoint(p)
	return fact, reason
}

// readPoint is decodePoint that also returns the values that count as absent.
func (m fieldMap) readPoint(p stored) (fact vdb.Point, unwanted []misfit, reason string) {
	id, ok := pointIDOf(p.GetId())
	if !ok {
		return vdb.Point{}, nil, "point of an unknown kind of id"
	}
	object := decodeObject(p.GetPayload())
	at := m.paths[vdb.FieldUserID]
	user, ok := at.take(object)
	if !ok {
		return vdb.Point{}, nil, fmt.Sprintf("point %s: no user id at %s", id, at)
	}
	space, err := decodeSpace(user)
	if err != nil {
		return vdb.Point{}, nil, fmt.Sprintf("point %s: %v, at %s: %s", id, err, at, valueText(user))
	}
	original, _ := object[idField].(string)
	delete(object, idField)
	payload, unwanted := m.decodePayload(object)
	return vdb.Point{Space: space, ID: id.factID(space, original), Payload: payload}, unwanted, ""
}

// decodeSpace reads a user id: a text, or an integer as its decimal text.
func decodeSpace(v any) (graphstore.Space, error) {
	switch v := v.(type) {
	case string:
		return graphstore.NewSpace(v)
	case int64:
		return graphstore.NewSpace(strconv.FormatInt(v, 10))
	default:
		return graphstore.Space{}, fmt.Errorf("user id is a %s: want a text or an integer", jsonType(v))
	}
}

// decodePayload reads the fields from the object and leaves the rest of it, which it keeps, as Extra.
func (m fieldMap) decodePayload(object map[string]any) (vdb.Payload, []misfit) {
	var pay vdb.Payload
	var unwanted []misfit
	for _, field := range payloadFields {
		v, ok := m.paths[field].take(object)
		if !ok || v == nil {
			continue
		}
		if err := readField(&pay, field, v, m.units[field]); err != nil {
			unwanted = append(unwanted, misfit{field: field, at: m.paths[field], value: v, rule: err})
		}
	}
	for _, field := range vdb.Fields() {
		delete(object, field) // a name that Extra must not have, of a collection that keeps the field elsewhere
	}
	if len(object) > 0 {
		pay.Extra = object
	}
	return pay, unwanted
}

// payloadFields are the fields that make a payload: all but the user.
var payloadFields = slices.DeleteFunc(vdb.Fields(), func(field string) bool { return field == vdb.FieldUserID })

// readField sets one field from a value that is there. The error says what the field wants instead.
func readField(pay *vdb.Payload, field string, v any, unit vdb.TimeUnit) (err error) {
	switch field {
	case vdb.FieldVersion:
		pay.Version, err = decodeInteger(v)
		return err
	case vdb.FieldTags:
		pay.Tags, err = decodeTags(v)
		return err
	}
	if text := textField(pay, field); text != nil {
		*text, err = decodeText(v)
		return err
	}
	if at := timeField(pay, field); at != nil {
		*at, err = vdb.ParseTime(v, unit)
	}
	return err
}

// textField is the place of a field that is a text, nil for any other field.
func textField(p *vdb.Payload, field string) *string {
	switch field {
	case vdb.FieldContent:
		return &p.Content
	case vdb.FieldAgentID:
		return &p.AgentID
	case vdb.FieldState:
		return &p.State
	case vdb.FieldEpisodeID:
		return &p.EpisodeID
	case vdb.FieldBatchID:
		return &p.BatchID
	case vdb.FieldSourceID:
		return &p.SourceID
	default:
		return nil
	}
}

// timeField is the place of a field that is a time, nil for any other field.
func timeField(p *vdb.Payload, field string) *time.Time {
	switch field {
	case vdb.FieldMemoryAt:
		return &p.MemoryAt
	case vdb.FieldCreatedAt:
		return &p.CreatedAt
	case vdb.FieldValidFrom:
		return &p.ValidFrom
	case vdb.FieldValidTo:
		return &p.ValidTo
	default:
		return nil
	}
}

// What a field wants.
var (
	errNoText    = errors.New("want a text or an integer")
	errNoInteger = errors.New("want an integer")
	errNoTags    = errors.New("want a text, or a list of texts or integers")
)

func decodeText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	default:
		return "", errNoText
	}
}

func decodeInteger(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, errNoInteger
}

// decodeTags reads a list of texts or one text, which is one tag. Of a list it returns what are tags, also with the error.
func decodeTags(v any) (tags []string, err error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, element := range list {
		if element == nil {
			continue
		}
		text, bad := decodeText(element)
		if bad != nil {
			err = errNoTags
			continue
		}
		tags = append(tags, text)
	}
	return tags, err
}

// errNoVector means a point that has no vector of the searched name, which a point of a collection with several need not.
var errNoVector = errors.New("no vector")

// decodeVector picks the searched vector out of an answer by its name. The client's GetDenseVector is no use for that: of
// an answer in the deprecated flat fields it returns the values of a sparse vector as if they were a dense one.
func decodeVector(out *pb.VectorsOutput, name string, dim int) ([]float32, error) {
	v := out.GetVector()
	if name != "" || v == nil {
		v = out.GetVectors().GetVectors()[name]
	}
	data := v.GetDense().GetData()
	if data == nil && v.GetVector() == nil && v.GetIndices() == nil && v.GetVectorsCount() == 0 { //nolint:staticcheck // older servers
		data = v.GetData() //nolint:staticcheck // older servers
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%w %q", errNoVector, name)
	}
	if len(data) != dim {
		return nil, fmt.Errorf("vector %q of the answer has %d numbers, the collection %d", name, len(data), dim)
	}
	return data, nil
}
