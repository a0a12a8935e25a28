package wire

import (
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// rangeCheck compares numbers, integers and doubles alike, as doubles.
func rangeCheck(r *pb.Range) check {
	return func(v *pb.Value) bool {
		var x float64
		switch kind := v.GetKind().(type) {
		case *pb.Value_DoubleValue:
			x = kind.DoubleValue
		case *pb.Value_IntegerValue:
			x = float64(kind.IntegerValue)
		default:
			return false
		}
		return (r.Lt == nil || x < *r.Lt) && (r.Gt == nil || x > *r.Gt) &&
			(r.Lte == nil || x <= *r.Lte) && (r.Gte == nil || x >= *r.Gte)
	}
}

// datetimeCheck compares strings that read as a time; numbers are not times.
func datetimeCheck(r *pb.DatetimeRange) check {
	bound := func(ts *timestamppb.Timestamp, holds func(t time.Time) bool) bool {
		return ts == nil || holds(ts.AsTime())
	}
	return func(v *pb.Value) bool {
		s, ok := v.GetKind().(*pb.Value_StringValue)
		if !ok {
			return false
		}
		x, ok := parseDatetime(s.StringValue)
		return ok && bound(r.GetLt(), x.Before) && bound(r.GetGt(), x.After) &&
			bound(r.GetLte(), func(t time.Time) bool { return !x.After(t) }) &&
			bound(r.GetGte(), func(t time.Time) bool { return !x.Before(t) })
	}
}

// datetimeLayouts are the spellings the server reads, those without a zone as UTC.
var datetimeLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02",
}

func parseDatetime(s string) (time.Time, bool) {
	for _, layout := range datetimeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
