package wire

import (
	"testing"
	"time"

	pb "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// The expectations are the documented semantics of Qdrant's conditions: types do not mix, an array matches by any of its
// elements but not through a nested array, a key does not enter an array without [].
func TestConditions(t *testing.T) {
	const id = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	p := &point{payload: pb.NewValueMap(map[string]any{
		"color": "red", "count": 7, "price": 7.5, "whole": 7.0, "on": true, "nothing": nil, "none": []any{}, "holes": []any{nil},
		"tags": []any{"a", "b", []any{"deep"}}, "sizes": []any{1, 2}, "at": "2026-02-15T10:00:00Z", "naive": "2026-02-15 10:00:00",
		"zoned": "2026-02-15T12:00:00+02:00", "day": "2026-02-15", "seconds": 1771149600,
		"meta":  map[string]any{"user id": "u", "inner": map[string]any{"k": "v"}},
		"items": []any{map[string]any{"n": 1, "s": "x"}, map[string]any{"n": 2, "s": "y"}},
		"a.b":   "dotted",
	})}
	var err error
	if p.key, err = parsePointID(pb.NewIDUUID(id)); err != nil {
		t.Fatal(err)
	}
	at := func(h int) *timestamppb.Timestamp {
		return timestamppb.New(time.Date(2026, 2, 15, h, 0, 0, 0, time.UTC))
	}
	both := func(n int64, s string) *pb.Condition {
		return pb.NewNestedFilter("items", &pb.Filter{Must: []*pb.Condition{pb.NewMatchInt("n", n), pb.NewMatch("s", s)}})
	}
	for name, tc := range map[string]struct {
		c    *pb.Condition
		want bool
	}{
		"keyword":                        {pb.NewMatch("color", "red"), true},
		"keyword, other":                 {pb.NewMatch("color", "re"), false},
		"keyword against integer":        {pb.NewMatch("count", "7"), false},
		"keywords":                       {pb.NewMatchKeywords("color", "blue", "red"), true},
		"integer":                        {pb.NewMatchInt("count", 7), true},
		"integer against whole double":   {pb.NewMatchInt("whole", 7), false},
		"integers":                       {pb.NewMatchInts("count", 1, 7), true},
		"bool":                           {pb.NewMatchBool("on", true), true},
		"bool, other":                    {pb.NewMatchBool("on", false), false},
		"element of an array":            {pb.NewMatch("tags", "b"), true},
		"element of an array by [1]":     {pb.NewMatch("tags[1]", "b"), true},
		"element of an array by [9]":     {pb.NewMatch("tags[9]", "b"), false},
		"array in an array":              {pb.NewMatch("tags", "deep"), false},
		"array in an array, entered":     {pb.NewMatch("tags[]", "deep"), true},
		"integer in an array":            {pb.NewMatchInt("sizes", 2), true},
		"except":                         {pb.NewMatchExcept("color", "blue"), true},
		"except it":                      {pb.NewMatchExcept("color", "red"), false},
		"except, absent":                 {pb.NewMatchExcept("missing", "red"), false},
		"except, null":                   {pb.NewMatchExcept("nothing", "red"), false},
		"substring":                      {pb.NewMatchText("color", "ed"), true},
		"quoted key of an object":        {pb.NewMatch(`meta."user id"`, "u"), true},
		"deeper":                         {pb.NewMatch("meta.inner.k", "v"), true},
		"dotted key, quoted":             {pb.NewMatch(`"a.b"`, "dotted"), true},
		"dotted key, not quoted":         {pb.NewMatch("a.b", "dotted"), false},
		"key into an array":              {pb.NewMatch("items.s", "x"), false},
		"key through []":                 {pb.NewMatch("items[].s", "y"), true},
		"key through []: nowhere":        {pb.NewMatch("items[].s", "z"), false},
		"nested, one element has both":   {both(1, "x"), true},
		"nested, no element has both":    {both(1, "y"), false},
		"is empty, absent":               {pb.NewIsEmpty("missing"), true},
		"is empty, null":                 {pb.NewIsEmpty("nothing"), true},
		"is empty, []":                   {pb.NewIsEmpty("none"), true},
		"is empty, [null]":               {pb.NewIsEmpty("holes"), false},
		"is empty, value":                {pb.NewIsEmpty("price"), false},
		"is null, null":                  {pb.NewIsNull("nothing"), true},
		"is null, absent":                {pb.NewIsNull("missing"), false},
		"is null, [null]":                {pb.NewIsNull("holes"), false},
		"range":                          {pb.NewRange("price", &pb.Range{Gte: pb.PtrOf(7.5), Lt: pb.PtrOf(8.0)}), true},
		"range, open below":              {pb.NewRange("price", &pb.Range{Gt: pb.PtrOf(7.5)}), false},
		"range of an integer":            {pb.NewRange("count", &pb.Range{Lte: pb.PtrOf(7.0)}), true},
		"range of a text":                {pb.NewRange("color", &pb.Range{Gt: pb.PtrOf(0.0)}), false},
		"range of an array":              {pb.NewRange("sizes", &pb.Range{Gt: pb.PtrOf(1.0)}), true},
		"time, inclusive":                {pb.NewDatetimeRange("at", &pb.DatetimeRange{Gte: at(10), Lt: at(11)}), true},
		"time, exclusive":                {pb.NewDatetimeRange("at", &pb.DatetimeRange{Gte: at(9), Lt: at(10)}), false},
		"time, greater":                  {pb.NewDatetimeRange("at", &pb.DatetimeRange{Gt: at(10)}), false},
		"time, less or equal":            {pb.NewDatetimeRange("at", &pb.DatetimeRange{Lte: at(10)}), true},
		"time without a zone is UTC":     {pb.NewDatetimeRange("naive", &pb.DatetimeRange{Gte: at(10), Lte: at(10)}), true},
		"time in a zone":                 {pb.NewDatetimeRange("zoned", &pb.DatetimeRange{Gte: at(10), Lte: at(10)}), true},
		"date":                           {pb.NewDatetimeRange("day", &pb.DatetimeRange{Gte: at(0), Lte: at(0)}), true},
		"a number is no time":            {pb.NewDatetimeRange("seconds", &pb.DatetimeRange{Gte: at(0)}), false},
		"has id":                         {pb.NewHasID(pb.NewIDNum(1), pb.NewIDUUID("{"+id+"}")), true},
		"has another id":                 {pb.NewHasID(pb.NewIDNum(1)), false},
		"has id of none":                 {pb.NewHasID(), false},
		"values count":                   {pb.NewValuesCount("tags", &pb.ValuesCount{Gte: pb.PtrOf(uint64(3)), Lt: pb.PtrOf(uint64(4))}), true},
		"values count, absent":           {pb.NewValuesCount("missing", &pb.ValuesCount{Gte: pb.PtrOf(uint64(1))}), false},
		"should: one of two":             {pb.NewFilterAsCondition(&pb.Filter{Should: []*pb.Condition{pb.NewMatch("color", "blue"), pb.NewMatchInt("count", 7)}}), true},
		"should: none":                   {pb.NewFilterAsCondition(&pb.Filter{Should: []*pb.Condition{pb.NewMatch("color", "blue")}}), false},
		"must not":                       {pb.NewFilterAsCondition(&pb.Filter{MustNot: []*pb.Condition{pb.NewMatch("color", "red")}}), false},
		"empty filter":                   {pb.NewFilterAsCondition(&pb.Filter{}), true},
		"min should":                     {pb.NewFilterAsCondition(&pb.Filter{MinShould: &pb.MinShould{MinCount: 2, Conditions: []*pb.Condition{pb.NewMatch("color", "red"), pb.NewMatchInt("count", 7), pb.NewMatchInt("count", 8)}}}), true},
		"min should, one short of three": {pb.NewFilterAsCondition(&pb.Filter{MinShould: &pb.MinShould{MinCount: 3, Conditions: []*pb.Condition{pb.NewMatch("color", "red"), pb.NewMatchInt("count", 7), pb.NewMatchInt("count", 8)}}}), false},
	} {
		holds, err := compileFilter(&pb.Filter{Must: []*pb.Condition{tc.c}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := holds(p); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

func TestBadConditionsAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		c    *pb.Condition
		text string
	}{
		"id":       {pb.NewHasID(pb.NewIDUUID("doc1")), "Unable to parse UUID: doc1"},
		"no id":    {pb.NewHasID(&pb.PointId{}), "No ID options provided"},
		"path":     {pb.NewMatch("a b", "x"), "Invalid json path: 'a b'"},
		"nothing":  {&pb.Condition{}, "Malformed Condition type"},
		"no check": {pb.NewFilterAsCondition(&pb.Filter{Must: []*pb.Condition{{ConditionOneOf: &pb.Condition_Field{Field: &pb.FieldCondition{Key: "k"}}}}}), "At least one field condition must be specified"},
	} {
		_, err := compileFilter(&pb.Filter{MustNot: []*pb.Condition{tc.c}})
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		wantStatus(t, err, codes.InvalidArgument, tc.text)
	}
}

func TestPaths(t *testing.T) {
	for text, want := range map[string]int{ // the number of steps, 0 for a path that does not parse
		"foo": 1, "foo_1-bar": 1, "スキー": 1, `"foo bar"`: 1, `"a.b[0]"`: 1, "a.b": 2, "a[]": 2, "a[0].b": 3, `foo[1][50].bar-baz[]."qux[.]quux"`: 6,
		"": 0, " foo": 0, "foo ": 0, "foo bar": 0, "foo.": 0, ".foo": 0, "a[x]": 0, "a[": 0, "a]": 0, `"open`: 0, `"a\b"`: 0, "a[-1]": 0,
	} {
		steps, err := parsePath(text)
		if len(steps) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d steps, error %v; want %d", text, len(steps), err, want)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, text := range []string{"a.b[0].c[]", `a."b c"`, "[", `"`, "a..b"} {
		f.Add(text)
	}
	payload := pb.NewValueMap(map[string]any{"a": map[string]any{"b": []any{1}}})
	f.Fuzz(func(t *testing.T, text string) {
		if path, err := parsePath(text); err == nil { // neither may panic
			valuesAt(payload, path)
		}
	})
}
