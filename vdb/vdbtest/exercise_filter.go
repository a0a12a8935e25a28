package vdbtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/kithgraph/kith/vdb"
)

var filterParts = []part{
	{"Filter/match", filterMatch},
	{"Filter/time ranges are half open", filterRange},
	{"Filter/valid at a time", filterValidAt},
	{"Filter/conditions are a conjunction, before the limit", filterConjunction},
}

func match(field string, values ...string) vdb.Filter {
	return vdb.Filter{Match: []vdb.FieldMatch{{Field: field, Any: values}}}
}

// checkFilter checks which ids pass, by every method that filters.
func (e *env) checkFilter(st vdb.Store, user string, f vdb.Filter, want ...string) {
	e.Helper()
	all := pointIDs(e.scrollAll(st, vdb.ScrollQuery{Space: e.space(user), Limit: 100}))
	q := vdb.Query{Space: e.space(user), Vector: []float32{1, 0}, Filter: f}
	sameIDs(e.T, "Search", sorted(want), sorted(matchIDs(e.search(st, q))))
	sameIDs(e.T, "Score", sorted(want), sorted(matchIDs(e.score(st, q, all...))))
	if e.h.Features.Keyword { // every point of these tests holds this word
		got := e.keyword(st, vdb.KeywordQuery{Space: e.space(user), Text: "anything", Filter: f})
		sameIDs(e.T, "Keyword", sorted(want), sorted(matchIDs(got)))
	}
}

// axis0 stores payloads under their ids, with one vector and a word that all contents share.
func (e *env) axis0(st vdb.Store, user string, payloads map[string]vdb.Payload) {
	e.Helper()
	for id, p := range payloads {
		if p.Content == "" {
			p.Content = "anything"
		}
		e.upsert(st, sample(e.space(user), id, 2, 0, p))
	}
}

