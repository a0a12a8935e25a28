package qdrant

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// conditions writes a filter, and the user it is confined to, in the server's terms. Payload values are matched by type
// there, and the driver reads several types, so most conditions are alternatives; where the collection has an index on a
// field, its type says which one applies, and the others are left out so that the index can be used.
type conditions struct {
	fields fieldMap
	schema map[string]pb.PayloadSchemaType
}

// user confines to one user.
func (c conditions) user(space graphstore.Space) *pb.Condition {
	return c.match(c.fields.paths[vdb.FieldUserID], []string{space.UserID()}, false)
}

// filter is the conjunction of the user, the conditions of f and more, and what is left of f for this side to check.
func (c conditions) filter(space graphstore.Space, f vdb.Filter, more ...*pb.Condition) (*pb.Filter, residual, error) {
	must := append([]*pb.Condition{c.user(space)}, more...)
	var rest residual
	for _, m := range f.Match {
		if !c.fields.at(m.Field).expressible() {
			rest = append(rest, m)
			continue
		}
		condition, err := c.fieldMatch(m)
		if err != nil {
			return nil, nil, err
		}
		must = append(must, condition)
	}
	for _, r := range f.Range {
		must = append(must, c.timeRange(r))
	}
	return &pb.Filter{Must: must, MustNot: c.notValidAt(f.ValidAt)}, rest, nil
}

// notValidAt holds for points whose window of validity does not hold t: it begins after t, or ends at t or before. A point
// without the one or the other bound meets neither.
func (c conditions) notValidAt(t time.Time) []*pb.Condition {
	if t.IsZero() {
		return nil
	}
	after := t.Truncate(time.Microsecond).Add(time.Microsecond) // stored times are whole microseconds
	return []*pb.Condition{
		c.timeRange(vdb.TimeRange{Field: vdb.FieldValidFrom, From: after}),
		c.timeRange(vdb.TimeRange{Field: vdb.FieldValidTo, To: after}),
	}
}

func hasIDs(ids []pointID) *pb.Condition { return pb.NewHasID(protoIDs(ids)...) }

// anyOf holds where one of the alternatives does, and nowhere if there are none.
func anyOf(alternatives ...*pb.Condition) *pb.Condition {
	switch len(alternatives) {
	case 0:
		return pb.NewHasID()
	case 1:
		return alternatives[0]
	default:
		return pb.NewFilterAsCondition(&pb.Filter{Should: alternatives})
	}
}

func (c conditions) fieldMatch(m vdb.FieldMatch) (*pb.Condition, error) {
	p := c.fields.at(m.Field)
	_, known := c.fields.paths[m.Field]
	switch {
	case timeField(&vdb.Payload{}, m.Field) != nil:
		return nil, fmt.Errorf("%w: filter field %s is a time: use a range", vdb.ErrBadQuery, m.Field)
	case m.Field == vdb.FieldState:
		return c.state(p, without(m.Any, "")), nil
	case m.Field == vdb.FieldVersion:
		return anyOf(integers(p, without(m.Any, "0"))...), nil // 0 is no version
	case m.Field == vdb.FieldTags || !known:
		return c.match(p, m.Any, !known), nil
	default:
		return c.match(p, without(m.Any, ""), false), nil // an empty text is an absent one
	}
}

func without(texts []string, text string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == text })
}

// state lets "active" also stand for no state: an absent, null or empty one.
func (c conditions) state(p path, any []string) *pb.Condition {
	if !slices.Contains(any, vdb.StateActive) {
		return c.match(p, any, false)
	}
	return anyOf(c.match(p, append(any, ""), false), pb.NewIsEmpty(p.String()))
}

