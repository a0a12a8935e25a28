package projector

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/kithgraph/kith/graphstore"
)

// NormalizeName returns the form under which names and tags are compared: compatibility composition (NFKC), full
// Unicode case fold, runs of space and punctuation to one space, trimmed. A name of nothing but punctuation keeps its
// NFKC text, so the result is empty only for a name without a visible character.
//
// Characters that cannot be seen (direction marks, soft hyphens, variation selectors) do not count. A "#" that ends a
// word stays, because it is what tells C# from C; symbols such as + and emoji are no punctuation and stay as well.
func NormalizeName(name string) string {
	composed := norm.NFKC.String(strings.Map(visible, name))
	folded := fold(composed)
	runes := []rune(folded)
	var b strings.Builder
	b.Grow(len(folded))
	space := false
	for i, r := range runes {
		if separates(r) && !endsWord(runes, i) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return strings.Join(strings.FieldsFunc(composed, isBlank), " ")
	}
	return b.String()
}

// fold returns the case fold of a composed name, composed again: folding can take compositions apart.
func fold(composed string) string {
	return norm.NFKC.String(strings.Map(foldCherokee, cases.Fold().String(composed)))
}

// foldCherokee folds to the capital letters, as Unicode does for this script alone. The folder of x/text swaps capital
// and small there instead, so that the two would never meet.
func foldCherokee(r rune) rune {
	switch {
	case r >= 0xab70 && r <= 0xabbf:
		return r - 0xab70 + 0x13a0
	case r >= 0x13f8 && r <= 0x13fd:
		return r - 0x13f8 + 0x13f0
	default:
		return r
	}
}

// visible drops the characters that leave no mark and turns an accent that stands for an apostrophe into a back-tick.
func visible(r rune) rune {
	switch r {
	case '\u00ad', '\u200b', '\u2060', '\ufeff', '\ufe0e', '\ufe0f':
		return -1
	case '´': // its NFKC form is a space with an accent on it
		return '`'
	}
	if unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// separates reports whether a character divides words: space, punctuation, and the back-tick, which Unicode counts
// among the symbols.
func separates(r rune) bool {
	return isBlank(r) || unicode.IsPunct(r) || unicode.Is(unicode.Z, r) || r == '`'
}

// endsWord reports whether the rune at i is a "#" directly behind a letter or digit with none behind it.
func endsWord(runes []rune, i int) bool {
	return runes[i] == '#' && i > 0 && isWord(runes[i-1]) && (i+1 == len(runes) || !isWord(runes[i+1]))
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// legalSuffixes are the normalised endings that say what kind of company a name is of. Endings that are also ordinary
// words or names (Spa, As, Ab, Sa) are left out: two nodes for one company can be mended, one node for two companies
// makes the edges of both wrong.
var legalSuffixes = [][]string{
	{"inc"}, {"incorporated"}, {"ltd"}, {"limited"}, {"llc"}, {"l", "l", "c"}, {"llp"}, {"l", "l", "p"}, {"plc"},
	{"p", "l", "c"}, {"corp"}, {"corporation"}, {"co"}, {"gmbh"}, {"ag"}, {"kg"}, {"kgaa"}, {"ug"}, {"sarl"},
	{"s", "a", "r", "l"}, {"s", "a", "s"}, {"s", "a"}, {"srl"}, {"s", "r", "l"}, {"s", "p", "a"}, {"bv"}, {"b", "v"},
	{"nv"}, {"n", "v"}, {"oy"}, {"oyj"}, {"aps"}, {"pty"}, {"pte"}, {"pvt"}, {"kk"}, {"k", "k"},
}

// dropLegalSuffix removes legal suffixes from the end of a normalised name, as long as something is left.
func dropLegalSuffix(name string) string {
	words := strings.Split(name, " ")
	for {
		n := len(words)
		for _, suffix := range legalSuffixes {
			if rest := n - len(suffix); rest > 0 && slices.Equal(words[rest:], suffix) {
				words = words[:rest]
				break
			}
		}
		if len(words) == n {
			return strings.Join(words, " ")
		}
	}
}

// typeSynonyms are other words for default types.
var typeSynonyms = map[string]string{"organisation": typeOrganization, "org": typeOrganization, "company": typeOrganization, "location": "place"}

// entityType returns the configured type a producer's word stands for; known is false for [TypeThing] by default.
func (p *Projector) entityType(word string) (typ string, known bool) {
	t := strings.ToLower(strings.TrimSpace(word))
	if same, ok := typeSynonyms[t]; ok && !p.types[t] {
		t = same
	}
	if !p.types[t] {
		return TypeThing, false
	}
	return t, true
}

// entityName is what identifies an entity.
type entityName struct{ id, typ, norm string }

// entityNamed returns the identity of the entity with this type and spelling, or false for a blank one.
func (p *Projector) entityNamed(typ, spelling string) (entityName, bool) {
	name := NormalizeName(spelling)
	if name == "" {
		return entityName{}, false
	}
	if typ == typeOrganization {
		name = dropLegalSuffix(name)
	}
	return entityName{id: boundedID(typ + ":" + name), typ: typ, norm: name}, true
}

// topicID returns the id of the topic with this spelling, empty for a blank one.
func topicID(spelling string) string { return boundedID(NormalizeName(spelling)) }

// digestHex is how many hexadecimal digits stand for the tail of an id that is too long.
const digestHex = 32

// boundedID returns text if it can be an id, else as much of it as fits before a digest of the whole.
func boundedID(text string) string {
	if len(text) <= graphstore.MaxIDBytes {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	cut := graphstore.MaxIDBytes - digestHex - 1
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "~" + hex.EncodeToString(sum[:])[:digestHex]
}
