package graphstore

import (
	"errors"
	"strings"
	"testing"
)

func TestTextThatNoStoreCanKeepIsRefused(t *testing.T) {
	u, err := NewSpace("u")
	if err != nil {
		t.Fatal(err)
	}
	edge := Edge{Source: "f", Target: "e", Type: Mentions, Asserter: Asserter{ByFact, "f"}, Weight: 1}
	for name, record := range map[string]func(text string) Change{
		"agent":         func(s string) Change { return PutFact(u, Fact{ID: "f", AgentID: s}) },
		"source":        func(s string) Change { return PutFact(u, Fact{ID: "f", SourceID: s}) },
		"episode":       func(s string) Change { return PutFact(u, Fact{ID: "f", EpisodeID: s}) },
		"batch":         func(s string) Change { return PutFact(u, Fact{ID: "f", BatchID: s}) },
		"superseded by": func(s string) Change { return PutFact(u, Fact{ID: "f", SupersededBy: s}) },
		"event of base": func(s string) Change {
			return PutFact(u, Fact{ID: "f", Registers: Registers{Base: Stamp{Version: 1, Rank: RankAdd, EventID: s}}})
		},
		"event of field": func(s string) Change {
			return PutFact(u, Fact{ID: "f", Registers: Registers{}.With(FieldTags, Stamp{Version: 1, Rank: RankAdd, EventID: s})})
		},
		"name":     func(s string) Change { return PutTopic(u, Topic{ID: "t", Name: s}) },
		"alias":    func(s string) Change { return PutEntity(u, Entity{ID: "e", Aliases: []string{s}}) },
		"hard id":  func(s string) Change { return PutEntity(u, Entity{ID: "e", HardIDs: []HardID{{"k", s}}}) },
		"detail":   func(s string) Change { e := edge; e.Detail = s; return PutEdge(u, e) },
		"asserter": func(s string) Change { e := edge; e.Asserter.ID = s; return PutEdge(u, e) },
	} {
		if err := record("two\nlines, 'quotes' and \u202e").Validate(); err != nil {
			t.Errorf("%s: sound text: %v", name, err)
		}
		for _, bad := range []string{"a\x00b", "a\xffb"} {
			err := record(bad).Validate()
			if !errors.Is(err, ErrBadChange) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %q: got %v, want ErrBadChange that names the field", name, bad, err)
			}
		}
	}
}