// match holds where the value, or an element of the list, has one of the texts: as a text or an integer, and as a boolean
// if bools is set.
func (c conditions) match(p path, any []string, bools bool) *pb.Condition {
	var alternatives []*pb.Condition
	key := p.String()
	kind := c.schema[key]
	if kind != pb.PayloadSchemaType_Integer && kind != pb.PayloadSchemaType_Bool {
		alternatives = append(alternatives, keywords(key, any)...)
	}
	if kind != pb.PayloadSchemaType_Keyword && kind != pb.PayloadSchemaType_Uuid && kind != pb.PayloadSchemaType_Bool {
		alternatives = append(alternatives, integers(p, any)...)
	}
	if bools && (kind == pb.PayloadSchemaType_UnknownType || kind == pb.PayloadSchemaType_Bool) {
		for _, b := range []bool{true, false} {
			if slices.Contains(any, strconv.FormatBool(b)) {
				alternatives = append(alternatives, pb.NewMatchBool(key, b))
			}
		}
	}
	return anyOf(alternatives...)
}

func keywords(key string, any []string) []*pb.Condition {
	switch len(any) {
	case 0:
		return nil
	case 1:
		return []*pb.Condition{pb.NewMatchKeyword(key, any[0])}
	default:
		return []*pb.Condition{pb.NewMatchKeywords(key, any...)}
	}
}

// integers matches those of the texts that are decimal integers as one writes them.
func integers(p path, any []string) []*pb.Condition {
	var numbers []int64
	for _, text := range any {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	return []*pb.Condition{pb.NewMatchInts(p.String(), numbers...)}
}

// timeRange holds where the time lies in the half-open interval, in each of the spellings that decodeTime reads.
func (c conditions) timeRange(r vdb.TimeRange) *pb.Condition {
	key := c.fields.paths[r.Field].String()
	var alternatives []*pb.Condition
	kind := c.schema[key]
	if kind != pb.PayloadSchemaType_Integer && kind != pb.PayloadSchemaType_Float {
		text := &pb.DatetimeRange{}
		if !r.From.IsZero() {
			text.Gte = timestamppb.New(ceilMicro(r.From))
		}
		if !r.To.IsZero() {
			text.Lt = timestamppb.New(ceilMicro(r.To))
		}
		if r.From.IsZero() && r.To.IsZero() {
			text.Gte = timestamppb.New(time.Time{}) // any time, but a time
		}
		alternatives = append(alternatives, pb.NewDatetimeRange(key, text))
	}
	if kind != pb.PayloadSchemaType_Datetime {
		alternatives = append(alternatives, numberRanges(key, r, c.fields.units[r.Field])...)
	}
	return anyOf(alternatives...)
}

// numberRanges are the intervals of the numbers that are read as times in the interval.
func numberRanges(key string, r vdb.TimeRange, unit vdb.TimeUnit) []*pb.Condition {
	switch unit {
	case vdb.TimeText:
		return nil
	case vdb.TimeSeconds:
		return []*pb.Condition{pb.NewRange(key, numberRange(r, time.Second, -endSeconds, endSeconds))}
	case vdb.TimeMillis:
		return []*pb.Condition{pb.NewRange(key, numberRange(r, time.Millisecond, -endSeconds*1e3, endSeconds*1e3))}
	default:
		return []*pb.Condition{
			pb.NewRange(key, numberRange(r, time.Second, math.Nextafter(-vdb.FirstMillis, 0), vdb.FirstMillis)),
			pb.NewRange(key, numberRange(r, time.Millisecond, vdb.FirstMillis, vdb.EndMillis)),
		}
	}
}

// endSeconds is the end of the year 9999, up to which numbers of a stated unit are times.
const endSeconds = 253402300800

// numberRange is the interval in units since 1970, inside [low, high).
func numberRange(r vdb.TimeRange, unit time.Duration, low, high float64) *pb.Range {
	number := func(t time.Time) float64 {
		return float64(ceilMicro(t).UnixMicro()) / (float64(unit) / float64(time.Microsecond))
	}
	if !r.From.IsZero() {
		low = max(low, number(r.From))
	}
	if !r.To.IsZero() {
		high = min(high, number(r.To))
	}
	return &pb.Range{Gte: pb.PtrOf(low), Lt: pb.PtrOf(high)}
}
