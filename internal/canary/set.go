package canary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Bounds of the texts.
const (
	// MinBytes is the length from which on a text is taken: shorter ones are in every large file by chance.
	MinBytes = 8
	// WholeBytes is the length up to which a text is looked for whole; of longer ones three pieces of PieceBytes are, since
	// a store may have kept a part.
	WholeBytes = 32
	PieceBytes = 24
	// DefaultMaxPerKind bounds how many texts of a kind are kept.
	DefaultMaxPerKind = 20_000
)

// Canary is one text to look for.
type Canary struct {
	Kind string `json:"kind"` // what it was, like "entity name"
	Text string `json:"text"`
}

// Set collects texts, each once. The zero Set is not usable: see [NewSet].
type Set struct {
	maxPerKind int
	texts      map[string]string // text to kind
	kinds      map[string]int    // how many there are
	left       int               // not taken because there were enough of their kind
}

// NewSet returns an empty set that takes at most so many texts of each kind; 0 is [DefaultMaxPerKind].
func NewSet(maxPerKind int) *Set {
	return &Set{maxPerKind: cmp.Or(maxPerKind, DefaultMaxPerKind), texts: map[string]string{}, kinds: map[string]int{}}
}

// Add takes a text, or three pieces of a long one. Texts shorter than [MinBytes] are not taken.
func (s *Set) Add(kind, text string) {
	text = strings.TrimSpace(text)
	if len(text) <= WholeBytes {
		s.add(kind, text)
		return
	}
	middle := len(text)/2 - PieceBytes/2
	for _, from := range []int{0, middle, len(text) - PieceBytes} {
		s.add(kind, strings.TrimSpace(strings.ToValidUTF8(text[from:from+PieceBytes], "")))
	}
}

func (s *Set) add(kind, text string) {
	if _, known := s.texts[text]; known || len(text) < MinBytes {
		return
	}
	if s.kinds[kind] >= s.maxPerKind {
		s.left++
		return
	}
	s.texts[text] = kind
	s.kinds[kind]++
}

// Left returns how many texts were not taken because there were enough of their kind.
func (s *Set) Left() int { return s.left }

// Len returns how many texts there are.
func (s *Set) Len() int { return len(s.texts) }

// Canaries returns the texts, ordered.
func (s *Set) Canaries() []Canary {
	all := make([]Canary, 0, len(s.texts))
	for text, kind := range s.texts {
		all = append(all, Canary{Kind: kind, Text: text})
	}
	slices.SortFunc(all, func(a, b Canary) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Text, b.Text))
	})
	return all
}

// KindGiven is the kind of the texts that somebody gives to be looked for.
const KindGiven = "given"

// MinGivenBytes is the least length of a text that somebody gives to be looked for.
const MinGivenBytes = 4

// Given returns the canaries that somebody gave, or says which of them is too short to mean anything.
func Given(texts []string) ([]Canary, error) {
	all := make([]Canary, len(texts))
	for i, text := range texts {
		if len(text) < MinGivenBytes {
			return nil, fmt.Errorf("canary %q has %d bytes: want at least %d: it would be found by chance", text, len(text), MinGivenBytes)
		}
		all[i] = Canary{Kind: KindGiven, Text: text}
	}
	return all, nil
}
