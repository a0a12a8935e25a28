package backfill_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kithgraph/kith/backfill"
	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/vdb"
)

// Of a value that is not what its field wants, or breaks a rule of events, the account says the point, field, value and rule; the point
// has a node all the same, without it.
func TestBadValues(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	extra := func(field string, v any) vdb.Payload { return vdb.Payload{Extra: map[string]any{field: v}} }
	entity := func(field string, v any) vdb.Payload {
		return extra("entities", []any{map[string]any{"name": "Ada", field: v}})
	}
	relation := func(field string, v any) vdb.Payload {
		return extra("relations", []any{map[string]any{"to": "other", field: v}})
	}
	long := strings.Repeat("x", graphstore.MaxIDBytes+1)
	const noTime = "want a time as RFC 3339, or seconds or milliseconds since 1970"
	for name, tc := range map[string]struct {
		payload       vdb.Payload
		values, items int64
		says          string // behind `point "p": `
	}{
		"unknown state":           {vdb.Payload{State: "archived"}, 1, 0, `state: "archived": want active, superseded, shadowed, deleted or unseen; it counts as active`},
		"negative version":        {vdb.Payload{Version: -4}, 1, 0, `version: -4: want 0 or more`},
		"no time":                 {extra("updated_at", "yesterday"), 1, 0, `updated_at: "yesterday": ` + noTime},
		"microseconds":            {extra("recorded_at", int64(1_767_225_600_000_000)), 1, 0, `recorded_at: 1767225600000000: want seconds between -1e+11 and 1e+11 or milliseconds from there to 1e+14`},
		"negative place":          {extra("batch_seq", int64(-1)), 1, 0, `batch_seq: -1: want an integer from 0 to 2147483647`},
		"broken place":            {extra("batch_seq", 1.5), 1, 0, `batch_seq: 1.5: want an integer from 0 to 2147483647`},
		"place of words":          {extra("batch_seq", "third"), 1, 0, `batch_seq: "third": want an integer from 0 to 2147483647`},
		"successor of two":        {extra("superseded_by", map[string]any{"a": "x", "b": "y"}), 1, 0, `superseded_by: an object of 2: want a text or an integer`},
		"its own successor":       {vdb.Payload{State: "superseded", Extra: map[string]any{"superseded_by": "p"}}, 1, 0, `superseded_by: "p" is the fact itself: want another fact`},
		"entities of a number":    {extra("entities", 7.5), 0, 1, `entities[0]: 7.5: want a name or an object with one`},
		"entity without a name":   {extra("entities", []any{"Ada", map[string]any{"type": "person"}}), 0, 1, `entities[1]: an object of 1: no name: want a text that is not empty`},
		"entity of no words":      {extra("entities", ""), 0, 1, `entities[0]: "": no name: want a text that is not empty`},
		"type of an entity":       {entity("type", int64(3)), 1, 0, `entities[0].type: 3: want a text`},
		"aliases of an entity":    {entity("aliases", true), 1, 0, `entities[0].aliases: true: want a list of texts`},
		"an alias of an entity":   {entity("aliases", []any{"A", nil, 2.5}), 1, 0, `entities[0].aliases[2]: 2.5: want a text`},
		"ids of an entity":        {entity("ids", []any{}), 1, 0, `entities[0].ids: a list of 0: want an object of texts or integers`},
		"an id of an entity":      {entity("ids", map[string]any{"mail": []any{}}), 1, 0, `entities[0].ids."mail": a list of 0: want a text or an integer`},
		"a long id of an entity":  {entity("ids", map[string]any{"mail": long}), 0, 1, `entities[0].ids.mail: "xxx`},
		"relations of words":      {extra("relations", "other"), 0, 1, `relations[0]: "other": want an object with to, and maybe type and weight`},
		"relation to nobody":      {relation("to", 1.5), 0, 1, `relations[0]: an object of 1: to: want an id, a text or an integer`},
		"type of a relation":      {relation("type", []any{}), 1, 0, `relations[0].type: a list of 0: want a text`},
		"weight of a relation":    {relation("weight", "heavy"), 1, 0, `relations[0].weight: "heavy": want a number`},
		"long type of a relation": {relation("type", long), 0, 1, `relations[0].type: "xxx`},
		"long agent":              {vdb.Payload{AgentID: long}, 1, 0, `agent_id: "xxx`},
		"batch with a newline":    {vdb.Payload{BatchID: "a\nb"}, 1, 0, `batch_id: "a\nb" has a control character at byte 1`},
		"a tag with a NUL":        {vdb.Payload{Tags: []string{"tea", "a\x00b"}}, 0, 1, `tags[1]: "a\x00b" has a NUL at byte 1`},
		"far future":              {vdb.Payload{MemoryAt: time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)}, 1, 0, `memory_at: 568971820800000000 us: want a year from 0 to 9999`},
		"ends before it begins":   {vdb.Payload{ValidFrom: day(2), ValidTo: day(1)}, 1, 0, `valid_to: 2026-01-01T00:00:00Z: is before valid_from: it is kept, and the fact is valid at no time`},

		"nothing":                  {vdb.Payload{}, 0, 0, ""},
		"nulls":                    {vdb.Payload{Extra: map[string]any{"updated_at": nil, "batch_seq": nil, "superseded_by": nil, "entities": nil, "relations": nil}}, 0, 0, ""},
		"a place of digits":        {extra("batch_seq", "3"), 0, 0, ""},
		"an integer successor":     {vdb.Payload{State: "superseded", Extra: map[string]any{"superseded_by": int64(8)}}, 0, 0, ""},
		"one name as aliases":      {entity("aliases", "A"), 0, 0, ""},
		"an integer as a hard id":  {entity("ids", map[string]any{"ticket": int64(7)}), 0, 0, ""},
		"a relation to an integer": {relation("to", int64(8)), 0, 0, ""},
		"ends when it begins":      {vdb.Payload{ValidFrom: day(1), ValidTo: day(1)}, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			user := space(t, "u")
			store := newPoints(t, vdb.Point{Space: user, ID: "p", Vector: []float32{1, 0}, Payload: tc.payload})
			g := newGraph(t)
			a := must(t, t.TempDir(), store, g, backfill.Request{NoNeighbors: true})
			if a.BadValues != tc.values || a.BadItems != tc.items || a.BadFacts != 0 || a.Changed != 1 {
				t.Errorf("%d bad values, %d bad items: want %d, %d: %+v", a.BadValues, a.BadItems, tc.values, tc.items, a)
			}
			switch {
			case tc.says == "" && len(a.Problems) > 0, tc.says != "" && len(a.Problems) != 1:
				t.Errorf("problems %q", a.Problems)
			case tc.says != "" && !strings.HasPrefix(a.Problems[0], `point "p": `+tc.says):
				t.Errorf("problem %s, want %s", a.Problems[0], tc.says)
			}
			if f, ok := g.view(t, user).Fact("p"); !ok || !f.Present() {
				t.Errorf("no node: %+v", f)
			}
			if v := verify(t, store, g, backfill.VerifyRequest{}); v.Drifted != 0 || v.Coverage != 1 {
				t.Errorf("verified: %+v", v)
			}
			if again := must(t, t.TempDir(), store, g, backfill.Request{}); again.Changed != 0 {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// What is good beside a bad value is there.
func TestGoodBesideBad(t *testing.T) {
	user := space(t, "u")
	store := newPoints(t, vdb.Point{Space: user, ID: "p", Vector: []float32{1, 0}, Payload: vdb.Payload{
		Tags: []string{"a\x00b", "tea"}, AgentID: "bot", EpisodeID: "a\nb", Version: -1,
		Extra: map[string]any{
			"updated_at": "2026-01-01T00:00:00Z",
			"entities":   []any{int64(7), map[string]any{"name": "Ada", "type": int64(1), "aliases": []any{"A. L.", int64(2)}}},
			"relations":  []any{"x", map[string]any{"to": "q", "type": "causes", "weight": "1"}},
		},
	}})
	g := newGraph(t)
	a := must(t, t.TempDir(), store, g, backfill.Request{})
	// Values: version, an entity's type and alias, the episode. Items: an entity, a relation, a tag.
	if a.BadValues != 4 || a.BadItems != 3 || a.WithTags != 1 || a.WithEntities != 1 || a.WithRelations != 1 || a.WithVersion != 1 {
		t.Errorf("%+v", a)
	}
	view := g.view(t, user)
	f, _ := view.Fact("p")
	// 2026-01-01 is 1,767,225,600 seconds after 1970.
	if f.AgentID != "bot" || f.EpisodeID != "" || f.Version() != 1_767_225_600_000_000 {
		t.Errorf("%+v", f)
	}
	var edges []string
	for _, e := range view.EdgesOf("p") {
		edges = append(edges, e.Type.String()+" "+e.Target)
	}
	if diff := cmp.Diff([]string{"causes q", "mentions thing:ada", "tagged_with tea"}, slices.Sorted(slices.Values(edges))); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}
