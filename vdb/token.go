package vdb

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Tokenize returns the words of a text in order, repeats included: the one definition of "word" that keyword search has
// in every store, applied alike to the content of a point and to the text of a query. Equal texts up to letter case and
// Unicode normalisation (composed or decomposed, full or half width) give equal tokens.
//
//   - A word is a run of letters, digits and the marks on them, case folded and NFKC normalised; everything else
//     separates. A mark never ends a word, so that Devanagari, Arabic or Hebrew words with vowel signs stay whole.
//   - A run of a script written without spaces (Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer, Myanmar) becomes its
//     overlapping pairs of characters, so that 喝咖啡 is found by 咖啡 without a dictionary; a run of one character is
//     that character.
//   - Invisible format characters (joiners, soft hyphens, direction marks, variation selectors) are dropped, except the
//     zero width space, which separates.
//   - The most frequent English function words are dropped. Negations, "will" and other words that carry meaning or are
//     names stay.
//
// There is no stemming and no accent stripping: "cafés" and "cafe" are other words than "café". A text of nothing but
// punctuation, symbols and dropped words has no tokens.
func Tokenize(text string) []string {
	text = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
	t := tokenizer{tokens: make([]string, 0, len(text)/6+1)}
	for _, r := range text {
		t.add(r)
	}
	t.flush()
	return t.tokens
}

// tokenizer collects one run at a time: either the runes of a word, or the characters of an unspaced run, where
// starts[i] is the offset of the i-th character in run.
type tokenizer struct {
	tokens   []string
	run      []byte
	unspaced bool
	starts   []int
}

func (t *tokenizer) add(r rune) {
	switch {
	case isInvisible(r):
	case unicode.IsMark(r):
		if len(t.run) > 0 {
			t.append(r)
		}
	case isUnspaced(r):
		if !t.unspaced {
			t.flush()
			t.unspaced = true
		}
		t.starts = append(t.starts, len(t.run))
		t.append(r)
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		if t.unspaced {
			t.flush()
		}
		t.append(r)
	default:
		t.flush()
	}
}

func (t *tokenizer) append(r rune) { t.run = append(t.run, string(r)...) }

func (t *tokenizer) flush() {
	switch {
	case len(t.run) == 0:
	case t.unspaced:
		t.flushPairs()
	default:
		if word := string(t.run); !stopWords[word] {
			t.tokens = append(t.tokens, word)
		}
	}
	t.run, t.starts, t.unspaced = t.run[:0], t.starts[:0], false
}

func (t *tokenizer) flushPairs() {
	run := string(t.run)
	if len(t.starts) == 1 {
		t.tokens = append(t.tokens, run)
		return
	}
	ends := append(t.starts[2:], len(run)) // of the pair that starts at starts[i]
	for i, end := range ends {
		t.tokens = append(t.tokens, run[t.starts[i]:end])
	}
}

// isInvisible reports format characters that do not separate words.
func isInvisible(r rune) bool {
	const zeroWidthSpace = '\u200b'
	return r >= 0x80 && r != zeroWidthSpace && (unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r))
}

// isUnspaced reports letters and digits of scripts that do not put spaces between words. The prolonged sound mark and the
// ideographic closing mark belong to no script of their own in Unicode but occur only in such runs.
func isUnspaced(r rune) bool {
	const soundMark, closingMark = '\u30fc', '\u3006'
	if r < 0x0e00 { // the first of these scripts, Thai, starts here
		return false
	}
	return r == soundMark || r == closingMark || (unicode.IsLetter(r) || unicode.IsNumber(r)) && unicode.In(r,
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// stopWords is the list that Lucene's English analyzer made customary, without "no", "not" and "will", and with the
// letters that an apostrophe leaves over ("Alice's", "don't").
var stopWords = func() map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(`a an and are as at be but by for if in into is it of on or such that the their then
		there these they this to was with s t`) {
		words[w] = true
	}
	return words
}()
