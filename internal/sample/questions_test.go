package sample

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestAnswersAreActiveAndValid(t *testing.T) {
	points := mustPoints(t)
	asOf, err := time.Parse(time.RFC3339, AsOf)
	if err != nil {
		t.Fatal(err)
	}
	kinds, seen := []string{KindLexical, KindNoOverlap, KindMultiHop}, map[string]bool{}
	for _, q := range mustQuestions(t) {
		if q.ID == "" || seen[q.ID] || q.Text == "" || len(q.Answers) == 0 || !slices.Contains(kinds, q.Kind) {
			t.Errorf("question %+v", q)
		}
		if q.Kind == KindMultiHop && len(q.Answers) < 2 {
			t.Errorf("question %s is multi-hop with %d answer", q.ID, len(q.Answers))
		}
		seen[q.ID] = true
		for _, id := range q.Answers {
			p, ok := points[id]
			if !ok || p.UserID != q.UserID || p.Payload["state"] != "active" || p.Payload["valid_to"] != nil {
				t.Errorf("question %s: answer %s is %v of %s", q.ID, id, p.Payload, p.UserID)
				continue
			}
			from, bounded := p.Payload["valid_from"].(string)
			if !bounded {
				continue
			}
			if start, err := time.Parse(time.RFC3339Nano, from); err != nil || start.After(asOf) {
				t.Errorf("question %s: answer %s is valid from %s, after %s (%v)", q.ID, id, from, AsOf, err)
			}
		}
	}
}

// A second way to the rule that the generator checks with a stemmer: two words are the same word if one begins with
// the other or if they have five letters in common at the front. It errs on the strict side.
func TestNoOverlapQuestionsShareNoContentWord(t *testing.T) {
	points := mustPoints(t)
	for _, q := range mustQuestions(t) {
		if q.Kind != KindNoOverlap {
			continue
		}
		for _, id := range q.Answers {
			content, _ := points[id].Payload["content"].(string)
			for _, a := range contentWords(q.Text) {
				for _, b := range contentWords(content) {
					if sameWord(a, b) {
						t.Errorf("question %s %q shares %q/%q with %q", q.ID, q.Text, a, b, content)
					}
				}
			}
		}
	}
}

func TestSameWord(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"drink", "drinks", true},       // inflection
		{"practice", "practical", true}, // practi
		{"tea", "team", true},           // begins with it: strict on purpose
		{"pill", "pet", false},
		{"flat", "float", false}, // fl only
	} {
		if got := sameWord(c.a, c.b); got != c.want {
			t.Errorf("sameWord(%q, %q) = %t", c.a, c.b, got)
		}
	}
}

func sameWord(a, b string) bool {
	if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
		return true
	}
	x, y := []rune(a), []rune(b)
	return len(x) >= 5 && len(y) >= 5 && slices.Equal(x[:5], y[:5])
}

// contentWords are the lower-cased words of three letters and more, and numbers, that carry a meaning of their own.
func contentWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains(functionWords, w) || len(w) < 3 && unicode.IsLetter([]rune(w)[0])
	})
}

var functionWords = strings.Fields(`the and for are was were but not who whose whom what when where which why how her his
	him she they them their its our out off all any can could did does done has have had than that then there these this
	those with without from into onto over under after before while must should would will may might about against
	between until now only more most other others some such you your`)
