package graphstore_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kithgraph/kith/graphstore"
	"github.com/kithgraph/kith/graphstore/graphstoretest"
)

// The digest of what is left is that of never having seen what was taken out, in any order, and it survives its text and
// its words.
func TestDigestRemoveAndForms(t *testing.T) {
	all := graphstoretest.Graph(3, 2, 40)
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.Permutation(all).Draw(rt, "order")
		keep := rapid.IntRange(0, len(all)).Draw(rt, "keep")
		var whole, kept graphstore.Digest
		for _, c := range order {
			whole.Add(c)
		}
		for _, c := range order[:keep] {
			kept.Add(c)
		}
		for _, c := range order[keep:] {
			whole.Remove(c)
		}
		if whole != kept {
			rt.Fatalf("%s after removing, %s without", whole, kept)
		}
		if back, err := graphstore.ParseDigest(whole.String()); err != nil || back != whole {
			rt.Fatalf("parsed %v, %v: want %v", back, err, whole)
		}
		if back := graphstore.DigestOfWords(whole.Words()); back != whole {
			rt.Fatalf("of words %v, want %v", back, whole)
		}
	})
}

func TestParseDigestRefuses(t *testing.T) {
	for _, text := range []string{"", "-", "00-1", "zz", graphstore.Digest{}.String() + "x", graphstore.Digest{}.String()[:64]} {
		if d, err := graphstore.ParseDigest(text); err == nil {
			t.Errorf("%q: %v: want an error", text, d)
		}
	}
}