func filterMatch(e *env) {
	st := e.open(2)
	e.axis0(st, "u", map[string]vdb.Payload{
		"none":    {},
		"active":  {State: "active", AgentID: "a1", Version: 3, EpisodeID: "e 1", BatchID: "b1", SourceID: "s/1", Tags: []string{"x"}},
		"old":     {State: "superseded", AgentID: "a2", Version: 30, EpisodeID: "e 2", BatchID: "b2", SourceID: "s/2", Tags: []string{"x", "y z"}},
		"hidden":  {State: "shadowed", AgentID: "A1", Version: -3, Tags: []string{"咖啡", ""}},
		"content": {Content: "anything, at all"},
		"extra": {Extra: map[string]any{"k": "v", "n": int64(17), "big": int64(1<<53 + 1), "yes": true, "no": false, "empty": "", "nil": nil,
			"f": 17.5, "list": []any{"p", int64(5), true}, "dotted.key": "d", "brackets[]": "b", "a b": "blank", "スキー": "雪", `back\slash`: "w",
			"outer": map[string]any{"inner": "deep"}}},
		"extra text": {Extra: map[string]any{"k": "w", "n": "17", "yes": "true"}},
		"quotes":     {AgentID: `o'neil "x" ` + "`y`", Tags: []string{`back\slash`, "%"}},
	})
	e.axis0(st, "other", map[string]vdb.Payload{"active": {State: "active", AgentID: "a1"}})

	for _, tc := range []struct {
		filter vdb.Filter
		want   []string
	}{
		{vdb.Filter{}, []string{"none", "active", "old", "hidden", "content", "extra", "extra text", "quotes"}},
		{match(vdb.FieldAgentID, "a1"), []string{"active"}},
		{match(vdb.FieldAgentID, "a1", "a2", "a3"), []string{"active", "old"}},
		{match(vdb.FieldAgentID, "a"), nil},
		{match(vdb.FieldAgentID, ""), nil}, // absent is not empty
		{match(vdb.FieldAgentID, `o'neil "x" `+"`y`"), []string{"quotes"}},
		{match(vdb.FieldAgentID, "' OR 1=1 --"), nil},
		{match(vdb.FieldState, "active"), []string{"none", "active", "content", "extra", "extra text", "quotes"}},
		{match(vdb.FieldState, "superseded"), []string{"old"}},
		{match(vdb.FieldState, "active", "shadowed"), []string{"none", "active", "hidden", "content", "extra", "extra text", "quotes"}},
		{match(vdb.FieldState, ""), nil},
		{match(vdb.FieldVersion, "3"), []string{"active"}},
		{match(vdb.FieldVersion, "03"), nil},
		{match(vdb.FieldVersion, "-3", "30"), []string{"hidden", "old"}},
		{match(vdb.FieldVersion, "0"), nil},
		{match(vdb.FieldEpisodeID, "e 1", "e 2"), []string{"active", "old"}},
		{match(vdb.FieldBatchID, "b2"), []string{"old"}},
		{match(vdb.FieldSourceID, "s/1"), []string{"active"}},
		{match(vdb.FieldTags, "x"), []string{"active", "old"}},
		{match(vdb.FieldTags, "y z"), []string{"old"}},
		{match(vdb.FieldTags, "y"), nil},
		{match(vdb.FieldTags, "咖啡", `back\slash`), []string{"hidden", "quotes"}},
		{match(vdb.FieldTags, ""), []string{"hidden"}},
		{match(vdb.FieldTags, "%"), []string{"quotes"}},
		{match(vdb.FieldContent, "anything, at all"), []string{"content"}},
		{match(vdb.FieldContent, "at all"), nil},
		{match("k", "v"), []string{"extra"}},
		{match("k", "v", "w"), []string{"extra", "extra text"}},
		{match("n", "17"), []string{"extra", "extra text"}},
		{match("n", "17.0"), nil},
		{match("big", "9007199254740993"), []string{"extra"}}, // 2^53 + 1
		{match("big", "9007199254740992"), nil},
		{match("yes", "true"), []string{"extra", "extra text"}},
		{match("no", "false"), []string{"extra"}},
		{match("no", "0"), nil},
		{match("empty", ""), []string{"extra"}},
		{match("nil", ""), nil},
		{match("nil", "null"), nil},
		{match("list", "p"), []string{"extra"}},
		{match("list", "5"), []string{"extra"}},
		{match("list", "q"), nil},
		{match("dotted.key", "d"), []string{"extra"}},
		{match("brackets[]", "b"), []string{"extra"}},
		{match("a b", "blank"), []string{"extra"}},
		{match("スキー", "雪"), []string{"extra"}},
		{match(`back\slash`, "w"), []string{"extra"}},
		{match("outer.inner", "deep"), nil}, // only top-level keys
		{match("outer", "deep"), nil},
		{match("missing", "x"), nil},
		{match("missing", ""), nil},
	} {
		name := "all"
		if len(tc.filter.Match) > 0 {
			name = fmt.Sprintf("%s=%q", tc.filter.Match[0].Field, tc.filter.Match[0].Any)
		}
		e.Run(name, func(t *testing.T) {
			(&env{T: t, h: e.h}).checkFilter(st, "u", tc.filter, tc.want...)
		})
	}
}

func filterRange(e *env) {
	st := e.open(2)
	const us = time.Microsecond
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e.axis0(st, "u", map[string]vdb.Payload{
		"none": {}, "before": {MemoryAt: at.Add(-us)}, "at": {MemoryAt: at}, "after": {MemoryAt: at.Add(us)},
		"1970": {MemoryAt: time.Unix(0, 0)}, "1969": {MemoryAt: time.Unix(-1, 0)},
		"others": {CreatedAt: at, ValidFrom: at, ValidTo: at},
	})
	within := func(field string, from, to time.Time) vdb.Filter {
		return vdb.Filter{Range: []vdb.TimeRange{{Field: field, From: from, To: to}}}
	}
	for name, tc := range map[string]struct {
		filter vdb.Filter
		want   []string
	}{
		"from is inclusive":      {within(vdb.FieldMemoryAt, at, time.Time{}), []string{"at", "after"}},
		"to is exclusive":        {within(vdb.FieldMemoryAt, time.Time{}, at), []string{"1969", "1970", "before"}},
		"one microsecond":        {within(vdb.FieldMemoryAt, at, at.Add(us)), []string{"at"}},
		"bounds between two":     {within(vdb.FieldMemoryAt, at.Add(1), at.Add(us+1)), []string{"after"}}, // a nanosecond later
		"to a nanosecond later":  {within(vdb.FieldMemoryAt, at, at.Add(1)), []string{"at"}},
		"open: field must exist": {within(vdb.FieldMemoryAt, time.Time{}, time.Time{}), []string{"1969", "1970", "before", "at", "after"}},
		"in another zone":        {within(vdb.FieldMemoryAt, at.In(time.FixedZone("", -7200)), at.Add(us)), []string{"at"}},
		"1970":                   {within(vdb.FieldMemoryAt, time.Unix(0, 0), time.Unix(1, 0)), []string{"1970"}},
		"created_at":             {within(vdb.FieldCreatedAt, at, at.Add(us)), []string{"others"}},
		"valid_from":             {within(vdb.FieldValidFrom, at, at.Add(us)), []string{"others"}},
		"valid_to":               {within(vdb.FieldValidTo, at, at.Add(us)), []string{"others"}},
		"valid_to, exclusive":    {within(vdb.FieldValidTo, time.Time{}, at), nil},
		"far bounds": {within(vdb.FieldMemoryAt, time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)),
			[]string{"1969", "1970", "before", "at", "after"}},
	} {
		e.Run(name, func(t *testing.T) {
			(&env{T: t, h: e.h}).checkFilter(st, "u", tc.filter, tc.want...)
		})
	}
}

