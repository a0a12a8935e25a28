package qdrant

import (
	"errors"
	"fmt"
	"math"
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

// decodePoint reads a point as a fact, without its vector. A point that is none gives the reason, with its id.
func (m fieldMap) decodePoint(p stored) (fact vdb.Point, reason string) {
	id, ok := pointIDOf(p.GetId())
	if !ok {
		return vdb.Point{}, "point of an unknown kind of id"
	}
	object := decodeObject(p.GetPayload())
	user, ok := m[vdb.FieldUserID].take(object)
	if !ok {
		return vdb.Point{}, fmt.Sprintf("point %s: no user id at %s", id, m[vdb.FieldUserID])
	}
	space, err := decodeSpace(user)
	if err != nil {
		return vdb.Point{}, fmt.Sprintf("point %s: %v", id, err)
	}
	original, _ := object[idField].(string)
	delete(object, idField)
	return vdb.Point{Space: space, ID: id.factID(space, original), Payload: m.decodePayload(object)}, ""
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

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "fraction"
	case []any:
		return "list"
	default:
		return "object"
	}
}

// decodePayload reads the fields from the object and leaves the rest of it, which it keeps, as Extra.
func (m fieldMap) decodePayload(object map[string]any) vdb.Payload {
	var pay vdb.Payload
	for field, text := range textFields(&pay) {
		v, _ := m[field].take(object)
		*text = decodeText(v)
	}
	for field, at := range timeFields(&pay) {
		v, _ := m[field].take(object)
		*at = decodeTime(v)
	}
	version, _ := m[vdb.FieldVersion].take(object)
	pay.Version = decodeInteger(version)
	tags, _ := m[vdb.FieldTags].take(object)
	pay.Tags = decodeTags(tags)
	for _, field := range vdb.Fields() {
		delete(object, field) // a name that Extra must not have, of a collection that keeps the field elsewhere
	}
	if len(object) > 0 {
		pay.Extra = object
	}
	return pay
}

// textFields are the fields that are texts.
func textFields(p *vdb.Payload) map[string]*string {
	return map[string]*string{
		vdb.FieldContent: &p.Content, vdb.FieldAgentID: &p.AgentID, vdb.FieldState: &p.State,
		vdb.FieldEpisodeID: &p.EpisodeID, vdb.FieldBatchID: &p.BatchID, vdb.FieldSourceID: &p.SourceID,
	}
}

// timeFields are the fields that are times.
func timeFields(p *vdb.Payload) map[string]*time.Time {
	return map[string]*time.Time{
		vdb.FieldMemoryAt: &p.MemoryAt, vdb.FieldCreatedAt: &p.CreatedAt,
		vdb.FieldValidFrom: &p.ValidFrom, vdb.FieldValidTo: &p.ValidTo,
	}
}

func decodeText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	default:
		return ""
	}
}

func decodeInteger(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
	}
	return 0
}

// decodeTags reads a list of texts or one text.
func decodeTags(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var tags []string
	for _, element := range list {
		switch element := element.(type) {
		case string:
			tags = append(tags, element)
		case int64:
			tags = append(tags, decodeText(element))
		}
	}
	return tags
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
