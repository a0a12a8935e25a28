package projector

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/kithgraph/kith/graphstore"
)

// characters are the kinds of text that systems like this one have broken on.
var characters = []struct{ name, text string }{
	{"hyphen", "a-b"}, {"slash", "a/b"}, {"back-slash", `a\b`}, {"back-tick", "a`b"}, {"single quote", "O'Brien"},
	{"double quote", `say "hi"`}, {"braces", "{a:[1]}"}, {"dollar and percent", "$1 100%s"}, {"semicolon and comment", "a; -- DROP"},
	{"dots and wildcards", "a.*.>"}, {"emoji", "👩‍🚀💥"}, {"flag", "🇮🇳"}, {"only space", "   "}, {"only punctuation", "?!"},
	{"only stop words", "the of and"}, {"digits", "0017"}, {"Hebrew", "שלום עולם"}, {"Arabic with marks", "\u200fمرحبا\u200e"},
	{"decomposed", "Zu\u0308rich"}, {"composed", "Zürich"}, {"Chinese", "我喜欢咖啡"}, {"Japanese", "東京タワー"}, {"Korean", "서울"},
	{"half-width kana", "ｶﾞｷﾞ"}, {"Thai without spaces", "สวัสดีชาวโลก"}, {"line and tab", "a\n\tb"}, {"other controls", "a\x01\x7fb"},
	{"line separator", "a\u2028b"}, {"replacement character", "a\ufffdb"}, {"noncharacter", "a\uffffb"}, {"private use", "\ue000"},
	{"beyond the first plane", "𝕂𝕚𝕥𝕙"}, {"combining mark first", "\u0301a"}, {"HTML", "<b>&amp;</b>"}, {"long", strings.Repeat("é", 400)},
	{"empty", ""},
}

// Every text comes through decoding, planning and the snapshot at every place where text may stand; where an id must
// stand, what is no id is refused by name.
func TestCharactersAtEveryEntryPoint(t *testing.T) {
	p := mustNew(t, Config{})
	texts := []string{"content", "tag", "entity.name", "entity.type", "entity.alias", "sentence", "predicate", "unknown"}
	ids := []string{"user", "event", "batch", "fact", "agent", "source", "episode", "to", "neighbor", "relation.type", "hard id", "hard id kind"}
	for _, c := range characters {
		for _, place := range texts {
			ev, rejected, err := Decode(eventWith(t, place, c.text), Limits{})
			if err != nil || len(rejected) > 0 {
				t.Errorf("%s as %s: %v, rejected %v", c.name, place, err, rejected)
				continue
			}
			apply(t, p, graphstore.NewSnapshot(ev.Space), ev)
		}
		for _, place := range ids {
			ev, rejected, err := Decode(eventWith(t, place, c.text), Limits{})
			if len(rejected) > 0 {
				err = rejected[0].Err
			}
			good := c.text != "" && len(c.text) <= graphstore.MaxIDBytes && strings.IndexFunc(c.text, unicode.IsControl) < 0
			good = good || (place == "relation.type" && c.text == "")
			if (err == nil) != good {
				t.Errorf("%s as %s: %v: want good %v", c.name, place, err, good)
			}
			if err != nil {
				continue
			}
			view, _ := apply(t, p, graphstore.NewSnapshot(ev.Space), ev)
			if id := ev.Data.(FactsWritten).Facts[0].ID; place == "fact" && fact(t, view, c.text).ID != id {
				t.Errorf("%s: fact %q", c.name, id)
			}
		}
	}
}

// eventWith returns a write event with the text at one place.
func eventWith(t *testing.T, place, text string) []byte {
	t.Helper()
	at := func(p, otherwise string) string {
		if p == place {
			return text
		}
		return otherwise
	}
	type object = map[string]any
	ev := object{
		"specversion": "1.0", "id": at("event", "e"), "type": TypeFactsWritten, "time": "2026-01-01T00:00:00Z", "x-unknown": at("unknown", "x"),
		"data": object{"user_id": at("user", "u"), "batch_id": at("batch", "b"), "facts": []object{{
			"id": at("fact", "f"), "op": "add", "agent_id": at("agent", "a"), "source_id": at("source", "s"), "episode_id": at("episode", "ep"),
			"content": at("content", "c"), "tags": []string{at("tag", "t"), "other"},
			"entities": []object{{"name": at("entity.name", "n"), "type": at("entity.type", "person"), "aliases": []string{at("entity.alias", "al")},
				"ids": object{at("hard id kind", "email"): at("hard id", "v")}}},
			"relations": []object{{"to": at("to", "g"), "type": at("relation.type", "likes")}},
			"neighbors": []object{{"id": at("neighbor", "h"), "score": .9}},
			"triples": []object{{"subject": object{"name": at("entity.name", "n")}, "predicate": at("predicate", "p"),
				"object": object{"name": "o"}, "sentence": at("sentence", "w")}},
		}}},
	}
	data, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