func filterConjunction(e *env) {
	st, u := e.open(2), e.space("u")
	for i := range 40 { // p00 is the nearest to the first axis, p39 the farthest; agents alternate, tags follow i mod 3
		e.upsert(st, vdb.Point{Space: u, ID: fmt.Sprintf("p%02d", i), Vector: []float32{40 - float32(i), float32(i)},
			Payload: vdb.Payload{Content: "anything", AgentID: []string{"even", "odd"}[i%2], Tags: []string{fmt.Sprint(i % 3)}, MemoryAt: day(1 + i%10)}})
	}
	f := vdb.Filter{
		Match: []vdb.FieldMatch{{Field: vdb.FieldAgentID, Any: []string{"odd"}}, {Field: vdb.FieldTags, Any: []string{"1"}}},
		Range: []vdb.TimeRange{{Field: vdb.FieldMemoryAt, To: day(9)}, {Field: vdb.FieldMemoryAt, From: day(2)}},
	}
	// i odd and i mod 3 = 1: 1, 7, 13, 19, 25, 31, 37; day 1 + i mod 10 in 2..8: 1 (day 2), 7 (8), 13 (4), 25 (6), 31 (2), 37 (8)
	want := []string{"p01", "p07", "p13", "p25", "p31", "p37"}
	for _, limit := range []int{1, 3, 6, 7} {
		got := matchIDs(e.search(st, vdb.Query{Space: u, Vector: []float32{1, 0}, Filter: f, Limit: limit}))
		sameIDs(e.T, fmt.Sprintf("limit %d", limit), want[:min(limit, len(want))], got)
	}
	none := vdb.Filter{Match: []vdb.FieldMatch{{Field: vdb.FieldAgentID, Any: []string{"odd"}}, {Field: vdb.FieldAgentID, Any: []string{"even"}}}}
	e.checkFilter(st, "u", none)
}

// The window is half open, an absent bound is open, and a point out of its window takes no place under the limit.
func filterValidAt(e *env) {
	st := e.open(2)
	day := func(d int) time.Time { return time.Date(2026, 9, d, 0, 0, 0, 0, time.UTC) }
	e.axis0(st, "u", map[string]vdb.Payload{
		"always":  {},
		"from 10": {ValidFrom: day(10)},
		"to 20":   {ValidTo: day(20)},
		"10-20":   {ValidFrom: day(10), ValidTo: day(20)},
	})
	for _, tt := range []struct {
		at   time.Time
		want []string
	}{
		{day(9), []string{"always", "to 20"}},
		{day(10).Add(-time.Microsecond), []string{"always", "to 20"}},
		{day(10), []string{"always", "to 20", "from 10", "10-20"}},
		{day(20).Add(-time.Microsecond), []string{"always", "to 20", "from 10", "10-20"}},
		{day(20), []string{"always", "from 10"}},
		{day(20).In(time.FixedZone("", 3600)), []string{"always", "from 10"}},
		{day(21), []string{"always", "from 10"}},
	} {
		e.checkFilter(st, "u", vdb.Filter{ValidAt: tt.at}, tt.want...)
	}
	one := e.search(st, vdb.Query{Space: e.space("u"), Vector: []float32{1, 0}, Filter: vdb.Filter{ValidAt: day(1)}, Limit: 2})
	sameIDs(e.T, "Search, limit 2", []string{"always", "to 20"}, sorted(matchIDs(one)))
}
